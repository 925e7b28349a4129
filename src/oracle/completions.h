// Traces of which a part is hidden in calls, and what may have been there: docs/semantics.md section 13.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "oracle/explorer.h"
#include "oracle/minimise.h"

namespace sooth::oracle {

// A trace and, for each of its events, which one of another trace it is.
struct Completion {
  std::vector<Event> events;                   // no calls with a reach any more: all is there
  std::vector<std::optional<Index>> observed;  // nothing: it was put in

  // The races among events that were observed, as pairs of the trace that was completed.
  std::vector<std::pair<EventId, EventId>> observed_races(const Exploration& exploration) const;
};

// Puts calls around some stretches of what threads do in a complete trace and drops some or all of what is in
// them. The reach is what the dropped events touch, and sometimes more; a dropped fence makes it everything. Threads
// are started, joined and ended, and memory is allocated, in the open. `complete` is set to the trace that was given,
// as a completion of the result.
CallTrace hide(std::span<const Event> complete_trace, std::uint64_t seed, Completion& complete);

// Some unseen events: reads, writes, atomic accesses of all orders, sections of a lock.
Completion random_completion(const CallTrace& trace, std::uint64_t seed);

// All unseen steps of section 13, as messages between all that touches a common byte. Only for reaches without what
// takes turns.
Completion fullest_completion(const CallTrace& trace);

}  // namespace sooth::oracle
