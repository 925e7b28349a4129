#include "order/sparse_set.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "oracle/random.h"

namespace sooth {
namespace {

std::vector<std::uint64_t> members(const SparseSet& set, std::uint64_t first, std::uint64_t last) {
  std::vector<std::uint64_t> found;
  set.for_each(first, last, [&](std::uint64_t number) { found.push_back(number); });
  return found;
}

TEST(SparseSetTest, EqualsAnOrdinarySet) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    oracle::Random random(seed);
    SparseSet set;
    std::set<std::uint64_t> model;
    const unsigned range = seed % 2 == 0 ? 3000 : 1'000'000;
    for (int i = 0; i < 60; ++i) {
      const std::uint64_t number = random.below(range);
      set.insert(number);
      model.insert(number);
    }
    for (int i = 0; i < 60; ++i) {
      const std::uint64_t first = random.below(range + 200);
      const std::uint64_t last = first + random.below(range / 2);
      const std::vector<std::uint64_t> expected(model.lower_bound(first), model.upper_bound(last));
      ASSERT_EQ(members(set, first, last), expected) << "seed " << seed << ", " << first << " to " << last;
    }
  }
}

TEST(SparseSetTest, ReachesTheHighestNumbers) {
  constexpr std::uint64_t kTop = ~std::uint64_t{0} / 64;  // of a cache line
  SparseSet set;
  set.insert(kTop);
  set.insert(0);
  EXPECT_EQ(members(set, kTop - 5, kTop), std::vector<std::uint64_t>{kTop});
  EXPECT_EQ(members(set, 0, 0), std::vector<std::uint64_t>{0});
  EXPECT_TRUE(members(set, 1, 100'000).empty());
}

}  // namespace
}  // namespace sooth
