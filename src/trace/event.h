// One step of one thread: the small record that every detector reads.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/ids.h"
#include "trace/op.h"

namespace sooth {

enum class EventId : std::uint64_t {};   // position in the recorded trace, from 0
enum class ThreadId : std::uint32_t {};  // dense, in the trace's thread table
enum class SiteId : std::uint32_t {};    // program location, in the trace's site table
enum class StackId : std::uint32_t {};   // call stack, in the trace's stack table; 0 is the empty stack

// Set of locks held, in an analysis's own table (order/lock_set.h); 0 is none.
enum class LockSetId : std::uint32_t {};

inline constexpr StackId kNoStack{0};
inline constexpr LockSetId kNoLocks{0};

// Trivially copyable; the event's id is its position. Values, stacks, branches and the reach of calls are
// side columns (trace/batch.h).
struct Event {
  std::uint64_t object = 0;  // see Op
  ThreadId thread{};
  SiteId site{};
  // Bytes: accesses, kAlloc, kFree (longer blocks are recorded in parts); a MisuseKind: kMisuse; else 0.
  std::uint32_t size = 0;
  Op op = Op::kRead;
  MemoryOrder order = MemoryOrder::kNotAtomic;
  std::uint8_t flags = 0;
  std::uint8_t reserved = 0;  // 0

  friend bool operator==(const Event&, const Event&) = default;
};
static_assert(sizeof(Event) == 24);

constexpr bool is_shared(const Event& e) { return (e.flags & kShared) != 0; }
// An acquire that waits until it gets the lock, so that it may be waiting for ever.
constexpr bool may_wait_for_ever(const Event& e) { return e.op == Op::kAcquire && (e.flags & (kTry | kTimed)) == 0; }

// A condition wait that somebody woke.
constexpr bool was_woken(const Event& e) { return e.op == Op::kCondWait && (e.flags & kTimed) == 0; }
constexpr bool notifies_everybody(const Event& e) { return e.op == Op::kCondNotify && (e.flags & kEverybody) != 0; }

// What kind of thing the object of an event is. The op decides, but for a kMisuse: by the op alone a lock, by the event
// the thread when that is what is misused.
ObjectKind object_kind(Op op);
ObjectKind object_kind(const Event& event);

// "write", "atomic load", ...: for people and for JSON.
std::string_view op_name(Op op);
// "relaxed", "acq_rel", ...; "" for kNotAtomic.
std::string_view memory_order_name(MemoryOrder order);
// "double_lock", "thread_leak", ...: for STD text and for JSON; "unknown" for what is no kind.
std::string_view misuse_kind_name(MisuseKind kind);
// "variable", "lock", "thread", ...
std::string_view object_kind_name(ObjectKind kind);

}  // namespace sooth
