// Which accesses have others in their past whatever the order: those cannot meet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "predict/trace_index.h"

namespace sooth {

// By must-order and, in a trace without branches, by what reads saw for which no other write is admissible. Clocks of
// the events at which a thread learns something: in between they do not change. Memory: threads times those.
class PastClocks {
 public:
  // At most so many numbers are kept; after that nothing more is learnt.
  explicit PastClocks(const TraceIndex& index, std::size_t max_numbers = std::size_t{1} << 25);

  // True only if no correct reordering has `b` next without having executed `a`, which stands before it in the trace
  // and in another thread. What `b` itself reads does not matter for that. If it is true then also of all events before
  // `a` in its thread.
  bool needs(EventIndex b, EventIndex a) const;

 private:
  struct Thread {
    std::vector<std::uint64_t> moments;  // ascending: from then on ...
    std::vector<std::size_t> clocks;     // ... where in numbers_
  };

  // Moments of a thread. What must-order tells it counts before its event, what the event reads after it.
  std::uint64_t before(EventIndex e) const { return std::uint64_t{2} * index_.position(e); }
  std::uint64_t after(EventIndex e) const { return before(e) + 1; }

  void learn(std::uint32_t thread, std::uint64_t moment, std::vector<std::uint32_t>& clock);
  void join(std::vector<std::uint32_t>& clock, EventIndex executed) const;
  // Where the clock of the thread is; kNone: it knows of no other thread.
  std::size_t clock_at(std::uint32_t thread, std::uint64_t moment) const;

  static constexpr std::size_t kNone = ~std::size_t{0};
  const TraceIndex& index_;
  std::vector<Thread> threads_;
  std::vector<std::uint32_t> numbers_;  // of each clock, by thread: how many of its events have happened
};

}  // namespace sooth
