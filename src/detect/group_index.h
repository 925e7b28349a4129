// The groups of a cell, one for each set of locks or each thread: a short chain, and an index behind it where it gets long.
#pragma once

#include <cstdint>
#include <vector>

#include "base/flat_map.h"
#include "order/shadow_memory.h"
#include "trace/event.h"

namespace sooth {

// Programs that nest many locks access a variable with thousands of sets of them, and looking through a chain for each
// new one would take time in proportion to its square. Most cells have one set or two, for which an index would cost
// more than it saves.
//
// Group has the member that tells it from others, `std::uint32_t next` (in its chain; 0: none) and `std::uint32_t rank`, which
// this keeps: larger than those of all groups behind it.
template <typename Group, typename Key = LockSetId, Key Group::*key_member = &Group::locks>
class GroupIndex {
 public:
  // The group of the chain that begins at `head`; 0 when there is none.
  std::uint32_t find(const std::vector<Group>& groups, std::uint32_t head, CellId cell, Key by) const {
    if (head != 0 && groups[head].rank >= kShort) {
      const std::uint32_t* found = index_.find(key(cell, by));
      return found == nullptr ? 0 : *found;
    }
    std::uint32_t g = head;
    while (g != 0 && groups[g].*key_member != by) {
      g = groups[g].next;
    }
    return g;
  }
  // The group has just become the head of its chain.
  void add(std::vector<Group>& groups, std::uint32_t head, CellId cell) {
    const std::uint32_t next = groups[head].next;
    groups[head].rank = next == 0 ? 0 : groups[next].rank + 1;
    if (groups[head].rank > kShort) {
      index_[key(cell, groups[head].*key_member)] = head;
    } else if (groups[head].rank == kShort) {
      for (std::uint32_t g = head; g != 0; g = groups[g].next) {
        index_[key(cell, groups[g].*key_member)] = g;
      }
    }
  }
  // The group leaves its chain.
  void remove(CellId cell, Key by) {
    if (!index_.empty()) {
      index_.erase(key(cell, by));
    }
  }

 private:
  static constexpr std::uint32_t kShort = 8;

  static std::uint64_t key(CellId cell, Key by) { return std::uint64_t{raw(cell)} << 32 | raw(by); }

  FlatMap<std::uint32_t> index_;
};

}  // namespace sooth
