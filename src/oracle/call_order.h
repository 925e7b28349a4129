// Section 13 of docs/semantics.md word by word: the unseen steps of calls are put into the trace, and whatever touches
// the same bytes as one of them keeps its place. Cubic; for a few dozen events.
#pragma once

#include <span>

#include "oracle/must_order.h"
#include "trace/batch.h"

namespace sooth::oracle {

// Closed under transitivity, with program order. Empty of anything else without reaches.
Relation call_order(std::span<const Event> trace, std::span<const Reach> reaches);

// What section 7 keeps, closed: the hard part of must-order; with reaches all of it, and call order.
Relation kept_order(std::span<const Event> trace, std::span<const Reach> reaches);

// Whether some call of the trace reaches a byte of the access.
bool reached_by_a_call(std::span<const Reach> reaches, const Event& access);

}  // namespace sooth::oracle
