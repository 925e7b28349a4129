// A whole trace in memory, for analyses that look at it more than once.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "base/status.h"
#include "race/witness.h"
#include "trace/reader.h"

namespace sooth {

// Owns what a TraceView shows.
class TraceStore {
 public:
  // Valid while the store is neither moved nor destroyed.
  TraceView view() const { return {events_, values_, branches_, &tables_, reaches_, deep_}; }
  const Tables& tables() const { return tables_; }
  const TraceInfo& info() const { return info_; }

 private:
  friend Result<TraceStore> load_trace(TraceReader& reader, std::uint64_t max_events, EventId up_to);
  void append(const Batch& batch);

  std::vector<Event> events_;
  std::vector<Value> values_;  // empty, or parallel to events_
  std::vector<Branch> branches_;
  std::vector<Reach> reaches_;
  std::vector<DeepRecord> deep_;
  Tables tables_;
  TraceInfo info_;
};

inline constexpr EventId kWholeTrace{std::numeric_limits<std::uint64_t>::max()};

// The events in front of `up_to` with the branches and deep records in front of them, and the side columns that
// `reader` was opened for, but no values of a trace that is not exact. Refuses more than `max_events`, and what
// TraceValidator refuses. With less than kWholeTrace, what follows is not looked at, so damage there goes unnoticed.
Result<TraceStore> load_trace(TraceReader& reader, std::uint64_t max_events, EventId up_to);

}  // namespace sooth
