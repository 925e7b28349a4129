// The order that calls impose of which only begin, end and reach were recorded: BarrierPairs, as Algorithms 5 and 6 of
// RDIT have them (Section 4.4 of the thesis), with the repairs of docs/semantics.md section 13.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "predict/trace_index.h"
#include "race/witness.h"
#include "trace/batch.h"
#include "trace/tables.h"

namespace sooth {

// Edges whose closure with program order is the call order of docs/semantics.md section 13, sorted by `to`. The events
// are a well-formed trace or a prefix of one; reaches of calls behind its end are ignored.
//
// One sweep. An event costs a logarithm in the number of ranges times the threads that touched the same ranges, plus
// one comparison of ranges for each call that is open at the time; an edge is left out when an earlier one of the same
// threads implies it. So edges grow with the events times the threads, in practice with the events.
std::vector<ExtraOrder> barrier_order(std::span<const Event> events, std::span<const Reach> reaches);

// A trace with calls as the predictors are to see it. Without calls that reach something it is the trace itself.
class BarrierTrace {
 public:
  // `trace` must outlive it.
  explicit BarrierTrace(const TraceView& trace);

  // Without branches, and without values of bytes that calls reach: section 13 says why. Valid while this is neither
  // moved nor destroyed.
  const TraceView& view() const { return view_; }
  std::span<const ExtraOrder> order() const { return order_; }

 private:
  std::vector<Value> values_;
  std::vector<ExtraOrder> order_;
  TraceView view_;
};

// The ranges of memory that the variables of these names occupy, as reaches of event 0; the error names what the trace
// does not know. A name is that of an object or of a range.
Result<std::vector<Reach>> find_globals(const Tables& tables, std::span<const Event> events,
                                        std::span<const std::string> names);

// `reaches` with the ranges added to those of every call, also of calls that have none.
std::vector<Reach> with_globals(std::span<const Event> events, std::span<const Reach> reaches,
                                std::span<const Reach> globals);

}  // namespace sooth
