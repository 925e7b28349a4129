#include "predict/must_clocks.h"

#include <algorithm>

namespace sooth {

MustClocks::MustClocks(const TraceIndex& index, std::size_t max_numbers) : index_(index), threads_(index.thread_count()) {
  const std::size_t width = index.thread_count();
  std::vector<std::uint32_t> clock;
  for (EventIndex e = 0; e < index.size() && numbers_.size() + width <= max_numbers; ++e) {
    if (index.predecessors(e).empty()) {
      continue;
    }
    Thread& thread = threads_[index.thread(e)];
    clock.assign(width, 0);
    const auto join = [&](std::size_t at) {
      for (std::size_t t = 0; at != kNone && t < width; ++t) {
        clock[t] = std::max(clock[t], numbers_[at + t]);
      }
    };
    join(thread.clocks.empty() ? kNone : thread.clocks.back());
    for (const EventIndex p : index.predecessors(e)) {
      join(clock_of(p));
      clock[index.thread(p)] = std::max(clock[index.thread(p)], index.position(p) + 1);
    }
    thread.positions.push_back(index.position(e));
    thread.clocks.push_back(numbers_.size());
    numbers_.insert(numbers_.end(), clock.begin(), clock.end());
  }
}

std::size_t MustClocks::clock_of(EventIndex e) const {
  const Thread& thread = threads_[index_.thread(e)];
  const auto next = std::upper_bound(thread.positions.begin(), thread.positions.end(), index_.position(e));
  return next == thread.positions.begin() ? kNone : thread.clocks[next - thread.positions.begin() - 1];
}

bool MustClocks::before(EventIndex a, EventIndex b) const {
  const std::size_t at = clock_of(b);
  return at != kNone && numbers_[at + index_.thread(a)] > index_.position(a);
}

}  // namespace sooth
