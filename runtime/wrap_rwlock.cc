// pthread_rwlock_* and pthread_spin_*. Events as in wrap_mutex.cc.
#include <errno.h>

#include "runtime/intercept.h"
#include "runtime/locks.h"
#include "runtime/options.h"
#include "runtime/sync.h"

using namespace sooth::rt;
using sooth::kTimed;
using sooth::kTry;

namespace {

SOOTH_REAL Real<int(pthread_rwlock_t*)> real_tryrdlock{"pthread_rwlock_tryrdlock"};
SOOTH_REAL Real<int(pthread_rwlock_t*)> real_trywrlock{"pthread_rwlock_trywrlock"};

// A writer that waits in turn is none that libc knows of. Locks that prefer writers let no reader in before it, not even
// one that has the lock already: so those writers are counted, in room that libc does not use, by threads that have the
// turn.
bool prefers_writers(const pthread_rwlock_t* lock) {
  return lock->__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
}
unsigned& waiting_writers(pthread_rwlock_t* lock) { return lock->__data.__pad4; }

int attempt(pthread_rwlock_t* lock, bool shared) {
  if (!shared) return real_trywrlock(lock);
  return turn::taken() && prefers_writers(lock) && waiting_writers(lock) != 0 ? EBUSY : real_tryrdlock(lock);
}

// `block` locks the real lock and may block.
template <typename F>
int wait_in_turn(Thread* t, pthread_rwlock_t* lock, bool shared, Deadline deadline, F block) {
  for (;;) {
    int result = attempt(lock, shared);
    if (result != EBUSY) return result;
    if (lock->__data.__cur_writer == static_cast<int>(sys_call(SYS_gettid))) return EDEADLK;
    if (!deadline.is_valid()) return EINVAL;
    if (lock->__data.__shared != 0) return call_outside(t, block);
    if (turn::block(t, address_of(lock), turn::BlockedOn::kRwlock, deadline.time, deadline.clock) ==
        turn::Wake::kTimedOut) {
      result = attempt(lock, shared);
      return result == EBUSY ? ETIMEDOUT : result;
    }
  }
}

template <typename F>
int lock_in_turn(Thread* t, pthread_rwlock_t* lock, bool shared, Deadline deadline, F block) {
  // Between here and its first attempt nobody else runs.
  bool counts = !shared && prefers_writers(lock) && lock->__data.__shared == 0;
  if (counts) ++waiting_writers(lock);
  int result = wait_in_turn(t, lock, shared, deadline, block);
  if (counts && --waiting_writers(lock) == 0 && result != 0) turn::wake(address_of(lock), turn::kAll);
  return result;
}

// Waiting for oneself. What we remember of a lock may be of one that died without a word, so the lock must agree.
void check_own(Thread* t, uptr pc, const pthread_rwlock_t* lock, bool shared) {
  uptr address = address_of(lock);
  if (!holds_lock(t, address) || !options.report_mutex_bugs) return;
  constexpr unsigned kReaderShift = 3;  // of __readers
  if (holds_exclusively(t, address)) {
    if (__atomic_load_n(&lock->__data.__cur_writer, __ATOMIC_RELAXED) == static_cast<int>(sys_call(SYS_gettid)))
      misuse(t, pc, shared ? Misuse::kReadLockBad : Misuse::kDoubleLock, address);
  } else if (!shared && __atomic_load_n(&lock->__data.__readers, __ATOMIC_RELAXED) >> kReaderShift != 0) {
    misuse(t, pc, Misuse::kDoubleLock, address);
  }
}

// glibc leaves what was destroyed as it is: we mark it, in room that it does not use, until something else is made of it.
constexpr unsigned long kDestroyedMark = 0x736f6f7468646573;
void check_alive(Thread* t, uptr pc, const pthread_rwlock_t* lock) {
  if (SOOTH_UNLIKELY(__atomic_load_n(&lock->__data.__pad2, __ATOMIC_RELAXED) == kDestroyedMark) &&
      options.report_mutex_bugs)
    misuse(t, pc, Misuse::kInvalidUse, address_of(lock));
}

template <typename F>
int lock_with(Thread* t, uptr pc, pthread_rwlock_t* lock, bool shared, Deadline deadline, F block) {
  unsafe_in_handler(t, pc,
                    shared ? sooth::unsafe_call("pthread_rwlock_rdlock") : sooth::unsafe_call("pthread_rwlock_wrlock"));
  begin_operation(t, pc, sooth::Op::kAcquire, address_of(lock));
  check_alive(t, pc, lock);
  check_own(t, pc, lock, shared);
  begin_waiting(t, pc, address_of(lock), deadline);
  int result = turn::taken() ? lock_in_turn(t, lock, shared, deadline, block) : block();
  u8 how = deadline.time == nullptr ? 0 : kTimed;
  if (result == 0) lock_acquired(t, pc, address_of(lock), shared, how);
  if (result == ETIMEDOUT && how == kTimed) lock_missed(t, pc, address_of(lock), shared, how);
  return result;
}

int try_lock(Thread* t, uptr pc, pthread_rwlock_t* lock, bool shared) {
  begin_operation(t, pc, sooth::Op::kAcquire, address_of(lock));
  check_alive(t, pc, lock);
  int result = attempt(lock, shared);
  if (result == 0) lock_acquired(t, pc, address_of(lock), shared, kTry);
  if (result == EBUSY) lock_missed(t, pc, address_of(lock), shared, kTry);
  if (result != 0) turn::yield(t);
  return result;
}

bool is_known(clockid_t clock) { return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC; }

}  // namespace

// The ways to wait for a lock in the mode whose functions are named rdlock or wrlock.
#define SOOTH_RWLOCK(mode, shared)                                                                                  \
  SOOTH_INTERCEPT(int, pthread_rwlock_##mode, pthread_rwlock_t* lock) {                                             \
    Thread* t = current();                                                                                          \
    if (t == nullptr) return real_pthread_rwlock_##mode(lock);                                                      \
    return lock_with(t, SOOTH_CALLER, lock, shared, {}, [&] { return real_pthread_rwlock_##mode(lock); });          \
  }                                                                                                                 \
  SOOTH_INTERCEPT(int, pthread_rwlock_timed##mode, pthread_rwlock_t* lock, const timespec* time) {                  \
    Thread* t = current();                                                                                          \
    if (t == nullptr) return real_pthread_rwlock_timed##mode(lock, time);                                           \
    return lock_with(t, SOOTH_CALLER, lock, shared, {time},                                                         \
                     [&] { return real_pthread_rwlock_timed##mode(lock, RealDeadline(time, CLOCK_REALTIME)); });    \
  }                                                                                                                 \
  SOOTH_INTERCEPT(int, pthread_rwlock_clock##mode, pthread_rwlock_t* lock, clockid_t clock, const timespec* time) { \
    Thread* t = current();                                                                                          \
    if (t == nullptr || !is_known(clock)) return real_pthread_rwlock_clock##mode(lock, clock, time);                \
    return lock_with(t, SOOTH_CALLER, lock, shared, {time, clock},                                                  \
                     [&] { return real_pthread_rwlock_clock##mode(lock, clock, RealDeadline(time, clock)); });      \
  }
SOOTH_RWLOCK(rdlock, true)
SOOTH_RWLOCK(wrlock, false)

SOOTH_EXPORT int sooth_pthread_rwlock_tryrdlock(pthread_rwlock_t* lock) asm("pthread_rwlock_tryrdlock");
int sooth_pthread_rwlock_tryrdlock(pthread_rwlock_t* lock) {
  Thread* t = current();
  return t == nullptr ? real_tryrdlock(lock) : try_lock(t, SOOTH_CALLER, lock, true);
}

SOOTH_EXPORT int sooth_pthread_rwlock_trywrlock(pthread_rwlock_t* lock) asm("pthread_rwlock_trywrlock");
int sooth_pthread_rwlock_trywrlock(pthread_rwlock_t* lock) {
  Thread* t = current();
  return t == nullptr ? real_trywrlock(lock) : try_lock(t, SOOTH_CALLER, lock, false);
}

SOOTH_INTERCEPT(int, pthread_rwlock_unlock, pthread_rwlock_t* lock) {
  if (Thread* t = current()) {
    begin_operation(t, SOOTH_CALLER, sooth::Op::kRelease, address_of(lock));
    lock_releasing(t, SOOTH_CALLER, address_of(lock));
  }
  int result = real_pthread_rwlock_unlock(lock);
  turn::wake(address_of(lock), turn::kAll);
  return result;
}

SOOTH_INTERCEPT(int, pthread_rwlock_init, pthread_rwlock_t* lock, const pthread_rwlockattr_t* attributes) {
  if (Thread* t = current()) lock_initialised(t, SOOTH_CALLER, address_of(lock));
  return real_pthread_rwlock_init(lock, attributes);
}

SOOTH_INTERCEPT(int, pthread_rwlock_destroy, pthread_rwlock_t* lock) {
  Thread* t = current();
  if (t != nullptr) {
    check_alive(t, SOOTH_CALLER, lock);
    lock_destroyed(t, SOOTH_CALLER, address_of(lock));
  }
  int result = real_pthread_rwlock_destroy(lock);
  if (result == 0 && t != nullptr) lock->__data.__pad2 = kDestroyedMark;
  return result;
}

SOOTH_INTERCEPT(int, pthread_spin_trylock, pthread_spinlock_t* lock) {
  Thread* t = current();
  if (t == nullptr) return real_pthread_spin_trylock(lock);
  begin_operation(t, SOOTH_CALLER, sooth::Op::kAcquire, address_of(lock));
  int result = real_pthread_spin_trylock(lock);
  if (result == 0) lock_acquired(t, SOOTH_CALLER, address_of(lock), false, kTry);
  if (result == EBUSY) lock_missed(t, SOOTH_CALLER, address_of(lock), false, kTry);
  if (result != 0) turn::yield(t);
  return result;
}

SOOTH_INTERCEPT(int, pthread_spin_lock, pthread_spinlock_t* lock) {
  Thread* t = current();
  if (t == nullptr) return real_pthread_spin_lock(lock);
  begin_operation(t, SOOTH_CALLER, sooth::Op::kAcquire, address_of(lock));
  if (holds_lock(t, address_of(lock))) misuse(t, SOOTH_CALLER, Misuse::kDoubleLock, address_of(lock));
  int result = 0;
  if (turn::taken()) {
    // Another process may unlock it, so not without an end; it is a spin lock after all.
    while (real_pthread_spin_trylock(lock) != 0) {
      // A deadlock of a controlled run must be seen.
      if (recorder.controlled && !is_shared_memory(address_of(lock)))
        turn::block(t, address_of(lock), turn::BlockedOn::kSpin);
      else
        turn::yield(t);
    }
  } else {
    result = real_pthread_spin_lock(lock);
  }
  if (result == 0) lock_acquired(t, SOOTH_CALLER, address_of(lock));
  return result;
}

SOOTH_INTERCEPT(int, pthread_spin_unlock, pthread_spinlock_t* lock) {
  if (Thread* t = current()) {
    begin_operation(t, SOOTH_CALLER, sooth::Op::kRelease, address_of(lock));
    lock_releasing(t, SOOTH_CALLER, address_of(lock));
  }
  int result = real_pthread_spin_unlock(lock);
  if (recorder.controlled) turn::wake(address_of(lock), turn::kAll);
  return result;
}

SOOTH_INTERCEPT(int, pthread_spin_init, pthread_spinlock_t* lock, int shared) {
  if (Thread* t = current()) lock_initialised(t, SOOTH_CALLER, address_of(lock));
  return real_pthread_spin_init(lock, shared);
}

SOOTH_INTERCEPT(int, pthread_spin_destroy, pthread_spinlock_t* lock) {
  if (Thread* t = current()) lock_destroyed(t, SOOTH_CALLER, address_of(lock));
  return real_pthread_spin_destroy(lock);
}
