// Which accesses conflict with a given one, in time linear in what the accesses touch.
#pragma once

#include <cstdint>
#include <vector>

#include "base/stop_poll.h"
#include "predict/trace_index.h"

namespace sooth {

class Conflicts {
 public:
  // The index must outlive it.
  explicit Conflicts(const TraceIndex& index) : index_(index) {}

  // From now on the others are compared with this access or free.
  void choose(EventIndex event);
  // Whether the accesses are of different threads, one of them writes, not both are atomic, and some byte of the same
  // generation is touched by both. False as well when `poll` has stopped.
  bool conflicts_with(EventIndex other, StopPoll& poll) const;

 private:
  const TraceIndex& index_;
  EventIndex chosen_ = kNoEvent;
  std::uint32_t round_ = 0;
  std::vector<std::uint32_t> touched_;  // by variable: the last round in which the chosen access touches it
};

}  // namespace sooth
