#include "predict/past_clocks.h"

#include <algorithm>

namespace sooth {

PastClocks::PastClocks(const TraceIndex& index, std::size_t max_numbers)
    : index_(index), threads_(index.thread_count()) {
  const std::size_t width = index.thread_count();
  std::vector<std::uint32_t> clock;
  for (EventIndex e = 0; e < index.size() && numbers_.size() + 2 * width <= max_numbers; ++e) {
    const std::uint32_t t = index.thread(e);
    if (!index.predecessors(e).empty()) {
      clock.assign(width, 0);
      for (const EventIndex p : index.predecessors(e)) {
        join(clock, p);
      }
      learn(t, before(e), clock);
    }
    const std::span<const EventIndex> seen = index.has_branches() ? std::span<const EventIndex>{} : index.seen(e);
    for (std::size_t i = 0; i < seen.size(); ++i) {
      if (seen[i] != kNoEvent && index.thread(seen[i]) != t && index.alternatives(e, index.variables(e)[i]).empty()) {
        clock.assign(width, 0);
        join(clock, seen[i]);
        learn(t, after(e), clock);
      }
    }
  }
}

// The event and what its thread knows then has happened.
void PastClocks::join(std::vector<std::uint32_t>& clock, EventIndex executed) const {
  const std::uint32_t thread = index_.thread(executed);
  const std::size_t at = clock_at(thread, after(executed));
  for (std::size_t t = 0; at != kNone && t < clock.size(); ++t) {
    clock[t] = std::max(clock[t], numbers_[at + t]);
  }
  clock[thread] = std::max(clock[thread], index_.position(executed) + 1);
}

void PastClocks::learn(std::uint32_t thread, std::uint64_t moment, std::vector<std::uint32_t>& clock) {
  Thread& own = threads_[thread];
  clock[thread] = 0;  // program order says it
  bool news = own.clocks.empty();
  for (std::size_t t = 0; !own.clocks.empty() && t < clock.size(); ++t) {
    const std::uint32_t known = numbers_[own.clocks.back() + t];
    news = news || clock[t] > known;
    clock[t] = std::max(clock[t], known);
  }
  if (!news) {
    return;
  }
  if (!own.moments.empty() && own.moments.back() == moment) {
    std::copy(clock.begin(), clock.end(), numbers_.begin() + static_cast<std::ptrdiff_t>(own.clocks.back()));
    return;
  }
  own.moments.push_back(moment);
  own.clocks.push_back(numbers_.size());
  numbers_.insert(numbers_.end(), clock.begin(), clock.end());
}

std::size_t PastClocks::clock_at(std::uint32_t thread, std::uint64_t moment) const {
  const Thread& own = threads_[thread];
  const auto next = std::upper_bound(own.moments.begin(), own.moments.end(), moment);
  return next == own.moments.begin() ? kNone : own.clocks[static_cast<std::size_t>(next - own.moments.begin()) - 1];
}

bool PastClocks::needs(EventIndex b, EventIndex a) const {
  const std::size_t at = clock_at(index_.thread(b), before(b));
  return at != kNone && numbers_[at + index_.thread(a)] > index_.position(a);
}

}  // namespace sooth
