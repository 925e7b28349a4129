// Vector clocks that many places refer to: what a release said, kept for as long as somebody may ask.
#pragma once

#include <cstdint>
#include <vector>

#include "base/flat_map.h"
#include "base/ids.h"
#include "order/packed_clock.h"
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
    const ClockId id = fresh();
    entries_[raw(id)].clock = clock;
    return id;
  }
  const VectorClock& operator[](ClockId id) const { return entries_[raw(id)].clock; }

  // The same, packed, of a clock that is not empty: for many threads and few questions. The operator above and for_each()
  // find an empty clock there, the functions below the right one.
  ClockId add_packed(const VectorClock& clock) {
    const ClockId id = fresh();
    entries_[raw(id)].clock = VectorClock();
    packed_[raw(id)] = PackedClock(clock);
    return id;
  }
  void join_to(ClockId id, VectorClock& clock) const {
    if (const VectorClock& own = (*this)[id]; !own.empty()) [[likely]] {
      clock.join(own);
    } else if (const PackedClock* packed = packed_.find(raw(id))) {
      packed->join_to(clock);
    }
  }
  // `room` is where a packed clock becomes whole again, if it is one.
  const VectorClock& whole(ClockId id, VectorClock& room) const {
    const PackedClock* packed = (*this)[id].empty() ? packed_.find(raw(id)) : nullptr;
    return packed == nullptr ? (*this)[id] : room = packed->unpack();
  }

  void hold(ClockId id) {
    if (id != kNoClock) {
      ++entries_[raw(id)].holders;
    }
  }
  void drop(ClockId id) {
    if (id != kNoClock && --entries_[raw(id)].holders == 0) {
      if (entries_[raw(id)].clock.empty()) {
        packed_.erase(raw(id));
      }
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

  // Held once, with whatever clock its number had before.
  ClockId fresh() {
    ClockId id;
    if (free_.empty()) {
      id = ClockId(entries_.size());
      entries_.emplace_back();
    } else {
      id = free_.back();
      free_.pop_back();
    }
    entries_[raw(id)].holders = 1;
    return id;
  }

  std::vector<Entry> entries_;
  std::vector<ClockId> free_;
  FlatMap<PackedClock> packed_;  // by id
};

}  // namespace sooth
