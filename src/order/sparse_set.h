// Numbers of places in memory (pages, cache lines) that are in use, for questions about long ranges of them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "base/flat_map.h"

namespace sooth {

// A set that can be walked range by range: a range costs one look for every 262,144 numbers that it spans, and up to
// two for every member in it. So a block of gigabytes costs about what was used of it.
class SparseSet {
 public:
  void insert(std::uint64_t number) {
    set_bit(blocks_, number);
    set_bit(used_blocks_, number / kBlock);
  }

  // Calls visit(number) for the members of [first, last] in ascending order. visit() must not change the set.
  template <typename Visit>
  void for_each(std::uint64_t first, std::uint64_t last, Visit&& visit) const {
    walk(used_blocks_, first / kBlock, last / kBlock, [&](std::uint64_t block) {
      walk(blocks_, std::max(first, block * kBlock), std::min(last, block * kBlock + (kBlock - 1)), visit);
    });
  }

 private:
  static constexpr std::uint64_t kWord = 64;
  static constexpr std::uint64_t kBlock = 512;
  using Block = std::array<std::uint64_t, kBlock / kWord>;
  using Blocks = FlatMap<Block>;  // by number / kBlock: a bit for each number

  static void set_bit(Blocks& blocks, std::uint64_t number) {
    blocks[number / kBlock][number % kBlock / kWord] |= std::uint64_t{1} << number % kWord;
  }

  template <typename Visit>
  static void walk(const Blocks& blocks, std::uint64_t first, std::uint64_t last, Visit&& visit) {
    for (std::uint64_t block = first / kBlock; block <= last / kBlock; ++block) {
      const Block* words = blocks.find(block);
      if (words == nullptr) {
        continue;
      }
      for (std::uint64_t i = 0; i < words->size(); ++i) {
        for (std::uint64_t bits = (*words)[i]; bits != 0; bits &= bits - 1) {
          const std::uint64_t number = block * kBlock + i * kWord + static_cast<std::uint64_t>(std::countr_zero(bits));
          if (number >= first && number <= last) {
            visit(number);
          }
        }
      }
    }
  }

  Blocks blocks_;
  Blocks used_blocks_;  // the numbers of blocks_
};

}  // namespace sooth
