// Which accesses were seen before, and in what context: a bounded table with one lookup per access.
#pragma once

#include <cstdint>
#include <vector>

#include "filter/location_set.h"

namespace sooth {

// Starts small, so that it stays in the cache of the processor where that is enough, and grows up to `limit` locations
// (at least LocationSet::kWays); then it keeps those that were used most recently, set by set.
class LocationTable {
 public:
  explicit LocationTable(std::uint64_t limit);

  LocationSet& set_of(std::uint64_t hash) {
    return sets_[static_cast<std::size_t>(((hash >> 32) * sets_.size()) >> 32)];
  }
  // `hash` is that by which the set is found; keep it for the next lookup, sets move.
  void insert(std::uint64_t hash, const LocationKey& key, std::uint64_t stamp) {
    if (set_of(hash).insert(key, stamp)) [[unlikely]] {
      note_eviction();
    }
  }
  // How a location that is stored is found again after the table has grown.
  using Hash = std::uint64_t (*)(const LocationKey&);
  void set_hash(Hash hash) { hash_ = hash; }

  std::uint64_t size() const;
  std::uint64_t memory() const { return sets_.capacity() * sizeof(LocationSet); }
  std::uint64_t evictions() const { return evictions_; }
  // Calls visit(const Location&) for all, in no particular order.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const LocationSet& set : sets_) {
      for (const Location& location : set.ways) {
        if (location.shape != 0) {
          visit(location);
        }
      }
    }
  }

 private:
  void note_eviction();
  void grow();

  const std::size_t max_sets_;
  std::vector<LocationSet> sets_;
  std::uint64_t evictions_ = 0;
  std::uint64_t evictions_before_growth_;
  Hash hash_ = [](const LocationKey& key) { return key.hash(); };
};

}  // namespace sooth
