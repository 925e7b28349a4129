// Memory as the witness checker sees it: which variable a byte is, and who wrote it last.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/flat_map.h"
#include "race/range_map.h"
#include "trace/event.h"

namespace sooth {

// Bytes that an access touches, with their generation folded into the address: memory that is allocated again has
// moved to a place of its own. Equal bytes of equal stretches are the same variable.
struct Stretch {
  std::uint64_t begin = 0;
  std::uint32_t size = 0;
  bool allocated = false;  // which of two address spaces: never allocated in the trace, or the places of blocks

  bool overlaps(const Stretch& other) const {
    return allocated == other.allocated && begin - other.begin + size - 1 < std::uint64_t{size} - 1 + other.size;
  }
};

// Follows the allocs of a trace.
class Generations {
 public:
  void alloc(const Event& e);
  // Appends the stretches of the access or free `e`, in ascending order of addresses.
  void resolve(const Event& e, std::vector<Stretch>& out) const;

 private:
  RangeMap<std::uint64_t> moved_;  // what to add to an address to get its place
  std::uint64_t next_place_ = 0;
};

// Consecutive bytes of an access that the same event wrote last.
struct Seen {
  static constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t writer = kNobody;
  std::uint32_t size = 0;

  friend bool operator==(const Seen&, const Seen&) = default;
};

// The last write to every byte, in whatever order the writes come.
class LastWrites {
 public:
  // `position[event]` grows along the order in which write() is called; without it events come in the order of ids.
  explicit LastWrites(std::span<const std::uint32_t> position) : position_(position) {}

  void write(const Stretch& stretch, std::uint32_t event);
  // Appends what reading `stretch` sees. Neighbours with the same writer become one, also with what was in `out` from
  // the index `from` on.
  void read(const Stretch& stretch, std::size_t from, std::vector<Seen>& out) const;

 private:
  static constexpr std::uint64_t kGranule = 8;
  static constexpr std::uint32_t kLong = 64;            // bytes from which a write is kept as a range
  using Granule = std::array<std::uint32_t, kGranule>;  // writer + 1 of each byte; 0: nobody

  bool later(std::uint32_t a, std::uint32_t b) const { return position_.empty() ? a > b : position_[a] > position_[b]; }

  struct Space {
    FlatMap<Granule> granules;      // short writes
    RangeMap<std::uint32_t> longs;  // long writes; the later of the two counts
  };
  const std::span<const std::uint32_t> position_;
  std::array<Space, 2> spaces_;  // by Stretch::allocated
};

}  // namespace sooth
