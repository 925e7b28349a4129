// A part of a trace that is reordered while the rest stands as recorded.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "predict/trace_index.h"

namespace sooth {

// The events from `first` up to (not including) `end`: what comes before has happened as recorded, what comes after
// never happens. By thread, as positions in events_of().
struct Window {
  EventIndex begin = 0;              // its first event
  std::vector<std::uint32_t> floor;  // how many have happened
  std::vector<std::uint32_t> limit;  // how many may happen

  explicit Window(const TraceIndex& index) : Window(index, 0, static_cast<EventIndex>(index.size())) {}
  Window(const TraceIndex& index, EventIndex first, EventIndex end);

  // Whether the event has happened before the window.
  bool is_past(const TraceIndex& index, EventIndex e) const { return index.position(e) < floor[index.thread(e)]; }
};

// Windows of `size` events begin every `size` / 2 events; a pair belongs to the last one but one that its second access
// is in, which has the most in front of it.
class Windows {
 public:
  Windows(const TraceIndex& index, std::uint64_t size)
      : index_(index), half_(size == 0 ? 0 : std::max<std::uint64_t>(size / 2, 1)) {}

  // There is but one.
  bool is_whole() const { return half_ == 0 || 2 * half_ >= index_.size(); }
  EventIndex begin(EventIndex second) const {
    return is_whole() || second < half_ ? 0 : static_cast<EventIndex>((second / half_ - 1) * half_);
  }
  Window window(EventIndex second) const {
    const std::uint64_t end = is_whole() ? index_.size() : begin(second) + 2 * half_;
    return Window(index_, begin(second), static_cast<EventIndex>(std::min<std::uint64_t>(end, index_.size())));
  }

 private:
  const TraceIndex& index_;
  const std::uint64_t half_;
};

}  // namespace sooth
