// Which accesses were seen before, and in what context: a bounded table with one lookup per access.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace sooth {

// What makes two accesses the same but for when they happened. A filter fills in what its mode tells apart and leaves
// the rest 0.
struct LocationKey {
  std::uint64_t address = 0;
  std::uint32_t site = 0;
  std::uint32_t thread = 0;
  std::uint32_t locks = 0;  // an interned set
  std::uint32_t shape = 0;  // size and kind

  // Without the thread: the same whoever does it.
  std::uint64_t hash_of_rest() const {
    const std::uint64_t h = address * 0x9e3779b97f4a7c15u ^ site * 0xc2b2ae3d27d4eb4fu ^
                            (std::uint64_t{locks} << 32 | shape) * 0xd6e8feb86659fd93u;
    return (h ^ h >> 29) * 0xbf58476d1ce4e5b9u;
  }
  std::uint64_t hash() const { return hash_of_rest() ^ thread * 0x94d049bb133111ebu; }
};

// A key and the stamp of its latest access: half a cache line.
struct Location {
  std::uint64_t address = 0;
  std::uint32_t site = 0;
  std::uint32_t thread = 0;
  std::uint32_t locks = 0;
  std::uint32_t shape = 0;  // 0 for no location: an access has a size
  std::uint64_t stamp = 0;
};
static_assert(sizeof(Location) == 32);

// A few locations with the same hash, the two most recently used first. Freestanding, so that it can also run where
// there is no allocation: give it zeroed memory.
struct alignas(64) LocationSet {
  static constexpr std::size_t kWays = 4;
  std::array<Location, kWays> ways;

  // The location of the key, moved to the front unless it is one of the first two, so that two that take turns do not
  // change places all the time; nullptr when it is not there. `any_thread`: whatever its thread.
  [[gnu::always_inline]] Location* find(const LocationKey& key, bool any_thread) {
    if (matches(ways[0], key, any_thread)) [[likely]] {
      return &ways[0];
    }
    if (matches(ways[1], key, any_thread)) [[likely]] {
      return &ways[1];
    }
    for (std::size_t i = 2; i < kWays; ++i) {
      if (matches(ways[i], key, any_thread)) {
        const Location found = ways[i];
        push(i, found);
        return &ways[0];
      }
    }
    return nullptr;
  }
  // Puts a new location in front. Whether that pushed out the least recently used one.
  bool insert(const LocationKey& key, std::uint64_t stamp) {
    const bool full = ways[kWays - 1].shape != 0;
    push(kWays - 1, {key.address, key.site, key.thread, key.locks, key.shape, stamp});
    return full;
  }

 private:
  // All at once: which part of a key differs cannot be predicted.
  static bool matches(const Location& l, const LocationKey& key, bool any_thread) {
    const std::uint32_t thread = any_thread ? 0 : l.thread ^ key.thread;
    return ((l.address ^ key.address) | (l.site ^ key.site) | (l.locks ^ key.locks) | (l.shape ^ key.shape) | thread) ==
           0;
  }
  void push(std::size_t from, const Location& front) {
    for (std::size_t i = from; i > 0; --i) {
      ways[i] = ways[i - 1];
    }
    ways[0] = front;
  }
};
static_assert(sizeof(LocationSet) == 128);

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
