// Functions that let time pass: other threads get the turn. And those that tell the time, which also write to the
// program's memory. They order nothing. Under virtual time (clock.h) a thread sleeps by its clock, and that is what it
// is told.
#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <unistd.h>

#include "runtime/clock.h"
#include "runtime/intercept.h"
#include "runtime/openmp.h"
#include "runtime/options.h"
#include "runtime/stream_writer.h"
#include "runtime/sync.h"

using namespace sooth::rt;
using sooth::Op;
using virtual_clock::kSecond;

namespace {

template <typename F>
auto let_pass(Thread* t, F call) {
  if (t == nullptr) return call();
  begin_operation(t);
  return call_outside(t, call);
}

// libc, or we in its place, stored something at `result`.
template <typename T>
void stored(uptr pc, T* result) {
  Thread* t = current();
  if (t != nullptr && result != nullptr && !options.ignore_interceptors_accesses)
    write_range(t, pc, Op::kWrite, address_of(result), sizeof *result);
}

bool has_virtual_time(Thread* t) { return t != nullptr && virtual_clock::is_on(); }

bool is_duration(const timespec* time) { return Deadline{time}.is_valid() && time->tv_sec >= 0; }

// Returns what is left: 0, unless a handler ran before the moment. The operation has begun.
u64 sleep_until(Thread* t, u64 moment) {
  bool slept = turn::sleep(t, moment);
  test_cancel();
  u64 now = virtual_clock::now();
  return slept || now >= moment ? 0 : moment - now;
}

// A look at the clock: loops that look and sleep change nothing.
void begin_sleep(Thread* t) {
  begin_operation(t, 0, Op::kAtomicLoad, virtual_clock::object());
  test_cancel();
  // ... of which the program learns nothing: it cannot give up at some hour.
  u32 still = t->special & kStill;
  turn::tell_time(t);
  t->special |= still;
}

// nanosleep() and its kin: 0 or an error number. `rest` (may be nullptr) is what is left.
int sleep_for(Thread* t, const timespec* time, timespec* rest) {
  if (!is_duration(time)) return EINVAL;
  begin_sleep(t);
  u64 left = sleep_until(t, virtual_clock::after(*time));
  if (left == 0) return 0;
  if (rest != nullptr) *rest = virtual_clock::to_timespec(left);
  return EINTR;
}

int result_of(int error) {
  if (error == 0) return 0;
  errno = error;
  return -1;
}

timeval to_timeval(const timespec& time) { return {time.tv_sec, time.tv_nsec / 1000}; }

// What a clock shows. False: it is none that is virtual.
bool read_virtually(Thread* t, clockid_t clock, timespec* time) {
  bool of_thread = clock == CLOCK_THREAD_CPUTIME_ID;
  if (!of_thread && clock != CLOCK_PROCESS_CPUTIME_ID && !virtual_clock::is_known(clock)) return false;
  turn::step_clock(t);
  u64 now = turn::tell_time(t);
  if (virtual_clock::is_known(clock))
    *time = virtual_clock::show(now, clock);
  else
    *time = virtual_clock::to_timespec(of_thread ? turn::worked(t) : virtual_clock::worked());
  return true;
}

timespec calendar_time(Thread* t) {
  turn::step_clock(t);
  return virtual_clock::show(turn::tell_time(t), CLOCK_REALTIME);
}

// Of the process, in units of which a second has so many.
clock_t processor_time(Thread* t, u64 units) {
  turn::tell_time(t);
  return static_cast<clock_t>(virtual_clock::worked() / (kSecond / units));
}

}  // namespace

SOOTH_INTERCEPT(int, nanosleep, const timespec* time, timespec* rest) {
  Thread* t = current();
  int result = has_virtual_time(t) ? result_of(sleep_for(t, time, rest))
                                   : let_pass(t, [&] { return real_nanosleep(time, rest); });
  if (result != 0 && errno == EINTR) stored(SOOTH_CALLER, rest);
  return result;
}

SOOTH_INTERCEPT(int, clock_nanosleep, clockid_t clock, int flags, const timespec* time, timespec* rest) {
  Thread* t = current();
  bool absolute = (flags & TIMER_ABSTIME) != 0;
  int result;
  if (!has_virtual_time(t) || !virtual_clock::is_known(clock)) {
    result = let_pass(t, [&] { return real_clock_nanosleep(clock, flags, time, rest); });
  } else if (absolute) {
    if (!is_duration(time)) return EINVAL;
    begin_sleep(t);
    return sleep_until(t, virtual_clock::moment_of(*time, clock)) == 0 ? 0 : EINTR;
  } else {
    result = sleep_for(t, time, rest);
  }
  if (result == EINTR && !absolute) stored(SOOTH_CALLER, rest);
  return result;
}

SOOTH_INTERCEPT(int, usleep, useconds_t time) {
  Thread* t = current();
  if (!has_virtual_time(t)) return let_pass(t, [&] { return real_usleep(time); });
  timespec duration = virtual_clock::to_timespec(u64{time} * 1000);
  return result_of(sleep_for(t, &duration, nullptr));
}

SOOTH_INTERCEPT(unsigned, sleep, unsigned time) {
  Thread* t = current();
  if (!has_virtual_time(t)) return let_pass(t, [&] { return real_sleep(time); });
  begin_sleep(t);
  return static_cast<unsigned>(sleep_until(t, virtual_clock::after({static_cast<time_t>(time), 0})) / kSecond);
}

SOOTH_INTERCEPT(int, thrd_sleep, const timespec* time, timespec* rest) {
  Thread* t = current();
  int result;
  if (has_virtual_time(t)) {
    int error = sleep_for(t, time, rest);
    result = error == 0 ? 0 : error == EINTR ? -1 : -2;
  } else {
    result = let_pass(t, [&] { return real_thrd_sleep(time, rest); });
  }
  if (result == -1) stored(SOOTH_CALLER, rest);
  return result;
}

SOOTH_INTERCEPT(int, sched_yield, void) {
  if (Thread* t = current()) {
    // libomp waits for another thread, which we may not know of.
    if (openmp::libomp_.contains(SOOTH_CALLER))
      turn::leave(t);
    else
      turn::yield(t);
  }
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
  Thread* t = current();
  int result = 0;
  if (!has_virtual_time(t) || !read_virtually(t, clock, time)) result = real_clock_gettime(clock, time);
  if (result == 0) stored(SOOTH_CALLER, time);
  return result;
}

SOOTH_INTERCEPT(int, clock_getres, clockid_t clock, timespec* resolution) {
  int result = real_clock_getres(clock, resolution);
  if (result == 0) stored(SOOTH_CALLER, resolution);
  return result;
}

SOOTH_INTERCEPT(int, timespec_get, timespec* time, int base) {
  Thread* t = current();
  int result = base;
  if (has_virtual_time(t) && base == TIME_UTC)
    *time = calendar_time(t);
  else
    result = real_timespec_get(time, base);
  if (result != 0) stored(SOOTH_CALLER, time);
  return result;
}

SOOTH_INTERCEPT(int, gettimeofday, timeval* time, void* zone) {
  Thread* t = current();
  int result = 0;
  if (has_virtual_time(t) && time != nullptr && zone == nullptr)
    *time = to_timeval(calendar_time(t));
  else
    result = real_gettimeofday(time, zone);
  if (result == 0) stored(SOOTH_CALLER, time);
  return result;
}

SOOTH_INTERCEPT(time_t, time, time_t* result) {
  Thread* t = current();
  if (!has_virtual_time(t)) {
    time_t now = real_time(result);
    stored(SOOTH_CALLER, result);
    return now;
  }
  time_t now = calendar_time(t).tv_sec;
  if (result != nullptr) *result = now;
  stored(SOOTH_CALLER, result);
  return now;
}

SOOTH_INTERCEPT(clock_t, clock, void) {
  Thread* t = current();
  return has_virtual_time(t) ? processor_time(t, CLOCKS_PER_SEC) : real_clock();
}

// The program's own time is all spent in itself, none in the kernel; its children's is what the system says.
SOOTH_INTERCEPT(clock_t, times, struct tms* result) {
  Thread* t = current();
  clock_t now = real_times(result);
  if (has_virtual_time(t)) {
    constexpr u64 kTicks = 100;  // of sysconf(_SC_CLK_TCK), for ever
    if (result != nullptr) {
      result->tms_utime = processor_time(t, kTicks);
      result->tms_stime = 0;
    }
    timespec time = virtual_clock::show(virtual_clock::now(), CLOCK_MONOTONIC);
    now = time.tv_sec * static_cast<clock_t>(kTicks) + time.tv_nsec / static_cast<long>(kSecond / kTicks);
  }
  stored(SOOTH_CALLER, result);
  return now;
}

SOOTH_INTERCEPT(int, getrusage, __rusage_who_t who, struct rusage* usage) {
  Thread* t = current();
  int result = real_getrusage(who, usage);
  if (result == 0 && has_virtual_time(t) && (who == RUSAGE_SELF || who == RUSAGE_THREAD)) {
    turn::tell_time(t);
    usage->ru_utime =
        to_timeval(virtual_clock::to_timespec(who == RUSAGE_THREAD ? turn::worked(t) : virtual_clock::worked()));
    usage->ru_stime = {0, 0};
  }
  if (result == 0) stored(SOOTH_CALLER, usage);
  return result;
}
