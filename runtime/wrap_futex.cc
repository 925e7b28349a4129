// syscall(), for the futexes that libraries use through it: libstdc++'s static-init guards, futures, atomic waits and
// semaphores.
//
// Only serial recordings care: there a thread must not sleep in the kernel while it has the turn. What a futex orders
// is in the atomic operations around it.
#include <errno.h>
#include <time.h>

#include "runtime/intercept.h"
#include "runtime/openmp.h"
#include "runtime/sync.h"

using namespace sooth::rt;

namespace {

struct Call {
  const u32* word;
  int operation;
  u32 value;
  const timespec* time;  // or, when threads are woken or moved, a second number
  const u32* second_word;
  u32 third_value;

  int command() const { return operation & FUTEX_CMD_MASK; }
};

long perform(const Call& c) {
  return sys_call(SYS_futex, reinterpret_cast<long>(c.word), c.operation, c.value, reinterpret_cast<long>(c.time),
                  reinterpret_cast<long>(c.second_word), c.third_value);
}

// In the kernel, where another process can wake it. Time is the system's.
long wait_outside(Thread* t, Call c, int clock) {
  bool absolute = c.command() == FUTEX_WAIT_BITSET;
  RealDeadline deadline(absolute ? c.time : nullptr, clock);
  if (absolute) c.time = deadline;
  return call_outside(t, [&] { return perform(c); });
}

// As the kernel does it: whether the word has changed is asked once, in front of the sleep. Whoever sleeps is woken by
// FUTEX_WAKE and by nothing else, however the word changes: who relies on more has lost a wake-up.
long wait(Thread* t, const Call& c) {
  int clock = (c.operation & FUTEX_CLOCK_REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
  timespec deadline;
  if (c.time != nullptr) {
    if (!Deadline{c.time}.is_valid() || c.time->tv_sec < 0) return -EINVAL;
    deadline = c.command() == FUTEX_WAIT ? virtual_clock::later(*c.time, clock) : *c.time;
  }
  if ((c.operation & FUTEX_PRIVATE_FLAG) == 0 && is_shared_memory(address_of(c.word))) return wait_outside(t, c, clock);
  if (__atomic_load_n(c.word, __ATOMIC_SEQ_CST) != c.value) return -EAGAIN;
  turn::Wake woken =
      turn::block(t, address_of(c.word), turn::BlockedOn::kFutex, c.time == nullptr ? nullptr : &deadline, clock);
  return woken == turn::Wake::kTimedOut ? -ETIMEDOUT : 0;
}

// Wakes more than it was asked to rather than fewer: whoever waits on a futex must expect that.
long wake(const Call& c, u32 count) {
  long woken = turn::wake(address_of(c.word), count);
  long result = perform(c);
  return result < 0 ? result : result + woken;
}

// What the call is about, for who explores schedules: the word and who waits for it. 0: where time or another word takes
// part it may be anything.
uptr object_of(const Call& c) {
  switch (c.command()) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET: return c.time == nullptr ? address_of(c.word) : 0;
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET: return address_of(c.word);
    default: return 0;
  }
}

long futex_in_turn(Thread* t, uptr pc, const Call& c) {
  begin_operation(t, pc, sooth::Op::kCallBegin, object_of(c));
  switch (c.command()) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET: return wait(t, c);
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET: return wake(c, c.value);
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE: return wake(c, turn::kAll);
    case FUTEX_WAKE_OP: turn::wake(address_of(c.second_word), turn::kAll); return wake(c, c.value);
    default: return call_outside(t, [&] { return perform(c); });
  }
}

}  // namespace

// From the entry below, with the arguments where the compiler expects them.
extern "C" __attribute__((visibility("hidden"))) long sooth_futex(long, const u32* word, int operation, u32 value,
                                                                  const timespec* time, const u32* second_word,
                                                                  u32 third_value) {
  Call c = {word, operation, value, time, second_word, third_value};
  Thread* t = openmp::current_but_libomp(SOOTH_CALLER);
  bool is_wake = c.command() != FUTEX_WAIT && c.command() != FUTEX_WAIT_BITSET;
  // A thread that is not recorded wakes those that are, too.
  if (t == nullptr && is_wake && turn::taken()) turn::wake(address_of(word), turn::kAll);
  long result = t != nullptr && turn::taken() ? futex_in_turn(t, SOOTH_CALLER, c) : perform(c);
  if (result >= 0 || result < -4095) return result;
  errno = static_cast<int>(-result);
  return -1;
}

extern "C" __attribute__((visibility("hidden"))) long sooth_set_errno(long result) {
  errno = static_cast<int>(-result);
  return -1;
}

// Any other call goes to the kernel from here, with no frame in between: it may be one that returns twice.
asm(".text\n\t"
    ".globl syscall\n\t"
    ".type syscall, @function\n"
    "syscall:\n\t" SOOTH_SYSCALL_BODY "\n\t.size syscall, . - syscall");
