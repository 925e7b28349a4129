// Section 7 of docs/semantics.md over all pairs of events: judges the witness checker. Cubic; for a few dozen
// events. Unlike the checker it acts nothing out: it looks at the positions of events in the order, at the closure
// of must-order and at whole lock sections.
#pragma once

#include <string>

#include "race/witness.h"

namespace sooth::oracle {

// Empty when the witness is one, else the rule that it breaks. `trace` is well-formed, the witness may be anything.
std::string why_no_witness(const TraceView& trace, const Witness& witness);

}  // namespace sooth::oracle
