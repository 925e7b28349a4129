// Barriers, and initialisation that happens once: pthread_once and the guards of static variables.
#include <errno.h>

#include "runtime/intercept.h"
#include "runtime/locks.h"
#include "runtime/options.h"
#include "runtime/stream_writer.h"
#include "runtime/sync.h"

using namespace sooth;
using namespace sooth::rt;

namespace {

// A barrier of a serial recording: nobody waits in the real one. Used only by the thread that has the turn.
struct Barrier {
  uptr address;  // 0: free
  u32 count;
  u32 arrived;
  u32 rounds;  // that are complete
};
constexpr u32 kBarriers = 4096;
constexpr u32 kNeighbours = 64;  // a barrier is in one of so many places
Barrier* barriers_ = nullptr;

// nullptr: unknown, or (with `add`) no room for it. Threads then wait in the real barrier, which works as well.
Barrier* find_barrier(uptr address, bool add) {
  if (barriers_ == nullptr) barriers_ = static_cast<Barrier*>(map_memory(kBarriers * sizeof(Barrier)));
  if (barriers_ == nullptr) return nullptr;
  Barrier* room = nullptr;
  u32 place = static_cast<u32>(address >> 4);
  for (u32 i = 0; i < kNeighbours; ++i) {
    Barrier& b = barriers_[(place + i) % kBarriers];
    if (b.address == address) return &b;
    if (b.address == 0 && room == nullptr) room = &b;
  }
  return add ? room : nullptr;
}

int wait_in_turn(Thread* t, Barrier* b) {
  u32 round = b->rounds;
  if (++b->arrived == b->count) {
    b->arrived = 0;
    ++b->rounds;
    turn::wake(b->address, turn::kAll);
    return PTHREAD_BARRIER_SERIAL_THREAD;
  }
  while (b->rounds == round) turn::block(t, b->address, turn::BlockedOn::kBarrier);
  return 0;
}

// What a thread is about to initialise: pthread_once passes no argument to its routine.
struct Once {
  Thread* thread;
  uptr pc;
  pthread_once_t* control;
  void (*routine)();
};
__thread const Once* once_ __attribute__((tls_model("initial-exec"))) = nullptr;

// Routines that this thread is in, the innermost last: their stack frames, and what they initialise. One that was left by
// an exception stays until somebody looks.
struct RunningOnce {
  uptr frame;
  pthread_once_t* control;
};
constexpr u32 kMostRunning = 16;
__thread RunningOnce running_[kMostRunning] __attribute__((tls_model("initial-exec")));
__thread u32 running_count_ __attribute__((tls_model("initial-exec"))) = 0;
bool some_once_failed_ = false;

// `frame` is of a function that runs, so what is not outside of it was left.
void forget_left(uptr frame) {
  while (running_count_ > 0 && running_[running_count_ - 1].frame <= frame) --running_count_;
}

constexpr int kOnceRuns = 1;  // bit of a control word; glibc's fork generation is above
constexpr int kOnceDone = 2;

void run_routine() {
  // A copy: the routine may call pthread_once itself.
  Once once = *once_;
  auto frame = reinterpret_cast<uptr>(__builtin_frame_address(0));
  forget_left(frame);
  u32 outside = running_count_;
  if (outside < kMostRunning) running_[running_count_++] = {frame, once.control};
  if (__atomic_load_n(&some_once_failed_, __ATOMIC_RELAXED))
    write_event(once.thread, once.pc, Shape::of(Op::kHappensAfter), address_of(once.control));
  once.routine();
  running_count_ = outside;
  // What the control word becomes is a step of its own: the routine may have had others.
  begin_operation(once.thread, once.pc, Op::kCallBegin, address_of(once.control));
  write_event(once.thread, once.pc, Shape::of(Op::kHappensBefore), address_of(once.control));
}

// Waits while another thread runs the routine. If that leaves by an exception nobody wakes us, so look from time to
// time.
void await_once(Thread* t, pthread_once_t* control) {
  for (;;) {
    int word = __atomic_load_n(control, __ATOMIC_ACQUIRE);
    if ((word & kOnceDone) != 0 || (word & kOnceRuns) == 0) return;
    turn::poll(t, address_of(control), turn::BlockedOn::kOnce);
  }
}

SOOTH_REAL Real<int(pthread_once_t*, void (*)())> real_once{"pthread_once"};

}  // namespace

namespace sooth::rt {

int run_once(Thread* t, uptr pc, pthread_once_t* control, void (*routine)()) {
  if (t == nullptr) return real_once(control, routine);
  begin_operation(t, pc, Op::kCallBegin, address_of(control));
  if (turn::taken()) await_once(t, control);
  Once once = {t, pc, control, routine};
  once_ = &once;
  int result = real_once(control, run_routine);
  turn::wake(address_of(control), turn::kAll);
  if (result == 0) write_event(t, pc, Shape::of(Op::kHappensAfter), address_of(control));
  return result;
}

// A routine that throws comes before the next one to try. It may catch what it throws: then it goes on, and ends later.
void once_throws(Thread* t, uptr pc) {
  forget_left(reinterpret_cast<uptr>(__builtin_frame_address(0)));
  for (u32 i = 0; i < running_count_; ++i) {
    begin_operation(t, pc, Op::kCallBegin, address_of(running_[i].control));
    __atomic_store_n(&some_once_failed_, true, __ATOMIC_RELAXED);
    write_event(t, pc, Shape::of(Op::kHappensBefore), address_of(running_[i].control));
  }
}

}  // namespace sooth::rt

SOOTH_EXPORT int sooth_pthread_once(pthread_once_t* control, void (*routine)()) asm("pthread_once");
int sooth_pthread_once(pthread_once_t* control, void (*routine)()) {
  SOOTH_UNSAFE(pthread_once);
  return run_once(current(), SOOTH_CALLER, control, routine);
}

// Barriers have no static initialiser: one that nobody made is of zeros, or of anything. libc leaves one that was destroyed
// as it is: we mark it, in room that libc does not use.
constexpr u32 kUnusedWord = 6, kDestroyedBarrier = 0x62617264;
static void mark_barrier(pthread_barrier_t* barrier, bool alive) {
  reinterpret_cast<u32*>(barrier)[kUnusedWord] = alive ? 0 : kDestroyedBarrier;
}
static void check_barrier(Thread* t, uptr pc, const pthread_barrier_t* barrier) {
  constexpr u32 kCountWord = 2;
  const u32* words = reinterpret_cast<const u32*>(barrier);
  if ((words[kUnusedWord] == kDestroyedBarrier || words[kCountWord] == 0) && options.report_mutex_bugs)
    misuse(t, pc, Misuse::kInvalidUse, address_of(barrier));
}

SOOTH_INTERCEPT(int, pthread_barrier_init, pthread_barrier_t* barrier, const pthread_barrierattr_t* attributes,
                unsigned count) {
  object_changed(current(), SOOTH_CALLER, barrier);
  int result = real_pthread_barrier_init(barrier, attributes, count);
  if (result == 0) mark_barrier(barrier, true);
  if (result != 0 || current() == nullptr || !turn::taken()) return result;
  begin_operation(current(), SOOTH_CALLER, Op::kCallBegin, address_of(barrier));
  int shared = PTHREAD_PROCESS_PRIVATE;
  if (attributes != nullptr) pthread_barrierattr_getpshared(attributes, &shared);
  Barrier* b = find_barrier(address_of(barrier), shared == PTHREAD_PROCESS_PRIVATE);
  if (b != nullptr) *b = {shared == PTHREAD_PROCESS_PRIVATE ? address_of(barrier) : 0, count, 0, 0};
  return result;
}

SOOTH_INTERCEPT(int, pthread_barrier_destroy, pthread_barrier_t* barrier) {
  if (Thread* t = current()) {
    if (turn::taken()) begin_operation(t, SOOTH_CALLER, Op::kCallBegin, address_of(barrier));
    check_barrier(t, SOOTH_CALLER, barrier);
    object_changed(t, SOOTH_CALLER, barrier);
    Barrier* b = turn::taken() ? find_barrier(address_of(barrier), false) : nullptr;
    if (b != nullptr && b->arrived != 0 && options.report_mutex_bugs)
      misuse(t, SOOTH_CALLER, Misuse::kDestroyLocked, address_of(barrier));
    if (b != nullptr) b->address = 0;
  }
  int result = real_pthread_barrier_destroy(barrier);
  if (result == 0 && current() != nullptr) mark_barrier(barrier, false);
  return result;
}

SOOTH_INTERCEPT(int, pthread_barrier_wait, pthread_barrier_t* barrier) {
  SOOTH_UNSAFE(pthread_barrier_wait);
  Thread* t = current();
  if (t == nullptr) return real_pthread_barrier_wait(barrier);
  object_used(t, SOOTH_CALLER, barrier);
  begin_operation(t, SOOTH_CALLER, Op::kBarrierArrive, address_of(barrier));
  check_barrier(t, SOOTH_CALLER, barrier);
  write_event(t, SOOTH_CALLER, Shape::of(Op::kBarrierArrive), address_of(barrier));
  Barrier* b = turn::taken() ? find_barrier(address_of(barrier), false) : nullptr;
  int result = b != nullptr ? wait_in_turn(t, b) : call_outside(t, [&] { return real_pthread_barrier_wait(barrier); });
  write_event(t, SOOTH_CALLER, Shape::of(Op::kBarrierLeave), address_of(barrier));
  return result;
}

// The first byte of a guard is set when the variable is initialised, and the program itself looks at it with an atomic
// load before it calls anything. So initialisation is recorded as what libstdc++ does: a store of that byte, and loads
// of it.
namespace {

bool some_guard_failed_ = false;

void record_guard(Op op, MemoryOrder order, uptr pc, const u64* guard) {
  Thread* t = current();
  if (t == nullptr || !is_synchronisation_seen(t)) return;
  EventValue initialised = {1, 0};
  write_event(t, pc, Shape::of(op, order, 1), address_of(guard), 0, &initialised);
}

}  // namespace

SOOTH_INTERCEPT(int, __cxa_guard_acquire, u64* guard) {
  if (Thread* t = current()) begin_operation(t, SOOTH_CALLER, Op::kCallBegin, address_of(guard));
  int must_initialise = real___cxa_guard_acquire(guard);
  if (must_initialise == 0) record_guard(Op::kAtomicLoad, MemoryOrder::kAcquire, SOOTH_CALLER, guard);
  if (must_initialise != 0 && __atomic_load_n(&some_guard_failed_, __ATOMIC_RELAXED)) {
    if (Thread* t = current()) write_event(t, SOOTH_CALLER, Shape::of(Op::kHappensAfter), address_of(guard));
  }
  return must_initialise;
}

// An initialisation that throws comes before the next try.
SOOTH_INTERCEPT(void, __cxa_guard_abort, u64* guard) {
  if (Thread* t = current()) {
    begin_operation(t, SOOTH_CALLER, Op::kCallBegin, address_of(guard));
    __atomic_store_n(&some_guard_failed_, true, __ATOMIC_RELAXED);
    write_event(t, SOOTH_CALLER, Shape::of(Op::kHappensBefore), address_of(guard));
  }
  real___cxa_guard_abort(guard);
}

SOOTH_INTERCEPT(void, __cxa_guard_release, u64* guard) {
  if (Thread* t = current()) begin_operation(t, SOOTH_CALLER, Op::kCallBegin, address_of(guard));
  record_guard(Op::kAtomicStore, MemoryOrder::kRelease, SOOTH_CALLER, guard);
  real___cxa_guard_release(guard);
}
