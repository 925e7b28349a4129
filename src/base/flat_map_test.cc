#include "base/flat_map.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <unordered_map>
#include <vector>

namespace sooth {
namespace {

constexpr std::uint64_t kLast = ~std::uint64_t{0};

TEST(FlatMapTest, EmptyMapFindsAndErasesNothing) {
  FlatMap<int> map;
  EXPECT_TRUE(map.empty());
  EXPECT_EQ(map.find(0), nullptr);
  EXPECT_EQ(map.find(kLast), nullptr);
  EXPECT_FALSE(map.erase(0));
  EXPECT_FALSE(map.erase(kLast));
  map.for_each([](std::uint64_t, int) { FAIL(); });
}

TEST(FlatMapTest, EveryKeyIsAllowed) {
  FlatMap<int> map;
  map[0] = 1;
  map[kLast] = 2;
  map[kLast - 1] = 3;
  EXPECT_EQ(map.size(), 3u);
  EXPECT_EQ(*map.find(kLast), 2);
  std::vector<std::uint64_t> keys;
  map.for_each([&](std::uint64_t key, int) { keys.push_back(key); });
  EXPECT_EQ(keys, (std::vector<std::uint64_t>{0, kLast - 1, kLast}));
  EXPECT_TRUE(map.erase(kLast));
  EXPECT_FALSE(map.erase(kLast));
  EXPECT_EQ(map[kLast], 0) << "an erased key starts afresh";
}

TEST(FlatMapTest, ErasedAndClearedValuesAreReleased) {
  FlatMap<std::shared_ptr<int>> map;
  const auto shared = std::make_shared<int>(7);
  for (std::uint64_t key = 0; key < 100; ++key) {
    map[key] = shared;
  }
  map[kLast] = shared;
  EXPECT_EQ(shared.use_count(), 102);
  for (std::uint64_t key = 0; key < 50; ++key) {
    EXPECT_TRUE(map.erase(key));
  }
  EXPECT_EQ(shared.use_count(), 52);
  map.clear();
  EXPECT_EQ(shared.use_count(), 1);
  EXPECT_TRUE(map.empty());
}

TEST(FlatMapTest, HoldsMoveOnlyValues) {
  FlatMap<std::unique_ptr<int>> map;
  for (int i = 0; i < 1000; ++i) {
    map[static_cast<std::uint64_t>(i) * 8] = std::make_unique<int>(i);
  }
  EXPECT_EQ(**map.find(8 * 999), 999);
}

TEST(FlatMapTest, OrderOfIterationDoesNotDependOnHistory) {
  const auto keys_of = [](const FlatMap<int>& map) {
    std::vector<std::uint64_t> keys;
    map.for_each([&](std::uint64_t key, int) { keys.push_back(key); });
    return keys;
  };
  FlatMap<int> up, down;
  for (std::uint64_t i = 0; i < 500; ++i) {
    up[i * 4096] = 1;
    down[(999 - i) * 4096] = 1;
  }
  for (std::uint64_t i = 500; i < 1000; ++i) {
    up[i * 4096] = 1;
    down[(999 - i) * 4096] = 1;
  }
  EXPECT_EQ(keys_of(up), keys_of(down));
}

TEST(FlatMapTest, ReserveKeepsTheContent) {
  FlatMap<int> map;
  map[5] = 1;
  map.reserve(10'000);
  const std::size_t memory = map.memory();
  EXPECT_EQ(*map.find(5), 1);
  for (std::uint64_t key = 0; key < 10'000; ++key) {
    map[key] = 2;
  }
  EXPECT_EQ(map.memory(), memory) << "reserved enough";
}

// Keys from a small range collide, wrap around the end of the array and leave gaps everywhere.
class FlatMapRandomTest : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(FlatMapRandomTest, AgreesWithUnorderedMap) {
  std::mt19937_64 random(GetParam());
  const std::uint64_t range = GetParam();
  FlatMap<std::uint64_t> map;
  std::unordered_map<std::uint64_t, std::uint64_t> expected;
  for (int step = 0; step < 200'000; ++step) {
    const std::uint64_t bits = random();
    const std::uint64_t key = (bits >> 8) % range == 0 ? kLast : ((bits >> 8) % range) << (bits % 2 * 12);
    switch (bits >> 60) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
      case 5:
        map[key] = bits;
        expected[key] = bits;
        break;
      case 6:
      case 7:
      case 8:
      case 9:
      case 10: ASSERT_EQ(map.erase(key), expected.erase(key) == 1); break;
      default: {
        const auto it = expected.find(key);
        const std::uint64_t* found = map.find(key);
        ASSERT_EQ(found != nullptr, it != expected.end());
        ASSERT_TRUE(found == nullptr || *found == it->second);
      }
    }
    ASSERT_EQ(map.size(), expected.size());
    if (bits % 50'000 == 0) {
      map.clear();
      expected.clear();
    }
  }
  std::map<std::uint64_t, std::uint64_t> content;
  map.for_each([&](std::uint64_t key, std::uint64_t value) { content[key] = value; });
  EXPECT_EQ(content, (std::map<std::uint64_t, std::uint64_t>(expected.begin(), expected.end())));
}

INSTANTIATE_TEST_SUITE_P(Ranges, FlatMapRandomTest, ::testing::Values(2, 9, 17, 100, 1'000, 100'000, 1u << 31));

}  // namespace
}  // namespace sooth
