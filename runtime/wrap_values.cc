// Functions that fill in values: of threads, processors, the system, of numbers.
#include <execinfo.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/sysinfo.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/on_behalf.h"

using namespace sooth;
using namespace sooth::rt;

// Family libc_attributes: of threads and of what they synchronise with.
#define SOOTH_GETS(name, object, type) \
  SOOTH_ON_BEHALF(int, name, (object of, type * to), (of, to), (void)0, if (r == 0) on.out(to))
#define SOOTH_GETS_TWO(name, object, first, second)                                                                   \
  SOOTH_ON_BEHALF(int, name, (object of, first * to, second * also), (of, to, also), (void)0, if (r == 0) on.out(to); \
                  if (r == 0) on.out(also))
#define SOOTH_GETS_BYTES(name, object, type) \
  SOOTH_ON_BEHALF(int, name, (object of, std::size_t n, type * to), (of, n, to), (void)0, if (r == 0) on.out(to, n))
SOOTH_GETS(pthread_attr_getdetachstate, const pthread_attr_t*, int)
SOOTH_GETS(pthread_attr_getguardsize, const pthread_attr_t*, std::size_t)
SOOTH_GETS(pthread_attr_getinheritsched, const pthread_attr_t*, int)
SOOTH_GETS(pthread_attr_getschedparam, const pthread_attr_t*, sched_param)
SOOTH_GETS(pthread_attr_getschedpolicy, const pthread_attr_t*, int)
SOOTH_GETS(pthread_attr_getscope, const pthread_attr_t*, int)
SOOTH_GETS(pthread_attr_getstacksize, const pthread_attr_t*, std::size_t)
SOOTH_GETS_TWO(pthread_attr_getstack, const pthread_attr_t*, void*, std::size_t)
SOOTH_GETS_BYTES(pthread_attr_getaffinity_np, const pthread_attr_t*, cpu_set_t)
SOOTH_GETS(pthread_mutexattr_gettype, const pthread_mutexattr_t*, int)
SOOTH_GETS(pthread_mutexattr_getprotocol, const pthread_mutexattr_t*, int)
SOOTH_GETS(pthread_mutexattr_getprioceiling, const pthread_mutexattr_t*, int)
SOOTH_GETS(pthread_mutexattr_getpshared, const pthread_mutexattr_t*, int)
SOOTH_GETS(pthread_mutexattr_getrobust, const pthread_mutexattr_t*, int)
SOOTH_GETS(pthread_mutexattr_getrobust_np, const pthread_mutexattr_t*, int)
SOOTH_GETS(pthread_rwlockattr_getpshared, const pthread_rwlockattr_t*, int)
SOOTH_GETS(pthread_rwlockattr_getkind_np, const pthread_rwlockattr_t*, int)
SOOTH_GETS(pthread_condattr_getpshared, const pthread_condattr_t*, int)
SOOTH_GETS(pthread_condattr_getclock, const pthread_condattr_t*, clockid_t)
SOOTH_GETS(pthread_barrierattr_getpshared, const pthread_barrierattr_t*, int)
SOOTH_GETS_TWO(pthread_getschedparam, pthread_t, int, sched_param)
SOOTH_GETS(pthread_getcpuclockid, pthread_t, clockid_t)
SOOTH_GETS_BYTES(pthread_getaffinity_np, pthread_t, cpu_set_t)
SOOTH_GETS(pthread_setcancelstate, int, int)
SOOTH_GETS(pthread_setcanceltype, int, int)
SOOTH_ON_BEHALF(int, pthread_getname_np, (pthread_t of, char* to, std::size_t n), (of, to, n), (void)0,
                if (r == 0) on.out_text(to))
SOOTH_GETS_BYTES(sched_getaffinity, pid_t, cpu_set_t)
SOOTH_GETS(sched_getparam, pid_t, sched_param)

// Family libc_signal_sets: sets of signals, and stacks for handlers.
SOOTH_ON_BEHALF(int, sigemptyset, (sigset_t * to), (to), (void)0, if (r == 0) on.out(to))
SOOTH_ON_BEHALF(int, sigfillset, (sigset_t * to), (to), (void)0, if (r == 0) on.out(to))
SOOTH_ON_BEHALF(int, sigaddset, (sigset_t * to, int number), (to, number), on.in(to), if (r == 0) on.out(to))
SOOTH_ON_BEHALF(int, sigdelset, (sigset_t * to, int number), (to, number), on.in(to), if (r == 0) on.out(to))
SOOTH_ON_BEHALF(int, sigismember, (const sigset_t* set, int number), (set, number), on.in(set))
SOOTH_ON_BEHALF(int, sigandset, (sigset_t * to, const sigset_t* a, const sigset_t* b), (to, a, b), on.in(a);
                on.in(b), if (r == 0) on.out(to))
SOOTH_ON_BEHALF(int, sigorset, (sigset_t * to, const sigset_t* a, const sigset_t* b), (to, a, b), on.in(a);
                on.in(b), if (r == 0) on.out(to))
SOOTH_ON_BEHALF(int, sigpending, (sigset_t * to), (to), (void)0, if (r == 0) on.out(to))
SOOTH_ON_BEHALF(int, sigaltstack, (const stack_t* stack, stack_t* old), (stack, old), on.in(stack),
                if (r == 0) on.out(old))

// Family libc_system: the machine, the process and its memory.
SOOTH_ON_BEHALF(int, uname, (utsname * to), (to), (void)0, if (r == 0) on.out(to))
SOOTH_ON_BEHALF(int, gethostname, (char* to, std::size_t n), (to, n), (void)0, if (r == 0) on.out_text(to, n))
SOOTH_ON_BEHALF(int, sysinfo, (struct sysinfo * to), (to), (void)0, if (r == 0) on.out(to))
SOOTH_ON_BEHALF(int, getloadavg, (double* to, int n), (to, n), (void)0,
                if (r > 0) on.out(to, static_cast<std::size_t>(r) * sizeof *to))
SOOTH_ON_BEHALF(int, getrlimit, (int what, rlimit* to), (what, to), (void)0, if (r == 0) on.out(to))
SOOTH_ON_BEHALF(int, getrlimit64, (int what, rlimit64* to), (what, to), (void)0, if (r == 0) on.out(to))
SOOTH_ON_BEHALF(ssize_t, getrandom, (void* to, std::size_t n, unsigned flags), (to, n, flags), (void)0,
                if (r > 0) on.out(to, static_cast<std::size_t>(r)))
SOOTH_ON_BEHALF(int, getentropy, (void* to, std::size_t n), (to, n), (void)0, if (r == 0) on.out(to, n))
SOOTH_ON_BEHALF(int, mincore, (void* from, std::size_t n, unsigned char* to), (from, n, to), (void)0,
                if (r == 0) on.out(to, (n + 4095) / 4096))
SOOTH_ON_BEHALF(int, shmctl, (int id, int command, shmid_ds* to), (id, command, to), (void)0,
                if (r == 0 && command == IPC_STAT) on.out(to))
SOOTH_ON_BEHALF(int, backtrace, (void** to, int n), (to, n), (void)0,
                if (r > 0) on.out(to, static_cast<std::size_t>(r) * sizeof *to))
SOOTH_ON_BEHALF(char**, backtrace_symbols, (void* const* from, int n), (from, n),
                on.in(from, static_cast<std::size_t>(n) * sizeof *from),
                if (r != nullptr) on.out(r, static_cast<std::size_t>(n) * sizeof *r))
// libcap's: a header and two sets of 12 bytes.
SOOTH_ON_BEHALF(int, capget, (void* header, void* to), (header, to), on.in(header, 8), if (r == 0) on.out(to, 24))
SOOTH_ON_BEHALF(int, capset, (void* header, const void* from), (header, from), on.in(header, 8); on.in(from, 24))
// The rest of the memory is another process's.
static void local_parts(const OnBehalf& on, const iovec* parts, unsigned long count, ssize_t n, bool writes) {
  for (unsigned long i = 0; i < count && n > 0; ++i) {
    std::size_t part = parts[i].iov_len < static_cast<std::size_t>(n) ? parts[i].iov_len : static_cast<std::size_t>(n);
    writes ? on.out(parts[i].iov_base, part) : on.in(parts[i].iov_base, part);
    n -= static_cast<ssize_t>(part);
  }
}
SOOTH_ON_BEHALF(ssize_t, process_vm_readv,
                (pid_t of, const iovec* to, unsigned long n, const iovec* from, unsigned long m, unsigned long flags),
                (of, to, n, from, m, flags), (void)0, local_parts(on, to, n, r, true))
SOOTH_ON_BEHALF(ssize_t, process_vm_writev,
                (pid_t of, const iovec* from, unsigned long n, const iovec* to, unsigned long m, unsigned long flags),
                (of, from, n, to, m, flags), (void)0, local_parts(on, from, n, r, false))
SOOTH_ON_BEHALF_WAITING(int, waitid, (idtype_t kind, id_t id, siginfo_t* to, int flags), (kind, id, to, flags), (void)0,
                        if (r == 0) on.out(to))

// Family libc_parts: functions of numbers with more than one result, and generators with their state.
#define SOOTH_PARTS(name, number, type) \
  SOOTH_ON_BEHALF(number, name, (number x, type * to), (x, to), (void)0, on.out(to))
SOOTH_PARTS(modf, double, double)
SOOTH_PARTS(modff, float, float)
SOOTH_PARTS(modfl, long double, long double)
SOOTH_PARTS(frexp, double, int)
SOOTH_PARTS(frexpf, float, int)
SOOTH_PARTS(frexpl, long double, int)
SOOTH_PARTS(lgamma_r, double, int)
SOOTH_PARTS(lgammaf_r, float, int)
SOOTH_PARTS(lgammal_r, long double, int)
#define SOOTH_REMQUO(name, number) \
  SOOTH_ON_BEHALF(number, name, (number x, number y, int* to), (x, y, to), (void)0, on.out(to))
SOOTH_REMQUO(remquo, double)
SOOTH_REMQUO(remquof, float)
SOOTH_REMQUO(remquol, long double)
#define SOOTH_SINCOS(name, number)                                                   \
  SOOTH_REAL static Real<void(number, number*, number*)> real_##name{#name};         \
  SOOTH_EXPORT void sooth_##name(number x, number* sine, number* cosine) asm(#name); \
  void sooth_##name(number x, number* sine, number* cosine) {                        \
    const OnBehalf on(recorded_thread(), SOOTH_CALLER);                              \
    real_##name(x, sine, cosine);                                                    \
    on.out(sine);                                                                    \
    on.out(cosine);                                                                  \
  }
SOOTH_SINCOS(sincos, double)
SOOTH_SINCOS(sincosf, float)
SOOTH_SINCOS(sincosl, long double)
SOOTH_ON_BEHALF(int, rand_r, (unsigned* state), (state), on.in(state), on.out(state))
SOOTH_ON_BEHALF(int, random_r, (random_data * state, int* to), (state, to), on.in(state), on.out(state); on.out(to))
SOOTH_ON_BEHALF(int, lrand48_r, (drand48_data * state, long* to), (state, to), on.in(state), on.out(state); on.out(to))
SOOTH_ON_BEHALF(int, drand48_r, (drand48_data * state, double* to), (state, to), on.in(state), on.out(state);
                on.out(to))
