// Locks that a program made of an atomic or a semaphore, as far as every correct reordering has to respect them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/flat_map.h"
#include "predict/past_clocks.h"
#include "predict/trace_index.h"

namespace sooth {

// An atomic variable is such a lock when one of its values, what the first rmw found, means *free*:
// - an rmw that found it is a *take*, and no other take saw a take;
// - a write of it (a store with that value on record, or any write that a take saw) is a *give*, and its thread has
//   taken, and not given since. Other writes of it come before all takes whatever the order.
// A take needs a give to see (docs/semantics.md section 7: what an rmw leaves is not on record, so that no other read may
// see it), and from a take on there is none, until its thread gives. So no two threads are between take and give.
//
// A semaphore is one when it has one at first, posts included before which their thread has not waited: then it lets one
// thread at a time through.
//
// That follows from the definition of reorderings, and only saves asking. Nothing is recognised in traces with branches,
// where reads may see anything, nor with an index that keeps all of must-order. Linear in the trace.
class MadeLocks {
 public:
  MadeLocks(const TraceIndex& index, const PastClocks& past);

  // The lock that the event takes or gives; a number that is no address. The event itself is not inside when it takes,
  // and is when it gives.
  std::optional<std::uint64_t> taken(EventIndex e) const { return of(takes_, e); }
  std::optional<std::uint64_t> given(EventIndex e) const { return of(gives_, e); }
  std::size_t count() const { return count_; }

 private:
  static std::optional<std::uint64_t> of(const FlatMap<std::uint64_t>& events, EventIndex e) {
    const std::uint64_t* lock = events.find(e);
    return lock == nullptr ? std::nullopt : std::optional(*lock);
  }

  void look_at_atomic(VariableIndex variable, std::span<const EventIndex> accesses, const PastClocks& past);
  void look_at_semaphore(std::uint32_t number);
  void note(std::uint64_t lock, std::span<const EventIndex> takes, std::span<const EventIndex> gives);

  const TraceIndex& index_;
  FlatMap<std::uint64_t> takes_, gives_;  // by event
  std::size_t count_ = 0;
};

}  // namespace sooth
