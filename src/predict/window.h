// A part of a trace that is reordered while the rest stands as recorded.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "predict/trace_index.h"

namespace sooth {

// The events from `first` up to (not including) `end`: what comes before has happened as recorded, what comes after never
// happens. By thread, as positions in events_of().
struct Window {
  EventIndex begin = 0;              // its first event
  std::vector<std::uint32_t> floor;  // how many have happened
  std::vector<std::uint32_t> limit;  // how many may happen

  explicit Window(const TraceIndex& index) : Window(index, 0, static_cast<EventIndex>(index.size())) {}
  Window(const TraceIndex& index, EventIndex first, EventIndex end);

  // Whether the event has happened before the window.
  bool is_past(const TraceIndex& index, EventIndex e) const { return index.position(e) < floor[index.thread(e)]; }
};

}  // namespace sooth
