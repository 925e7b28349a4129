// Must-order between any two events of a trace in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "predict/trace_index.h"

namespace sooth {

// Clocks of the events at which a thread learns something: in between they do not change. Memory: threads times those.
class MustClocks {
 public:
  // At most so many numbers are kept; what comes after that is taken to be unordered.
  explicit MustClocks(const TraceIndex& index, std::size_t max_numbers = std::size_t{1} << 27);

  // True only if `a` comes before `b` by must-order (docs/semantics.md section 3, and the extra order of the index), false
  // only if it does not as far as clocks were kept. `a` stands before `b` in the trace and in another thread.
  bool before(EventIndex a, EventIndex b) const;

 private:
  struct Thread {
    std::vector<std::uint32_t> positions;  // ascending
    std::vector<std::size_t> clocks;       // where in numbers_
  };

  // Where the clock of the event is; kNone: it knows of no other thread.
  std::size_t clock_of(EventIndex e) const;

  static constexpr std::size_t kNone = ~std::size_t{0};
  const TraceIndex& index_;
  std::vector<Thread> threads_;
  std::vector<std::uint32_t> numbers_;  // of each clock, by thread: how many of its events come before
};

}  // namespace sooth
