// Memory that was freed and not handed out again, for uses of it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>

#include "base/flat_map.h"
#include "race/pair_table.h"

namespace sooth {

// One bit for each 8 bytes, and the latest free of each block. Blocks of the heap only: pages that are given back to the
// system (a block that begins with a page, or is larger than kLargest, or is a mapping of its own, as glibc makes them) may
// be handed out again by calls that nobody sees. The loader, say, maps a library there.
// Memory grows with what is free.
class FreedMemory {
 public:
  void free(const AccessRecord& record);
  void allocate(std::uint64_t address, std::uint64_t size);
  // The free of the first block that these bytes lie in; nullptr when none of them is free.
  const AccessRecord* find(std::uint64_t address, std::uint64_t size) {
    return blocks_.empty() || !any_free(address, size) ? nullptr : block_at(address, size);
  }

 private:
  static constexpr std::uint64_t kPage = 4096;
  static constexpr std::uint64_t kGranule = 8;
  static constexpr std::uint64_t kLargest = std::uint64_t{1} << 20;
  static constexpr std::uint64_t kHeader = 16;  // in front of a block that is a mapping of its own
  using Bits = std::array<std::uint64_t, kPage / kGranule / 64>;

  struct Block {
    std::uint64_t size = 0;
    AccessRecord record;
  };
  struct Cached {
    std::uint64_t page = ~std::uint64_t{0};
    Bits* bits = nullptr;
  };

  bool any_free(std::uint64_t address, std::uint64_t size);
  const AccessRecord* block_at(std::uint64_t address, std::uint64_t size) const;
  Bits* bits_of(std::uint64_t page);
  void set(std::uint64_t address, std::uint64_t size);
  void clear(std::uint64_t address, std::uint64_t size);

  std::map<std::uint64_t, Block> blocks_;  // by address; disjoint
  FlatMap<std::unique_ptr<Bits>> pages_;
  std::array<Cached, 256> cache_;
};

}  // namespace sooth
