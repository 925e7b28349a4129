// Witnesses as they stand in reports, there and back.
#pragma once

#include <cstddef>
#include <vector>

#include "race/finding.h"
#include "race/witness.h"

namespace sooth {

// Orders with more events stand in reports as runs only.
inline constexpr std::size_t kMaxListedOrder = 100;

// Of a witness that check_witness() has accepted: the summary says that it was checked. Linear in trace and witness.
WitnessSummary summarise(const Witness& witness, const TraceView& trace);

// The order that a summary stands for. The run [thread, first, last] is all events of the thread from `first` to
// `last`, which must be two of them. A summary with both lists must say the same with both; one with neither is the
// empty order. The summary may come from anywhere: an error says what is wrong with it, and runs never grow longer
// than the trace. Whether the order is a witness is for check_witness() to say.
Result<std::vector<EventId>> expand(const WitnessSummary& summary, const TraceView& trace);

// How many events of the trace it takes to expand and check the witness of a finding: up to the last one that the
// finding names. As EventId for load_trace().
EventId events_named(const Finding& finding);

}  // namespace sooth
