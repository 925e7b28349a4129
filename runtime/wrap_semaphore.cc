// sem_*. A post is recorded before the semaphore is raised, a wait when it is over; docs/semantics.md, section 3, says
// which post a wait is ordered behind.
#include <errno.h>
#include <semaphore.h>

#include "runtime/init.h"
#include "runtime/intercept.h"
#include "runtime/stream_writer.h"
#include "runtime/sync.h"

using namespace sooth;
using namespace sooth::rt;

namespace {

SOOTH_REAL Real<int(sem_t*)> real_trywait{"sem_trywait"};

// How many recorded posts of a semaphore no recorded wait has taken. Only sem_init() and sem_open() need it: where one
// semaphore lay another may lie later, and posts that are left of the first must not serve waits of the second.
class Tokens {
 public:
  void add(uptr semaphore, int tokens) {
    SpinGuard guard(lock_);
    if (Slot* slot = find(semaphore)) slot->tokens += tokens;
  }
  // What was there; `known` is false when nobody knows, now or later.
  int exchange(uptr semaphore, int tokens, bool& known) {
    SpinGuard guard(lock_);
    Slot* slot = find(semaphore);
    known = slot != nullptr;
    if (slot == nullptr) return 0;
    int before = slot->tokens;
    slot->tokens = tokens;
    return before;
  }
  // A named semaphore has one address however often it is open. True: it was not open before.
  bool open(uptr semaphore) {
    SpinGuard guard(lock_);
    Slot* slot = find(semaphore);
    return slot != nullptr && slot->opened++ == 0;
  }
  void close(uptr semaphore) {
    SpinGuard guard(lock_);
    Slot* slot = find(semaphore);
    if (slot != nullptr && slot->opened > 0) --slot->opened;
  }
  void restart_after_fork() { lock_.reset(); }

 private:
  static constexpr u32 kSlots = 4096;
  struct Slot {
    uptr semaphore;
    int tokens;
    u32 opened;  // by sem_open()
  };

  // Semaphores are never forgotten: when all slots are taken, others have none.
  Slot* find(uptr semaphore) {
    u32 at = static_cast<u32>((semaphore >> 3) * 0x9e3779b97f4a7c15 >> 52);
    for (u32 i = 0; i < kSlots; ++i) {
      Slot& slot = slots_[(at + i) % kSlots];
      if (slot.semaphore == 0) slot.semaphore = semaphore;
      if (slot.semaphore == semaphore) return &slot;
    }
    return nullptr;
  }

  SpinLock lock_;
  Slot slots_[kSlots];
};
Tokens tokens_;

void write_post(Thread* t, uptr pc, sem_t* semaphore) {
  tokens_.add(address_of(semaphore), 1);
  write_event(t, pc, Shape::of(Op::kSemPost), address_of(semaphore));
}
void write_wait(Thread* t, uptr pc, sem_t* semaphore) {
  tokens_.add(address_of(semaphore), -1);
  write_event(t, pc, Shape::of(Op::kSemWait), address_of(semaphore));
}

// A wait that takes one of the first `value` tokens has nobody's post before it. They are posts of whoever makes the
// semaphore, so that no wait of that number is taken to be ordered behind another thread's.
void write_initial_value(Thread* t, uptr pc, sem_t* semaphore, unsigned value) {
  constexpr unsigned kMost = 4096;  // of more, a wait for one of the others binds more than it must
  int fresh = static_cast<int>(value < kMost ? value : kMost);
  bool known = false;
  int left = tokens_.exchange(address_of(semaphore), fresh, known);
  for (; known && left > 0; --left) write_event(t, pc, Shape::of(Op::kSemWait), address_of(semaphore));
  for (; known && fresh > 0; --fresh) write_event(t, pc, Shape::of(Op::kSemPost), address_of(semaphore));
}

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
  object_used(t, pc, semaphore);
  begin_operation(t, pc, Op::kSemWait, address_of(semaphore));
  int result = turn::taken() ? wait_in_turn(t, semaphore, deadline, block) : block();
  if (result == 0) write_wait(t, pc, semaphore);
  return result;
}

}  // namespace

void sooth::rt::restart_semaphores_after_fork() { tokens_.restart_after_fork(); }

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
  object_used(t, SOOTH_CALLER, semaphore);
  begin_operation(t, SOOTH_CALLER, Op::kSemWait, address_of(semaphore));
  int result = real_trywait(semaphore);
  if (result == 0) {
    write_wait(t, SOOTH_CALLER, semaphore);
  } else {
    int error = errno;
    turn::yield(t);
    errno = error;
  }
  return result;
}

SOOTH_INTERCEPT(int, sem_post, sem_t* semaphore) {
  if (Thread* t = current()) {
    object_used(t, SOOTH_CALLER, semaphore);
    begin_operation(t, SOOTH_CALLER, Op::kSemPost, address_of(semaphore));
    write_post(t, SOOTH_CALLER, semaphore);
  }
  int result = real_sem_post(semaphore);
  turn::wake(address_of(semaphore), 1);
  return result;
}

SOOTH_INTERCEPT(int, sem_init, sem_t* semaphore, int shared, unsigned value) {
  Thread* t = current();
  object_changed(t, SOOTH_CALLER, semaphore);
  int result = real_sem_init(semaphore, shared, value);
  if (t != nullptr && result == 0) write_initial_value(t, SOOTH_CALLER, semaphore, value);
  return result;
}

SOOTH_INTERCEPT(int, sem_destroy, sem_t* semaphore) {
  object_changed(current(), SOOTH_CALLER, semaphore);
  return real_sem_destroy(semaphore);
}

SOOTH_INTERCEPT(int, sem_getvalue, sem_t* semaphore, int* value) {
  Thread* t = current();
  // A program may wait for a value in a loop.
  if (t != nullptr) turn::yield(t);
  int result = real_sem_getvalue(semaphore, value);
  if (t != nullptr && result == 0) write_range(t, SOOTH_CALLER, Op::kWrite, address_of(value), sizeof *value);
  return result;
}

// The last two are there with O_CREAT only, and looked at then only. A semaphore that exists already has the value that
// others left; later posts of other processes are not seen, and waits that take them are ordered behind nothing.
SOOTH_INTERCEPT(sem_t*, sem_open, const char* name, int flags, unsigned mode, unsigned value) {
  sem_t* semaphore = real_sem_open(name, flags, mode, value);
  Thread* t = current();
  if (t == nullptr || semaphore == SEM_FAILED) return semaphore;
  int now = 0;
  if (tokens_.open(address_of(semaphore)) && real_sem_getvalue(semaphore, &now) == 0 && now >= 0)
    write_initial_value(t, SOOTH_CALLER, semaphore, static_cast<unsigned>(now));
  return semaphore;
}

SOOTH_INTERCEPT(int, sem_close, sem_t* semaphore) {
  tokens_.close(address_of(semaphore));
  return real_sem_close(semaphore);
}
