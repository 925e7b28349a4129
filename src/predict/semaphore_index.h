// The semaphores of a trace in memory, which are counters in a reordering (docs/semantics.md section 7).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/flat_map.h"
#include "predict/condition_index.h"
#include "trace/event.h"

namespace sooth {

// Built in one pass over the trace, and one over the operations. Read-only afterwards.
class SemaphoreIndex {
 public:
  // `counts` false: there are none, all keep their order.
  SemaphoreIndex(std::span<const Event> events, bool counts);

  struct Semaphore {
    std::uint32_t first = 0;  // what it held at first
    std::vector<EventIndex> posts, waits;
  };
  std::span<const Semaphore> semaphores() const { return semaphores_; }

  // A post or wait that counts.
  struct Operation {
    std::uint32_t semaphore = 0;
    EventIndex took = kNoEvent;  // of a wait: the oldest post that no wait before it had taken
  };
  // nullptr: the event is none.
  const Operation* operation(EventIndex e) const {
    const std::uint32_t* at = numbers_.find(e);
    return at == nullptr ? nullptr : &operations_[*at];
  }
  // Posts without which the wait never gets through. Of one that does not count, the post that it took.
  std::span<const EventIndex> needs(EventIndex wait) const {
    const std::vector<EventIndex>* all = needs_.find(wait);
    return all == nullptr ? std::span<const EventIndex>{} : std::span<const EventIndex>(*all);
  }

 private:
  void find_operations(std::span<const Event> events);
  void find_needs(std::span<const Event> events, const Semaphore& semaphore);

  std::vector<Semaphore> semaphores_;
  std::vector<Operation> operations_;
  FlatMap<std::uint32_t> numbers_;          // of operations, by event
  FlatMap<std::vector<EventIndex>> needs_;  // by wait
};

}  // namespace sooth
