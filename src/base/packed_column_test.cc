#include "base/packed_column.h"

#include <gtest/gtest.h>

#include <random>

namespace sooth {
namespace {

TEST(PackedColumn, GivesBackWhatWasPutIn) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    PackedColumn packed;
    std::vector<std::uint64_t> plain;
    const std::uint64_t bits = random() % 65;
    for (std::size_t count = random() % 200; count > 0; --count) {
      const std::uint64_t step = bits == 0 ? 0 : random() >> (64 - bits);
      plain.push_back((plain.empty() ? random() : plain.back()) + (random() % 2 == 0 ? step : 0 - step));
      packed.push_back(plain.back());
    }
    ASSERT_EQ(packed.size(), plain.size());
    for (std::size_t i = 0; i < plain.size(); ++i) {
      ASSERT_EQ(packed[i], plain[i]) << "round " << round << ", number " << i;
    }
  }
}

TEST(PackedColumn, TakesTwoBytesForNumbersThatAreClose) {
  PackedColumn packed;
  for (std::uint64_t i = 0; i < 1'000'000; ++i) {
    packed.push_back(1'000'000'000 + 7 * i);
  }
  EXPECT_LT(packed.memory(), 4'000'000u);  // with room to grow
}

}  // namespace
}  // namespace sooth
