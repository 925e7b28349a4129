// Which acquires can wait for each other in a cycle, by the locks that their threads hold in front of them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "predict/trace_index.h"
#include "race/witness.h"

namespace sooth {

// The acquires in the order of the cycle: each wants a lock that the thread of the next one holds in front of its own,
// the last one a lock that the first thread holds. Nothing when they are no such cycle: fewer than two, two of one
// thread, one that waits for nobody (a try, a time limit, a lock that its thread has already), or no order of them.
std::optional<std::vector<EventIndex>> deadlock_cycle(const TraceIndex& index, std::span<const EventId> acquires);

bool share_a_thread(const TraceIndex& index, std::span<const EventIndex> events);

// The examples of an analysis may not be the acquires that can all be next: others of the same sites may.
class SiteCycles {
 public:
  // What may be spent on one set of sites.
  struct Limits {
    std::uint64_t looks = 50'000;  // at acquires
    std::uint64_t cycles = 64;
  };

  // Linear in the trace, which must outlive it.
  explicit SiteCycles(const TraceIndex& index);

  // Calls visit(acquires) for cycles of acquires at the sites of `example`, which is in the order of its cycle, until it
  // returns true, which is then the result. `example` itself is among them.
  bool any_of(std::span<const EventId> example, const std::function<bool(std::span<const EventId>)>& visit) const;

 private:
  bool extend(std::span<const EventId> example, std::vector<EventId>& chosen, Limits& left,
              const std::function<bool(std::span<const EventId>)>& visit) const;
  // Whether the thread of the one acquire, in front of it, has the lock that the other one wants.
  bool holds(EventId acquire, EventId other) const;

  const TraceIndex& index_;
  std::map<SiteId, std::vector<EventId>> by_site_;  // acquires that may wait for ever
};

}  // namespace sooth
