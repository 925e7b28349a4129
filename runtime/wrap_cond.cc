// pthread_cond_*. A wait is recorded as release of the mutex, condition wait, acquire of the mutex; see
// docs/semantics.md, sections 2 and 7.
//
// In serial recordings conditions are ours: a thread that waits is blocked in turn.cc, never in the kernel, and a
// signal makes the one ready that has waited longest.
#include <errno.h>

#include "runtime/intercept.h"
#include "runtime/locks.h"
#include "runtime/openmp.h"
#include "runtime/options.h"
#include "runtime/stream_writer.h"
#include "runtime/sync.h"

using namespace sooth;
using namespace sooth::rt;

namespace {

constexpr char kVersion[] = "GLIBC_2.3.2";

SOOTH_REAL Real<int(pthread_cond_t*, pthread_mutex_t*)> real_wait{"pthread_cond_wait", kVersion};
SOOTH_REAL Real<int(pthread_cond_t*, pthread_mutex_t*, const timespec*)> real_timedwait{"pthread_cond_timedwait",
                                                                                        kVersion};
SOOTH_REAL Real<int(pthread_cond_t*)> real_signal{"pthread_cond_signal", kVersion};
SOOTH_REAL Real<int(pthread_cond_t*)> real_broadcast{"pthread_cond_broadcast", kVersion};

// Bits of __wrefs.
constexpr unsigned kSharedBit = 1;
constexpr unsigned kMonotonicBit = 2;

int clock_of(const pthread_cond_t* cond) {
  return (cond->__data.__wrefs & kMonotonicBit) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

struct Waiter {
  Thread* thread;
  uptr pc;
  pthread_cond_t* cond;
  pthread_mutex_t* mutex;
  u32 depth;  // of the mutex, when the wait began; 0: not held
};

void begin_wait(Waiter& w) { w.depth = lock_release_all(w.thread, w.pc, address_of(w.mutex)); }

enum class Ended : u8 { kWoken, kTimedOut, kOtherwise };

// The wait is over and the mutex is the thread's again.
void end_wait(const Waiter& w, Ended how) {
  if (how != Ended::kOtherwise) {
    write_event(w.thread, w.pc, Shape::with_flags(Op::kCondWait, how == Ended::kTimedOut ? kTimed : 0),
                address_of(w.cond));
  }
  lock_reacquired(w.thread, w.pc, address_of(w.mutex), w.depth == 0 ? 1 : w.depth);
}

// Cancelled: libc has locked the mutex again for the handlers that the program has pushed.
void cancelled(void* waiter) {
  auto* w = static_cast<Waiter*>(waiter);
  turn::enter(w->thread);
  end_wait(*w, Ended::kOtherwise);
}

Ended ended(int result) {
  return result == 0 ? Ended::kWoken : result == ETIMEDOUT ? Ended::kTimedOut : Ended::kOtherwise;
}

// `wait` is the real one.
template <typename F>
int wait_outside(Waiter& w, F wait) {
  int result;
  begin_wait(w);
  turn::leave(w.thread);
  pthread_cleanup_push(cancelled, &w);
  result = wait();
  pthread_cleanup_pop(0);
  turn::enter(w.thread);
  // Other errors come at once, with the mutex as it was.
  if (result == 0 || result == ETIMEDOUT || w.depth != 0) end_wait(w, ended(result));
  return result;
}

int wait_in_turn(Waiter& w, Deadline deadline) {
  if (!deadline.is_valid()) return EINVAL;
  test_cancel();
  begin_wait(w);
  int result = unlock_mutex_in_turn(w.mutex);
  if (result != 0) {
    if (w.depth != 0) end_wait(w, Ended::kOtherwise);
    return result;
  }
  turn::Wake wake =
      turn::block(w.thread, address_of(w.cond), turn::BlockedOn::kCondition, deadline.time, deadline.clock);
  result = lock_mutex_in_turn(w.thread, w.mutex);
  end_wait(w, wake == turn::Wake::kTimedOut ? Ended::kTimedOut : Ended::kWoken);
  test_cancel();
  if (result != 0) return result;
  return wake == turn::Wake::kTimedOut ? ETIMEDOUT : 0;
}

template <typename F>
int wait_with(Thread* t, uptr pc, pthread_cond_t* cond, pthread_mutex_t* mutex, Deadline deadline, F wait) {
  unsafe_in_handler(t, pc, sooth::unsafe_call("pthread_cond_wait"));
  object_used(t, pc, cond);
  // Where time takes part it may be about anything.
  bool is_timed = deadline.time != nullptr;
  begin_operation(t, pc, Op::kCondWait, is_timed ? 0 : address_of(cond), is_timed ? 0 : address_of(mutex));
  if (!holds_lock(t, address_of(mutex)) &&
      __atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED) != static_cast<int>(sys_call(SYS_gettid)))
    waits_without_lock(t, pc, address_of(mutex));
  Waiter w = {t, pc, cond, mutex, 0};
  if (turn::taken() && (cond->__data.__wrefs & kSharedBit) == 0) return wait_in_turn(w, deadline);
  return wait_outside(w, wait);
}

// Also to those that wait in the kernel: from another process, or in threads that are not recorded.
int notify(Thread* t, uptr pc, pthread_cond_t* cond, u32 count) {
  if (t != nullptr) {
    unsafe_in_handler(
        t, pc, count == 1 ? sooth::unsafe_call("pthread_cond_signal") : sooth::unsafe_call("pthread_cond_broadcast"));
    object_used(t, pc, cond);
    begin_operation(t, pc, Op::kCondNotify, address_of(cond));
    write_event(t, pc, Shape::with_flags(Op::kCondNotify, count == 1 ? 0 : kEverybody), address_of(cond));
  }
  turn::wake(address_of(cond), count);
  return count == 1 ? real_signal(cond) : real_broadcast(cond);
}

}  // namespace

namespace sooth::rt {

int wait_cond(Thread* t, uptr pc, pthread_cond_t* cond, pthread_mutex_t* mutex) {
  return wait_with(t, pc, cond, mutex, {}, [&] { return real_wait(cond, mutex); });
}

int timed_wait_cond(Thread* t, uptr pc, pthread_cond_t* cond, pthread_mutex_t* mutex, const timespec* time) {
  return wait_with(t, pc, cond, mutex, {time, clock_of(cond)},
                   [&] { return real_timedwait(cond, mutex, RealDeadline(time, clock_of(cond))); });
}

int signal_cond(Thread* t, uptr pc, pthread_cond_t* cond) { return notify(t, pc, cond, 1); }
int broadcast_cond(Thread* t, uptr pc, pthread_cond_t* cond) { return notify(t, pc, cond, turn::kAll); }

}  // namespace sooth::rt

SOOTH_EXPORT int sooth_pthread_cond_wait(pthread_cond_t* cond, pthread_mutex_t* mutex) asm("pthread_cond_wait");
int sooth_pthread_cond_wait(pthread_cond_t* cond, pthread_mutex_t* mutex) {
  Thread* t = openmp::current_but_libomp(SOOTH_CALLER);
  return t == nullptr ? real_wait(cond, mutex) : wait_cond(t, SOOTH_CALLER, cond, mutex);
}

SOOTH_EXPORT int sooth_pthread_cond_timedwait(pthread_cond_t* cond, pthread_mutex_t* mutex,
                                              const timespec* time) asm("pthread_cond_timedwait");
int sooth_pthread_cond_timedwait(pthread_cond_t* cond, pthread_mutex_t* mutex, const timespec* time) {
  Thread* t = openmp::current_but_libomp(SOOTH_CALLER);
  return t == nullptr ? real_timedwait(cond, mutex, time) : timed_wait_cond(t, SOOTH_CALLER, cond, mutex, time);
}

SOOTH_INTERCEPT(int, pthread_cond_clockwait, pthread_cond_t* cond, pthread_mutex_t* mutex, clockid_t clock,
                const timespec* time) {
  Thread* t = current();
  if (t == nullptr || (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC))
    return real_pthread_cond_clockwait(cond, mutex, clock, time);
  return wait_with(t, SOOTH_CALLER, cond, mutex, {time, clock},
                   [&] { return real_pthread_cond_clockwait(cond, mutex, clock, RealDeadline(time, clock)); });
}

SOOTH_EXPORT int sooth_pthread_cond_signal(pthread_cond_t* cond) asm("pthread_cond_signal");
int sooth_pthread_cond_signal(pthread_cond_t* cond) {
  return signal_cond(openmp::current_but_libomp(SOOTH_CALLER), SOOTH_CALLER, cond);
}

SOOTH_EXPORT int sooth_pthread_cond_broadcast(pthread_cond_t* cond) asm("pthread_cond_broadcast");
int sooth_pthread_cond_broadcast(pthread_cond_t* cond) { return broadcast_cond(current(), SOOTH_CALLER, cond); }

// By their version: the program's references have none and would get the oldest, of another layout.
SOOTH_INTERCEPT_VERSION(int, pthread_cond_init, kVersion, pthread_cond_t* cond, const pthread_condattr_t* attributes) {
  object_changed(openmp::current_but_libomp(SOOTH_CALLER), SOOTH_CALLER, cond);
  return real_pthread_cond_init(cond, attributes);
}
SOOTH_INTERCEPT_VERSION(int, pthread_cond_destroy, kVersion, pthread_cond_t* cond) {
  Thread* t = openmp::current_but_libomp(SOOTH_CALLER);
  if (t != nullptr && turn::taken()) begin_operation(t, SOOTH_CALLER);
  object_changed(t, SOOTH_CALLER, cond);
  if (t != nullptr && turn::is_waited_for(address_of(cond)) && options.report_mutex_bugs)
    misuse(t, SOOTH_CALLER, Misuse::kDestroyLocked, address_of(cond));
  return real_pthread_cond_destroy(cond);
}
