// What a step of a thread can be. Freestanding, because the run time library inside the recorded program names the same
// things by the same numbers; event.h is for everybody else.
#pragma once

#include <cstdint>

namespace sooth {

// What a step does. The comment says what `Event::object` is. Values are part of the trace format:
// append, never renumber.
enum class Op : std::uint8_t {
  kRead = 0,            // first byte touched
  kWrite = 1,           // first byte touched
  kAtomicLoad = 2,      // first byte touched; Event::order is the memory order
  kAtomicStore = 3,     // first byte touched
  kAtomicRmw = 4,       // first byte touched; a failed compare-exchange is a load
  kFence = 5,           // 0
  kAcquire = 6,         // lock; with kShared in reader mode; with kTry or kTimed by a call that never waits for ever
  kRelease = 7,         // lock; with kShared in reader mode
  kNotify = 8,          // signal
  kWait = 9,            // signal: returns from a wait that a notify woke
  kBarrierArrive = 10,  // barrier
  kBarrierLeave = 11,   // barrier
  kSemPost = 12,        // semaphore
  kSemWait = 13,        // semaphore: returns from a wait
  kFork = 14,           // the new thread (a ThreadId)
  kJoin = 15,           // the joined thread (a ThreadId)
  kBegin = 16,          // 0; when present, the first event of its thread
  kEnd = 17,            // 0; when present, the last event of its thread
  kAlloc = 18,          // first byte of the block; Event::size is its length
  kFree = 19,           // first byte of the block; counts as a write to all of it
  kHappensBefore = 20,  // message: an annotation, or bytes put into a pipe, once-initialisation done, ...
  kHappensAfter = 21,   // message: ordered after every earlier kHappensBefore of it
  kEnter = 22,          // function (a SiteId)
  kExit = 23,           // function (a SiteId)
  kCallBegin = 24,      // call: something that is not recorded starts; its reach is a side column
  kCallEnd = 25,        // call: ... and is over
  kMisuse = 26,         // lock, or what MisuseKind says; Event::size is a MisuseKind. Orders nothing
  kAcquireFailed = 27,  // lock; a try (kTry) that found it taken, or a wait for it (kTimed) that was over before it was
                        // free; with kShared in reader mode
  kCondNotify = 28,     // condition variable: one of those that wait for it may go on; with kEverybody all of them
  kCondWait = 29,       // condition variable: a wait is over, between the release and the acquire of its mutex; with
                        // kTimed because its time was
};
inline constexpr int kOpCount = 30;

// What a kMisuse event reports: a call that the rules of locks, threads and signals forbid, seen when it was made. Values
// are part of the trace format, too.
enum class MisuseKind : std::uint8_t {
  kDoubleLock = 1,         // acquires a lock that is not re-entrant and that it holds
  kUnlockUnlocked = 2,     // releases a lock that nobody holds
  kUnlockWrongThread = 3,  // releases a lock that another thread holds
  kDestroyLocked = 4,      // destroys a lock that somebody holds
  kInvalidUse = 5,         // uses a lock that is not initialised, or no more
  kReadUnlockBad = 6,      // releases in reader mode what is held exclusively
  kThreadLeak = 7,         // the program ends with a thread, the object, that was neither joined nor detached
  kReadLockBad = 8,        // acquires in reader mode what it holds exclusively
  kDestroy = 9,            // destroys a lock that nobody holds: forbidden only if nothing keeps others from using it
  kSignalUnsafe = 10,  // a signal handler calls a function, the object (unsafe_calls.h), that it may have interrupted
  kSignalErrno = 11,   // the handler of a signal, the object, leaves another errno behind
  kUseAfterFree = 12,  // uses memory that was freed; not in traces, which have the two events themselves
};
inline constexpr int kMisuseKindCount = 13;  // with 0, which is none

// C++ memory orders, with kNotAtomic for plain accesses and everything that is no access.
enum class MemoryOrder : std::uint8_t { kNotAtomic, kRelaxed, kConsume, kAcquire, kRelease, kAcqRel, kSeqCst };
inline constexpr int kMemoryOrderCount = 7;

// Bits of Event::flags.
inline constexpr std::uint8_t kShared = 1;  // reader mode of kAcquire, kRelease and kAcquireFailed
// How a kAcquire or kAcquireFailed was made, one of them at most. A kAcquire without them waits for as long as it takes.
inline constexpr std::uint8_t kTry = 2;        // does not wait at all
inline constexpr std::uint8_t kTimed = 4;      // waits up to some time; of kCondWait: waited in vain for as long
inline constexpr std::uint8_t kEverybody = 1;  // kCondNotify: all that wait may go on
inline constexpr std::uint8_t kAllFlags = kShared | kTry | kTimed;

constexpr bool is_condition_op(Op op) { return op == Op::kCondNotify || op == Op::kCondWait; }
constexpr bool is_lock_op(Op op) { return op == Op::kAcquire || op == Op::kRelease || op == Op::kAcquireFailed; }
constexpr bool is_signal_misuse(MisuseKind kind) {
  return kind == MisuseKind::kSignalUnsafe || kind == MisuseKind::kSignalErrno;
}
constexpr bool is_misuse_kind(std::uint32_t number) { return number > 0 && number < kMisuseKindCount; }
constexpr bool is_access(Op op) { return op <= Op::kAtomicRmw; }
constexpr bool is_atomic(Op op) { return op >= Op::kAtomicLoad && op <= Op::kAtomicRmw; }
constexpr bool is_write(Op op) {
  return op == Op::kWrite || op == Op::kAtomicStore || op == Op::kAtomicRmw || op == Op::kFree;
}
constexpr bool is_read(Op op) { return op == Op::kRead || op == Op::kAtomicLoad || op == Op::kAtomicRmw; }
constexpr bool acquires(MemoryOrder order) {
  return order == MemoryOrder::kAcquire || order == MemoryOrder::kConsume || order == MemoryOrder::kAcqRel ||
         order == MemoryOrder::kSeqCst;
}
constexpr bool releases(MemoryOrder order) {
  return order == MemoryOrder::kRelease || order == MemoryOrder::kAcqRel || order == MemoryOrder::kSeqCst;
}

// The kinds of thing `Event::object` names. Objects of different kinds may have equal numbers.
enum class ObjectKind : std::uint8_t {
  kNone,
  kMemory,
  kLock,
  kSignal,
  kBarrier,
  kSemaphore,
  kThread,
  kMessage,
  kFunction,
  kCall
};
inline constexpr int kObjectKindCount = 10;

}  // namespace sooth
