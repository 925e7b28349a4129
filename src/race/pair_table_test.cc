#include "race/pair_table.h"

#include <gtest/gtest.h>

namespace sooth {
namespace {

AccessRecord at(std::uint32_t site, std::uint64_t id) {
  AccessRecord access;
  access.event.site = SiteId{site};
  access.id = EventId{id};
  return access;
}

TEST(PairTableTest, CountsEachSecondAccessOnceAndKeepsTheSmallestDistance) {
  PairTable table;
  table.add(at(7, 1), at(3, 10));
  table.add(at(7, 4), at(3, 10));  // another thread's access at site 7
  table.add(at(3, 10), at(7, 12));
  ASSERT_EQ(table.pairs().size(), 1u);
  const SitePair& pair = table.pairs()[0];
  EXPECT_EQ(pair.low_site, SiteId{3});
  EXPECT_EQ(pair.high_site, SiteId{7});
  EXPECT_EQ(pair.second_accesses, 2u);
  EXPECT_EQ(pair.distance, 2u);
  EXPECT_EQ(pair.example, (Candidate{at(7, 4), at(3, 10)}));
}

TEST(PairTableTest, KeepsTheOrderOfDiscovery) {
  PairTable table;
  table.add(at(9, 0), at(9, 5));
  table.add(at(1, 0), at(2, 6));
  ASSERT_EQ(table.pairs().size(), 2u);
  EXPECT_EQ(table.pairs()[0].low_site, SiteId{9});
  EXPECT_EQ(table.pairs()[1].high_site, SiteId{2});
}

}  // namespace
}  // namespace sooth
