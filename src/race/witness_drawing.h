// What of a reordering people get to see.
#pragma once

#include <cstddef>
#include <optional>

#include "race/finding.h"
#include "race/witness.h"

namespace sooth {

// So many events of a reordering stand in a report with their names.
inline constexpr std::size_t kMaxDrawnEvents = 240;

// `summary` has the runs and the swaps of `witness`. What always stands in the drawing: the critical sections of the
// swaps, those that are open at the end, and who started the threads of witness.next. Then, from the end on,
// synchronisation, the first and last event of each run, and accesses to bytes of witness.next. Nothing when the trace
// has no names. Linear in the witness.
std::optional<WitnessDrawing> draw(const Witness& witness, const WitnessSummary& summary, const TraceView& trace);

}  // namespace sooth
