// What changes the context of a thread in TREE (docs/tree.md). Freestanding: the filter in front of the detectors and
// the one inside the recorded program go by the same rules.
#pragma once

#include <cstdint>

#include "trace/op.h"

namespace sooth {

// Whether a must-order edge may start at the event, or somebody else's wait may need it: a message that others can get.
constexpr bool sends_message(Op op, MemoryOrder order) {
  switch (op) {
    case Op::kFork:
    case Op::kNotify:
    case Op::kCondNotify:
    case Op::kBarrierArrive:
    case Op::kSemPost:
    case Op::kHappensBefore: return true;
    case Op::kAtomicStore:
    case Op::kAtomicRmw:
    case Op::kFence: return releases(order);
    case Op::kAcquire:  // sections have rules of their own
    case Op::kRelease:
    case Op::kRead:
    case Op::kWrite:
    case Op::kAtomicLoad:
    case Op::kWait:
    case Op::kBarrierLeave:
    case Op::kSemWait:
    case Op::kJoin:
    case Op::kBegin:
    case Op::kEnd:
    case Op::kAlloc:
    case Op::kFree:
    case Op::kHappensAfter:
    case Op::kEnter:
    case Op::kExit:
    case Op::kCallBegin:
    case Op::kCallEnd:
    case Op::kMisuse:
    case Op::kCondWait:
    case Op::kAcquireFailed: return false;
  }
  return false;
}

// How a thread used a lock, for contexts that only a lock which changes hands, or is left behind, makes new. The part
// of the lock in the thread's count is while_held inside its sections and `releases` outside; open() and close() return
// the change, modulo 2^64.
struct LockCounts {
  std::uint64_t releases = 0;            // outermost, by this thread
  std::uint64_t exclusive_releases = 0;  // ... of exclusive sections
  std::uint64_t own = 0;                 // acquires and releases of this thread among those of all
  std::uint64_t while_held = 0;
  bool shared = false;  // the section that is open

  // `all`: outermost acquires and releases of the lock by anybody, before this one. Those of others are what the thread
  // may have learnt by this acquire, or others by its releases before.
  constexpr std::uint64_t open(std::uint64_t all, bool is_shared) {
    shared = is_shared;
    while_held = all - own + (shared ? exclusive_releases : 0);
    ++own;
    return while_held - releases;
  }
  constexpr std::uint64_t close() {
    ++own;
    ++releases;
    exclusive_releases += shared ? 0 : 1;
    return releases - while_held;
  }
};

}  // namespace sooth
