#include "filter/location_table.h"

#include <algorithm>
#include <utility>

namespace sooth {
namespace {

constexpr std::size_t kFirstSets = 512;      // 32 KB
constexpr std::size_t kLastSets = 1u << 31;  // what the upper half of a hash can tell apart

std::size_t sets_for(std::uint64_t locations) {
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(locations / LocationSet::kWays, 1, kLastSets));
}
// Growing costs about as much as so many evictions cost later.
std::uint64_t tolerated_evictions(std::size_t sets) { return sets / 2; }

}  // namespace

LocationTable::LocationTable(std::uint64_t limit)
    : max_sets_(sets_for(limit)),
      sets_(std::min(kFirstSets, max_sets_)),
      evictions_before_growth_(tolerated_evictions(sets_.size())) {}

void LocationTable::note_eviction() {
  ++evictions_;
  if (sets_.size() < max_sets_ && evictions_before_growth_-- == 0) {
    grow();
  }
}

void LocationTable::grow() {
  const std::size_t larger = std::min(max_sets_, 4 * sets_.size());
  const std::vector<LocationSet> old = std::exchange(sets_, std::vector<LocationSet>(larger));
  for (const LocationSet& set : old) {
    for (auto it = std::rbegin(set.ways); it != std::rend(set.ways); ++it) {  // the least recently used first
      if (it->shape != 0) {
        const LocationKey key{it->address, it->site, it->thread, it->locks, it->shape};
        set_of(hash_(key)).insert(key, it->stamp);
      }
    }
  }
  evictions_before_growth_ = tolerated_evictions(larger);
}

std::uint64_t LocationTable::size() const {
  std::uint64_t count = 0;
  for_each([&](const Location&) { ++count; });
  return count;
}

}  // namespace sooth
