// What the wrappers of synchronisation share. Where a C11 function is the same as a POSIX one, and where a condition
// wait takes its mutex again, both wrappers call the function here; `pc` is the program's.
#pragma once

#include <pthread.h>
#include <time.h>

#include "runtime/blocking.h"
#include "runtime/clock.h"
#include "runtime/control.h"
#include "runtime/signals.h"
#include "runtime/stream_writer.h"
#include "runtime/thread.h"
#include "runtime/turn.h"

namespace sooth::rt {

using virtual_clock::RealDeadline;

// Until when a blocking function waits. `time` nullptr: for ever.
struct Deadline {
  const timespec* time = nullptr;
  int clock = CLOCK_REALTIME;

  bool is_valid() const { return time == nullptr || (time->tv_nsec >= 0 && time->tv_nsec < 1'000'000'000); }
};

// The first step of a wrapper: the thread has the turn (in serial recordings, where others may go first), and handlers
// that waited have run. `pc` 0: whoever asks what it is about does not learn where; `object` 0: it may be about
// anything; `also` is another that it is about.
SOOTH_INLINE void begin_operation(Thread* t, uptr pc = 0, Op op = Op::kCallBegin, uptr object = 0, uptr also = 0) {
  if (turn::taken()) turn::step(t, {op, pc, object, object == 0 ? u64{0} : u64{1}, false, also});
  if (SOOTH_UNLIKELY(__atomic_load_n(&t->pending_signals, __ATOMIC_RELAXED) != 0)) deliver_pending_signals(t);
}

// Barriers, conditions and semaphores are memory, too: whoever uses one reads it, whoever makes or destroys it writes it.
// One byte stands for all of it: one that libc never changes, so that recorded values agree.
inline uptr quiet_byte(const pthread_cond_t* object) {
  return reinterpret_cast<uptr>(&object->__data.__wrefs) + 3;  // of the number of waiters, the bits that are 0
}
template <typename Object>
uptr quiet_byte(const Object* object) {
  static_assert(sizeof *object == 32);  // barriers and semaphores have 20 bytes at most, and room
  return reinterpret_cast<uptr>(object) + 31;
}
// In front of begin_operation(): what follows that is done with the step that it announces.
template <typename Object>
void object_used(Thread* t, uptr pc, const Object* object) {
  if (t->busy == 0) write_range(t, pc, Op::kRead, quiet_byte(object), 1);
}
template <typename Object>
void object_changed(Thread* t, uptr pc, const Object* object) {
  if (t != nullptr && t->busy == 0) write_range(t, pc, Op::kWrite, quiet_byte(object), 1);
}

// In front of an acquire that may wait, behind begin_operation(): in a controlled run it may be one of a deadlock.
SOOTH_INLINE void begin_waiting(Thread* t, uptr pc, uptr lock, const Deadline& deadline) {
  if (SOOTH_UNLIKELY(recorder.controlled) && deadline.time == nullptr) controlled::approach_acquire(t, pc, lock);
}

template <typename T>
SOOTH_INLINE uptr address_of(T* object) {
  return reinterpret_cast<uptr>(object);
}

// A call that may block where we cannot see it.
template <typename F>
auto call_outside(Thread* t, F call) {
  Blocking blocking(t);
  return call();
}

// wrap_mutex.cc
int lock_mutex(Thread* t, uptr pc, pthread_mutex_t* mutex);
int try_lock_mutex(Thread* t, uptr pc, pthread_mutex_t* mutex);
int timed_lock_mutex(Thread* t, uptr pc, pthread_mutex_t* mutex, const timespec* time);
int unlock_mutex(Thread* t, uptr pc, pthread_mutex_t* mutex);
// Serial recordings, and no events: the real mutex is unlocked and those that wait for it are ready; it is locked, in
// turn.
int unlock_mutex_in_turn(pthread_mutex_t* mutex);
int lock_mutex_in_turn(Thread* t, pthread_mutex_t* mutex);

// hooks_atomic.cc. A word that somebody else changes, whom nobody sees, hands on what the thread has done so far; ... what
// others have handed on. The word keeps its value.
void release_through(u32* word, uptr pc);
void acquire_through(const u32* word, uptr pc);
void acquire_through(const u64* word, uptr pc);
void fence(int order, uptr pc);

// wrap_cond.cc
int wait_cond(Thread* t, uptr pc, pthread_cond_t* cond, pthread_mutex_t* mutex);
int timed_wait_cond(Thread* t, uptr pc, pthread_cond_t* cond, pthread_mutex_t* mutex, const timespec* time);
int signal_cond(Thread* t, uptr pc, pthread_cond_t* cond);
int broadcast_cond(Thread* t, uptr pc, pthread_cond_t* cond);

// wrap_barrier.cc
int run_once(Thread* t, uptr pc, pthread_once_t* control, void (*routine)());
// An exception is about to be thrown, perhaps out of such routines.
void once_throws(Thread* t, uptr pc);

// wrap_thread.cc. `returns_int`: the routine is one of C11, whose result is an int.
int create_thread(Thread* t, uptr pc, pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*),
                  void* argument, bool returns_int);
// The calling thread, which libc has started by itself because thread `asked_by` wanted it, is recorded from here to its
// end. nullptr: it cannot be.
Thread* adopt_thread(u32 asked_by, uptr pc);
int join_thread(Thread* t, uptr pc, pthread_t thread, void** result);
int detach_other_thread(Thread* t, pthread_t thread);
// pthread_testcancel() inside of a wrapper, whose own step it belongs to: others do not go first.
void test_cancel();

}  // namespace sooth::rt
