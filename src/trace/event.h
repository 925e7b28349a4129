// One step of one thread: the small record that every detector reads.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/ids.h"

namespace sooth {

enum class EventId : std::uint64_t {};   // position in the recorded trace, from 0
enum class ThreadId : std::uint32_t {};  // dense, in the trace's thread table
enum class SiteId : std::uint32_t {};    // program location, in the trace's site table
enum class StackId : std::uint32_t {};   // call stack, in the trace's stack table; 0 is the empty stack

enum class LockSetId : std::uint32_t {}; // set of locks held, in an analysis's own table (order/lock_set.h); 0 is none

inline constexpr StackId kNoStack{0};
inline constexpr LockSetId kNoLocks{0};

// What a step does. The comment says what `Event::object` is. Values are part of the trace format:
// append, never renumber.
enum class Op : std::uint8_t {
  kRead = 0,          // first byte touched
  kWrite = 1,         // first byte touched
  kAtomicLoad = 2,    // first byte touched; Event::order is the memory order
  kAtomicStore = 3,   // first byte touched
  kAtomicRmw = 4,     // first byte touched; a failed compare-exchange is a load
  kFence = 5,         // 0
  kAcquire = 6,       // lock; with kShared in reader mode
  kRelease = 7,       // lock; with kShared in reader mode
  kNotify = 8,        // condition or signal
  kWait = 9,          // condition or signal: returns from a wait that a notify woke
  kBarrierArrive = 10,  // barrier
  kBarrierLeave = 11,   // barrier
  kSemPost = 12,      // semaphore
  kSemWait = 13,      // semaphore: returns from a wait
  kFork = 14,         // the new thread (a ThreadId)
  kJoin = 15,         // the joined thread (a ThreadId)
  kBegin = 16,        // 0; when present, the first event of its thread
  kEnd = 17,          // 0; when present, the last event of its thread
  kAlloc = 18,        // first byte of the block; Event::size is its length
  kFree = 19,         // first byte of the block; counts as a write to all of it
  kHappensBefore = 20,  // message: an annotation, or bytes put into a pipe, once-initialisation done, ...
  kHappensAfter = 21,   // message: ordered after every earlier kHappensBefore of it
  kEnter = 22,        // function (a SiteId)
  kExit = 23,         // function (a SiteId)
  kCallBegin = 24,    // call: something that is not recorded starts; its reach is a side column
  kCallEnd = 25,      // call: ... and is over
};
inline constexpr int kOpCount = 26;

// C++ memory orders, with kNotAtomic for plain accesses and everything that is no access.
enum class MemoryOrder : std::uint8_t { kNotAtomic, kRelaxed, kConsume, kAcquire, kRelease, kAcqRel, kSeqCst };
inline constexpr int kMemoryOrderCount = 7;

// Bits of Event::flags.
inline constexpr std::uint8_t kShared = 1;  // reader mode of kAcquire and kRelease
inline constexpr std::uint8_t kAllFlags = kShared;

// Trivially copyable; the event's id is its position. Values, stacks, branches and the reach of calls are
// side columns (trace/batch.h).
struct Event {
  std::uint64_t object = 0;  // see Op
  ThreadId thread{};
  SiteId site{};
  std::uint32_t size = 0;    // bytes: accesses, kAlloc, kFree; else 0. Longer blocks are recorded in parts.
  Op op = Op::kRead;
  MemoryOrder order = MemoryOrder::kNotAtomic;
  std::uint8_t flags = 0;
  std::uint8_t reserved = 0;  // 0

  friend bool operator==(const Event&, const Event&) = default;
};
static_assert(sizeof(Event) == 24);

constexpr bool is_access(Op op) { return op <= Op::kAtomicRmw; }
constexpr bool is_atomic(Op op) { return op >= Op::kAtomicLoad && op <= Op::kAtomicRmw; }
constexpr bool is_write(Op op) {
  return op == Op::kWrite || op == Op::kAtomicStore || op == Op::kAtomicRmw || op == Op::kFree;
}
constexpr bool is_read(Op op) { return op == Op::kRead || op == Op::kAtomicLoad || op == Op::kAtomicRmw; }
constexpr bool is_shared(const Event& e) { return (e.flags & kShared) != 0; }
constexpr bool acquires(MemoryOrder order) {
  return order == MemoryOrder::kAcquire || order == MemoryOrder::kConsume || order == MemoryOrder::kAcqRel ||
         order == MemoryOrder::kSeqCst;
}
constexpr bool releases(MemoryOrder order) {
  return order == MemoryOrder::kRelease || order == MemoryOrder::kAcqRel || order == MemoryOrder::kSeqCst;
}

// The kinds of thing `Event::object` names. Objects of different kinds may have equal numbers.
enum class ObjectKind : std::uint8_t {
  kNone, kMemory, kLock, kSignal, kBarrier, kSemaphore, kThread, kMessage, kFunction, kCall
};
inline constexpr int kObjectKindCount = 10;

ObjectKind object_kind(Op op);

// "write", "atomic load", ...: for people and for JSON.
std::string_view op_name(Op op);
// "relaxed", "acq_rel", ...; "" for kNotAtomic.
std::string_view memory_order_name(MemoryOrder order);
// "variable", "lock", "thread", ...
std::string_view object_kind_name(ObjectKind kind);

}  // namespace sooth
