// pthread_mutex_*. The acquire is recorded when the lock was taken, the release before it is given back: so the order
// of tickets is one in which the lock has one holder.
#include <errno.h>

#include "runtime/intercept.h"
#include "runtime/locks.h"
#include "runtime/openmp.h"
#include "runtime/options.h"
#include "runtime/sync.h"

using namespace sooth::rt;
using sooth::kTimed;
using sooth::kTry;

namespace {

// Bits of __kind, which glibc may not change: static initialisers contain them.
constexpr int kTypeBits = 3;
constexpr int kRobustBit = 16;
constexpr int kSharedBit = 128;

SOOTH_REAL Real<int(pthread_mutex_t*)> real_lock{"pthread_mutex_lock"};
SOOTH_REAL Real<int(pthread_mutex_t*)> real_trylock{"pthread_mutex_trylock"};
SOOTH_REAL Real<int(pthread_mutex_t*)> real_unlock{"pthread_mutex_unlock"};
SOOTH_REAL Real<int(pthread_mutex_t*, const timespec*)> real_timedlock{"pthread_mutex_timedlock"};

int type_of(const pthread_mutex_t* mutex) { return mutex->__data.__kind & kTypeBits; }

bool is_locked_by_caller(const pthread_mutex_t* mutex) {
  return __atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED) == static_cast<int>(sys_call(SYS_gettid));
}

// glibc marks what was destroyed, until something else is made of it.
void check_alive(Thread* t, uptr pc, const pthread_mutex_t* mutex) {
  constexpr int kDestroyed = -1;
  if (SOOTH_UNLIKELY(__atomic_load_n(&mutex->__data.__kind, __ATOMIC_RELAXED) == kDestroyed) &&
      options.report_mutex_bugs)
    misuse(t, pc, Misuse::kInvalidUse, address_of(mutex));
}

// Another process may unlock it, or the kernel when a thread dies.
bool is_unlocked_elsewhere(const pthread_mutex_t* mutex) {
  return (mutex->__data.__kind & (kRobustBit | kSharedBit)) != 0;
}

// `block` locks the real mutex and may block.
template <typename F>
int lock_in_turn(Thread* t, pthread_mutex_t* mutex, Deadline deadline, F block) {
  for (;;) {
    int result = real_trylock(mutex);
    if (result != EBUSY) return result;
    if (type_of(mutex) == PTHREAD_MUTEX_ERRORCHECK_NP && is_locked_by_caller(mutex)) return EDEADLK;
    if (!deadline.is_valid()) return EINVAL;
    if (is_unlocked_elsewhere(mutex)) return call_outside(t, block);
    if (turn::block(t, address_of(mutex), turn::BlockedOn::kMutex, deadline.time, deadline.clock) ==
        turn::Wake::kTimedOut) {
      result = real_trylock(mutex);
      return result == EBUSY ? ETIMEDOUT : result;
    }
  }
}

// `how`: as in lock_acquired().
int acquired(Thread* t, uptr pc, pthread_mutex_t* mutex, int result, u8 how) {
  uptr lock = address_of(mutex);
  if ((result == EBUSY && how == kTry) || (result == ETIMEDOUT && how == kTimed)) lock_missed(t, pc, lock, false, how);
  if (result != 0 && result != EOWNERDEAD) return result;
  // Not recursive and held: it must be another one, where a mutex died without a call that we could see.
  if (SOOTH_UNLIKELY(holds_lock(t, lock)) && type_of(mutex) != PTHREAD_MUTEX_RECURSIVE_NP) lock_created(t, pc, lock);
  lock_acquired(t, pc, lock, false, how);
  return result;
}

template <typename F>
int lock_with(Thread* t, uptr pc, pthread_mutex_t* mutex, Deadline deadline, F block) {
  unsafe_in_handler(t, pc, sooth::unsafe_call("pthread_mutex_lock"));
  begin_operation(t, pc, sooth::Op::kAcquire, address_of(mutex));
  check_alive(t, pc, mutex);
  int type = type_of(mutex);
  if ((type == PTHREAD_MUTEX_TIMED_NP || type == PTHREAD_MUTEX_ADAPTIVE_NP) && holds_lock(t, address_of(mutex)) &&
      is_locked_by_caller(mutex)) {
    misuse(t, pc, Misuse::kDoubleLock, address_of(mutex));
  }
  begin_waiting(t, pc, address_of(mutex), deadline);
  int result = turn::taken() ? lock_in_turn(t, mutex, deadline, block) : block();
  return acquired(t, pc, mutex, result, deadline.time == nullptr ? 0 : kTimed);
}

}  // namespace

namespace sooth::rt {

int lock_mutex(Thread* t, uptr pc, pthread_mutex_t* mutex) {
  return lock_with(t, pc, mutex, {}, [&] { return real_lock(mutex); });
}

int try_lock_mutex(Thread* t, uptr pc, pthread_mutex_t* mutex) {
  unsafe_in_handler(t, pc, sooth::unsafe_call("pthread_mutex_trylock"));
  begin_operation(t, pc, sooth::Op::kAcquire, address_of(mutex));
  check_alive(t, pc, mutex);
  int result = acquired(t, pc, mutex, real_trylock(mutex), kTry);
  // Who tries again and again must not keep the holder from its turn.
  if (result == EBUSY) turn::yield(t);
  return result;
}

int timed_lock_mutex(Thread* t, uptr pc, pthread_mutex_t* mutex, const timespec* time) {
  return lock_with(t, pc, mutex, {time, CLOCK_REALTIME},
                   [&] { return real_timedlock(mutex, RealDeadline(time, CLOCK_REALTIME)); });
}

int unlock_mutex(Thread* t, uptr pc, pthread_mutex_t* mutex) {
  begin_operation(t, pc, sooth::Op::kRelease, address_of(mutex));
  lock_releasing(t, pc, address_of(mutex));
  return unlock_mutex_in_turn(mutex);
}

int unlock_mutex_in_turn(pthread_mutex_t* mutex) {
  int result = real_unlock(mutex);
  turn::wake(address_of(mutex), turn::kAll);
  return result;
}

int lock_mutex_in_turn(Thread* t, pthread_mutex_t* mutex) {
  return lock_in_turn(t, mutex, {}, [&] { return real_lock(mutex); });
}

}  // namespace sooth::rt

SOOTH_EXPORT int sooth_pthread_mutex_lock(pthread_mutex_t* mutex) asm("pthread_mutex_lock");
int sooth_pthread_mutex_lock(pthread_mutex_t* mutex) {
  Thread* t = openmp::current_but_libomp(SOOTH_CALLER);
  return t == nullptr ? real_lock(mutex) : lock_mutex(t, SOOTH_CALLER, mutex);
}

SOOTH_EXPORT int sooth_pthread_mutex_trylock(pthread_mutex_t* mutex) asm("pthread_mutex_trylock");
int sooth_pthread_mutex_trylock(pthread_mutex_t* mutex) {
  Thread* t = openmp::current_but_libomp(SOOTH_CALLER);
  return t == nullptr ? real_trylock(mutex) : try_lock_mutex(t, SOOTH_CALLER, mutex);
}

SOOTH_EXPORT int sooth_pthread_mutex_timedlock(pthread_mutex_t* mutex,
                                               const timespec* time) asm("pthread_mutex_timedlock");
int sooth_pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* time) {
  Thread* t = current();
  return t == nullptr ? real_timedlock(mutex, time) : timed_lock_mutex(t, SOOTH_CALLER, mutex, time);
}

SOOTH_INTERCEPT(int, pthread_mutex_clocklock, pthread_mutex_t* mutex, clockid_t clock, const timespec* time) {
  Thread* t = current();
  if (t == nullptr || (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC))
    return real_pthread_mutex_clocklock(mutex, clock, time);
  return lock_with(t, SOOTH_CALLER, mutex, {time, clock},
                   [&] { return real_pthread_mutex_clocklock(mutex, clock, RealDeadline(time, clock)); });
}

SOOTH_EXPORT int sooth_pthread_mutex_unlock(pthread_mutex_t* mutex) asm("pthread_mutex_unlock");
int sooth_pthread_mutex_unlock(pthread_mutex_t* mutex) {
  Thread* t = openmp::current_but_libomp(SOOTH_CALLER);
  // A thread that is not recorded may have locked out one that is.
  return t == nullptr ? unlock_mutex_in_turn(mutex) : unlock_mutex(t, SOOTH_CALLER, mutex);
}

SOOTH_INTERCEPT(int, pthread_mutex_init, pthread_mutex_t* mutex, const pthread_mutexattr_t* attributes) {
  if (Thread* t = openmp::current_but_libomp(SOOTH_CALLER)) lock_initialised(t, SOOTH_CALLER, address_of(mutex));
  return real_pthread_mutex_init(mutex, attributes);
}

SOOTH_INTERCEPT(int, pthread_mutex_destroy, pthread_mutex_t* mutex) {
  if (Thread* t = openmp::current_but_libomp(SOOTH_CALLER)) lock_destroyed(t, SOOTH_CALLER, address_of(mutex));
  return real_pthread_mutex_destroy(mutex);
}

SOOTH_SAME_AS(__pthread_mutex_lock, pthread_mutex_lock);
SOOTH_SAME_AS(__pthread_mutex_unlock, pthread_mutex_unlock);
