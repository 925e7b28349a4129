// What an event means for analyses that follow order: many ops, few cases.
#pragma once

#include "trace/event.h"

namespace sooth {

enum class Role : std::uint8_t {
  kAccess,  // plain or atomic: memory, and for atomics edges before and after
  kAlloc,
  kFree,
  kAcquire,
  kRelease,
  kEdge,  // must-order edges only (order/must_order.h)
  kNone,  // no order, no memory
};

constexpr Role role_of(Op op) {
  switch (op) {
    case Op::kRead:
    case Op::kWrite:
    case Op::kAtomicLoad:
    case Op::kAtomicStore:
    case Op::kAtomicRmw: return Role::kAccess;
    case Op::kAlloc: return Role::kAlloc;
    case Op::kFree: return Role::kFree;
    case Op::kAcquire: return Role::kAcquire;
    case Op::kRelease: return Role::kRelease;
    case Op::kFence:
    case Op::kNotify:
    case Op::kWait:
    case Op::kBarrierArrive:
    case Op::kBarrierLeave:
    case Op::kSemPost:
    case Op::kSemWait:
    case Op::kFork:
    case Op::kJoin:
    case Op::kHappensBefore:
    case Op::kHappensAfter: return Role::kEdge;
    case Op::kBegin:
    case Op::kEnd:
    case Op::kEnter:
    case Op::kExit:
    case Op::kCallBegin:
    case Op::kCallEnd:
    case Op::kMisuse:
    case Op::kCondNotify:
    case Op::kCondWait:
    case Op::kAcquireFailed: return Role::kNone;
  }
  return Role::kNone;
}

}  // namespace sooth
