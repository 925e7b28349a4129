// Atomic accesses of locks that the program made, in the view of a trace that has those locks.
#pragma once

#include "trace/event.h"

namespace sooth {

// An atomic access without a memory order: it orders nothing, because the lock does (order/lock_view.h). Traces have none.
constexpr bool is_of_made_lock(const Event& e) { return is_atomic(e.op) && e.order == MemoryOrder::kNotAtomic; }

}  // namespace sooth
