// sem_*. A post is recorded before the semaphore is raised, a wait when it is over; docs/semantics.md, section 3, says
// which post a wait is ordered behind.
#include <errno.h>
#include <semaphore.h>

#include "runtime/intercept.h"
#include "runtime/stream_writer.h"
#include "runtime/sync.h"

using namespace sooth;
using namespace sooth::rt;

namespace {

SOOTH_REAL Real<int(sem_t*)> real_trywait{"sem_trywait"};

// glibc's struct new_sem on 64-bit machines: value and waiters in one word, then which kind of futex it uses.
bool is_shared(const sem_t* semaphore) {
  struct Layout {
    u64 data;
    int kind;  // 0: private
  };
  return reinterpret_cast<const Layout*>(semaphore)->kind != 0;
}

// `block` waits for the real semaphore.
template <typename F>
int wait_in_turn(Thread* t, sem_t* semaphore, Deadline deadline, F block) {
  for (u32 interruptions = t->interruptions;;) {
    test_cancel();
    if (real_trywait(semaphore) == 0) return 0;
    if (errno != EAGAIN) return -1;
    if (t->interruptions != interruptions) {
      errno = EINTR;
      return -1;
    }
    if (!deadline.is_valid()) {
      errno = EINVAL;
      return -1;
    }
    // Another process may post.
    if (is_shared(semaphore)) return call_outside(t, block);
    if (turn::block(t, address_of(semaphore), turn::BlockedOn::kSemaphore, deadline.time, deadline.clock) ==
        turn::Wake::kTimedOut) {
      if (real_trywait(semaphore) == 0) return 0;
      errno = ETIMEDOUT;
      return -1;
    }
  }
}

template <typename F>
int wait_with(Thread* t, uptr pc, sem_t* semaphore, Deadline deadline, F block) {
  begin_operation(t, pc, Op::kSemWait, address_of(semaphore));
  int result = turn::taken() ? wait_in_turn(t, semaphore, deadline, block) : block();
  if (result == 0) write_event(t, pc, Shape::of(Op::kSemWait), address_of(semaphore));
  return result;
}

}  // namespace

SOOTH_INTERCEPT(int, sem_wait, sem_t* semaphore) {
  Thread* t = current();
  if (t == nullptr) return real_sem_wait(semaphore);
  return wait_with(t, SOOTH_CALLER, semaphore, {}, [&] { return real_sem_wait(semaphore); });
}

SOOTH_INTERCEPT(int, sem_timedwait, sem_t* semaphore, const timespec* time) {
  Thread* t = current();
  if (t == nullptr) return real_sem_timedwait(semaphore, time);
  return wait_with(t, SOOTH_CALLER, semaphore, {time},
                   [&] { return real_sem_timedwait(semaphore, RealDeadline(time, CLOCK_REALTIME)); });
}

SOOTH_INTERCEPT(int, sem_clockwait, sem_t* semaphore, clockid_t clock, const timespec* time) {
  Thread* t = current();
  if (t == nullptr || (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC))
    return real_sem_clockwait(semaphore, clock, time);
  return wait_with(t, SOOTH_CALLER, semaphore, {time, clock},
                   [&] { return real_sem_clockwait(semaphore, clock, RealDeadline(time, clock)); });
}

SOOTH_EXPORT int sooth_sem_trywait(sem_t* semaphore) asm("sem_trywait");
int sooth_sem_trywait(sem_t* semaphore) {
  Thread* t = current();
  if (t == nullptr) return real_trywait(semaphore);
  begin_operation(t, SOOTH_CALLER, Op::kSemWait, address_of(semaphore));
  int result = real_trywait(semaphore);
  if (result == 0) {
    write_event(t, SOOTH_CALLER, Shape::of(Op::kSemWait), address_of(semaphore));
  } else {
    int error = errno;
    turn::yield(t);
    errno = error;
  }
  return result;
}

SOOTH_INTERCEPT(int, sem_post, sem_t* semaphore) {
  if (Thread* t = current()) {
    begin_operation(t, SOOTH_CALLER, Op::kSemPost, address_of(semaphore));
    write_event(t, SOOTH_CALLER, Shape::of(Op::kSemPost), address_of(semaphore));
  }
  int result = real_sem_post(semaphore);
  turn::wake(address_of(semaphore), 1);
  return result;
}

SOOTH_INTERCEPT(int, sem_getvalue, sem_t* semaphore, int* value) {
  Thread* t = current();
  // A program may wait for a value in a loop.
  if (t != nullptr) turn::yield(t);
  int result = real_sem_getvalue(semaphore, value);
  if (t != nullptr && result == 0) write_range(t, SOOTH_CALLER, Op::kWrite, address_of(value), sizeof *value);
  return result;
}
