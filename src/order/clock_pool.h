// Vector clocks that many places refer to: what a release said, kept for as long as somebody may ask.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "order/vector_clock.h"

namespace sooth {

enum class ClockId : std::uint32_t {};  // 0 is none
inline constexpr ClockId kNoClock{0};

// Reference-counted by hand, because the holders are plain records that are copied in bulk. Memory of clocks that
// nobody holds is used again.
class ClockPool {
 public:
  ClockPool() : entries_(1) {}

  // A copy of `clock`, held once.
  ClockId add(const VectorClock& clock) {
    ClockId id;
    if (free_.empty()) {
      id = ClockId(entries_.size());
      entries_.emplace_back();
    } else {
      id = free_.back();
      free_.pop_back();
    }
    entries_[raw(id)].clock = clock;
    entries_[raw(id)].holders = 1;
    return id;
  }
  const VectorClock& operator[](ClockId id) const { return entries_[raw(id)].clock; }

  void hold(ClockId id) {
    if (id != kNoClock) {
      ++entries_[raw(id)].holders;
    }
  }
  void drop(ClockId id) {
    if (id != kNoClock && --entries_[raw(id)].holders == 0) {
      free_.push_back(id);
    }
  }

  // Calls visit(ClockId, const VectorClock&, holders) for every clock that somebody holds.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (std::uint32_t i = 1; i < entries_.size(); ++i) {
      if (entries_[i].holders != 0) {
        visit(ClockId{i}, entries_[i].clock, entries_[i].holders);
      }
    }
  }
  // Above all ids so far.
  std::size_t end() const { return entries_.size(); }

  std::size_t live() const { return entries_.size() - 1 - free_.size(); }

 private:
  struct Entry {
    VectorClock clock;
    std::uint32_t holders = 0;
  };
  std::vector<Entry> entries_;
  std::vector<ClockId> free_;
};

}  // namespace sooth
