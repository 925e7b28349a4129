#include "race/range_map.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>

#include "oracle/random.h"

namespace sooth {
namespace {

constexpr std::uint64_t kLast = ~std::uint64_t{0};

TEST(RangeMapTest, AgreesWithAnArrayAtBothEndsOfTheAddressSpace) {
  constexpr std::size_t kSize = 24;
  for (const std::uint64_t base : {std::uint64_t{0}, kLast - (kSize - 1)}) {
    oracle::Random random(base + 1);
    for (int round = 0; round < 2'000; ++round) {
      RangeMap<int> map;
      std::array<int, kSize> expected{};  // 0: nothing
      for (int value = 1; value <= 8; ++value) {
        const std::uint32_t first = random.below(kSize);
        const std::uint32_t last = random.between(first, kSize - 1);
        map.assign(base + first, base + last, value);
        std::fill(expected.begin() + first, expected.begin() + last + 1, value);
      }
      const std::uint32_t first = random.below(kSize);
      const std::uint32_t last = random.between(first, kSize - 1);
      std::uint64_t at = base + first;
      map.for_each(base + first, base + last, [&](std::uint64_t from, std::uint64_t to, const int* value) {
        ASSERT_EQ(from, at);
        ASSERT_LE(from, to);
        for (std::uint64_t i = from - base; i <= to - base; ++i) {
          ASSERT_EQ(value == nullptr ? 0 : *value, expected[i]);
          ASSERT_EQ(map.find(base + i) == nullptr ? 0 : *map.find(base + i), expected[i]);
        }
        at = to + 1;
      });
      ASSERT_EQ(at, base + last + 1);  // all was visited
    }
  }
}

}  // namespace
}  // namespace sooth
