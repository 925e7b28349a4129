// Functions that let time pass: other threads get the turn. And those that tell the time, because they write to the program's memory.
// They order nothing.
#include <errno.h>
#include <sys/time.h>
#include <unistd.h>

#include "runtime/intercept.h"
#include "runtime/options.h"
#include "runtime/stream_writer.h"
#include "runtime/sync.h"

using namespace sooth::rt;
using sooth::Op;

namespace {

template <typename F>
auto let_pass(Thread* t, F call) {
  if (t == nullptr) return call();
  begin_operation(t);
  return call_outside(t, call);
}

// libc has stored something at `result`.
template <typename T>
void stored(uptr pc, T* result) {
  Thread* t = current();
  if (t != nullptr && result != nullptr && !options.ignore_interceptors_accesses)
    write_range(t, pc, Op::kWrite, address_of(result), sizeof *result);
}

}  // namespace

SOOTH_INTERCEPT(int, nanosleep, const timespec* time, timespec* rest) {
  int result = let_pass(current(), [&] { return real_nanosleep(time, rest); });
  if (result != 0) stored(SOOTH_CALLER, rest);
  return result;
}

SOOTH_INTERCEPT(int, clock_nanosleep, clockid_t clock, int flags, const timespec* time, timespec* rest) {
  int result = let_pass(current(), [&] { return real_clock_nanosleep(clock, flags, time, rest); });
  if (result == EINTR && (flags & TIMER_ABSTIME) == 0) stored(SOOTH_CALLER, rest);
  return result;
}

SOOTH_INTERCEPT(int, usleep, useconds_t time) {
  return let_pass(current(), [&] { return real_usleep(time); });
}

SOOTH_INTERCEPT(unsigned, sleep, unsigned time) {
  return let_pass(current(), [&] { return real_sleep(time); });
}

SOOTH_INTERCEPT(int, thrd_sleep, const timespec* time, timespec* rest) {
  int result = let_pass(current(), [&] { return real_thrd_sleep(time, rest); });
  if (result == -1) stored(SOOTH_CALLER, rest);
  return result;
}

SOOTH_INTERCEPT(int, sched_yield, void) {
  if (Thread* t = current()) turn::yield(t);
  return real_sched_yield();
}

// Old programs only: glibc has no name for it that new ones could link.
SOOTH_EXPORT int sooth_pthread_yield() asm("pthread_yield");
int sooth_pthread_yield() {
  if (Thread* t = current()) turn::yield(t);
  return static_cast<int>(sys_call(SYS_sched_yield));
}

SOOTH_INTERCEPT(void, thrd_yield, void) {
  if (Thread* t = current()) turn::yield(t);
  real_thrd_yield();
}

SOOTH_INTERCEPT(int, clock_gettime, clockid_t clock, timespec* time) {
  int result = real_clock_gettime(clock, time);
  if (result == 0) stored(SOOTH_CALLER, time);
  return result;
}

SOOTH_INTERCEPT(int, clock_getres, clockid_t clock, timespec* resolution) {
  int result = real_clock_getres(clock, resolution);
  if (result == 0) stored(SOOTH_CALLER, resolution);
  return result;
}

SOOTH_INTERCEPT(int, timespec_get, timespec* time, int base) {
  int result = real_timespec_get(time, base);
  if (result != 0) stored(SOOTH_CALLER, time);
  return result;
}

SOOTH_INTERCEPT(int, gettimeofday, timeval* time, void* zone) {
  int result = real_gettimeofday(time, zone);
  if (result == 0) stored(SOOTH_CALLER, time);
  return result;
}

SOOTH_INTERCEPT(time_t, time, time_t* result) {
  time_t now = real_time(result);
  stored(SOOTH_CALLER, result);
  return now;
}
