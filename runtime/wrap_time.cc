// Functions that let time pass: other threads get the turn. They order nothing.
#include <errno.h>
#include <unistd.h>

#include "runtime/intercept.h"
#include "runtime/sync.h"

using namespace sooth::rt;

namespace {

template <typename F>
auto let_pass(Thread* t, F call) {
  if (t == nullptr) return call();
  begin_operation(t);
  return call_outside(t, call);
}

}  // namespace

SOOTH_INTERCEPT(int, nanosleep, const timespec* time, timespec* rest) {
  return let_pass(current(), [&] { return real_nanosleep(time, rest); });
}

SOOTH_INTERCEPT(int, clock_nanosleep, clockid_t clock, int flags, const timespec* time, timespec* rest) {
  return let_pass(current(), [&] { return real_clock_nanosleep(clock, flags, time, rest); });
}

SOOTH_INTERCEPT(int, usleep, useconds_t time) {
  return let_pass(current(), [&] { return real_usleep(time); });
}

SOOTH_INTERCEPT(unsigned, sleep, unsigned time) {
  return let_pass(current(), [&] { return real_sleep(time); });
}

SOOTH_INTERCEPT(int, thrd_sleep, const timespec* time, timespec* rest) {
  return let_pass(current(), [&] { return real_thrd_sleep(time, rest); });
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
