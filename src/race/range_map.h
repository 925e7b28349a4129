// Values of stretches of addresses, for blocks too long to be looked at byte by byte.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>

namespace sooth {

// Both ends of a range are in it, so that the last byte of the address space can be. Assigning costs O(log n),
// amortised over the ranges that it covers up.
template <typename V>
class RangeMap {
 public:
  bool empty() const { return ranges_.empty(); }

  void assign(std::uint64_t first, std::uint64_t last, const V& value) {
    erase(first, last);
    ranges_.emplace(first, Range{last, value});
  }

  // nullptr where nothing was assigned.
  const V* find(std::uint64_t address) const {
    auto it = ranges_.upper_bound(address);
    if (it == ranges_.begin() || (--it)->second.last < address) {
      return nullptr;
    }
    return &it->second.value;
  }

  // Calls visit(first, last, value) for the pieces of [first, last] in ascending order; value is nullptr in the gaps.
  template <typename Visit>
  void for_each(std::uint64_t first, std::uint64_t last, Visit&& visit) const {
    auto it = ranges_.upper_bound(first);
    if (it != ranges_.begin() && std::prev(it)->second.last >= first) {
      --it;
    }
    for (; it != ranges_.end() && it->first <= last; ++it) {
      if (it->first > first) {
        visit(first, it->first - 1, static_cast<const V*>(nullptr));
        first = it->first;
      }
      const std::uint64_t end = std::min(it->second.last, last);
      visit(first, end, &it->second.value);
      if (end == last) {
        return;
      }
      first = end + 1;
    }
    visit(first, last, static_cast<const V*>(nullptr));
  }

 private:
  struct Range {
    std::uint64_t last;
    V value;
  };

  // Ranges that reach over an end of [first, last] are cut.
  void erase(std::uint64_t first, std::uint64_t last) {
    auto it = ranges_.lower_bound(first);
    if (it != ranges_.begin()) {
      Range& before = std::prev(it)->second;
      if (before.last > last) {
        ranges_.emplace_hint(it, last + 1, before);
      }
      before.last = std::min(before.last, first - 1);
    }
    while (it != ranges_.end() && it->first <= last) {
      if (it->second.last > last) {
        ranges_.emplace(last + 1, it->second);
      }
      it = ranges_.erase(it);
    }
  }

  std::map<std::uint64_t, Range> ranges_;  // by first address; disjoint
};

}  // namespace sooth
