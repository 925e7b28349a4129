// Remembered accesses: the cell of which the tables of TREE are made. Freestanding, because the run time library
// inside the recorded program remembers in the same way.
#pragma once

#include <cstddef>
#include <cstdint>

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

// Two locations with the same hash, the most recently used first: one cache line, because what is waited for is memory.
// Freestanding, so that it can also run where there is no allocation: give it zeroed memory.
struct alignas(64) LocationSet {
  static constexpr std::size_t kWays = 2;
  Location ways[kWays];

  // The location of the key, which is the first now; nullptr when it is not there. `any_thread`: whatever its thread.
  [[gnu::always_inline]] Location* find(const LocationKey& key, bool any_thread) {
    if (matches(ways[0], key, any_thread)) [[likely]] {
      return &ways[0];
    }
    if (!matches(ways[1], key, any_thread)) {
      return nullptr;
    }
    const Location found = ways[1];
    ways[1] = ways[0];
    ways[0] = found;
    return &ways[0];
  }
  // Puts a new location in front. Whether that pushed out the least recently used one.
  bool insert(const LocationKey& key, std::uint64_t stamp) {
    const bool full = ways[1].shape != 0;
    ways[1] = ways[0];
    ways[0] = {key.address, key.site, key.thread, key.locks, key.shape, stamp};
    return full;
  }

 private:
  // All at once: which part of a key differs cannot be predicted.
  static bool matches(const Location& l, const LocationKey& key, bool any_thread) {
    const std::uint32_t thread = any_thread ? 0 : l.thread ^ key.thread;
    return ((l.address ^ key.address) | (l.site ^ key.site) | (l.locks ^ key.locks) | (l.shape ^ key.shape) | thread) ==
           0;
  }
};
static_assert(sizeof(LocationSet) == 64);

}  // namespace sooth
