#include "race/pair_table.h"

#include <gtest/gtest.h>

namespace sooth {
namespace {

TEST(PairTableTest, CountsEachSecondAccessOnceAndKeepsTheSmallestDistance) {
  PairTable table;
  table.add(SiteId{7}, EventId{1}, SiteId{3}, EventId{10});
  table.add(SiteId{7}, EventId{4}, SiteId{3}, EventId{10});  // another thread's access at site 7
  table.add(SiteId{3}, EventId{10}, SiteId{7}, EventId{12});
  ASSERT_EQ(table.pairs().size(), 1u);
  const SitePair& pair = table.pairs()[0];
  EXPECT_EQ(pair.low_site, SiteId{3});
  EXPECT_EQ(pair.high_site, SiteId{7});
  EXPECT_EQ(pair.second_accesses, 2u);
  EXPECT_EQ(pair.distance, 2u);
  EXPECT_EQ(pair.example, (Candidate{EventId{4}, EventId{10}}));
}

TEST(PairTableTest, KeepsTheOrderOfDiscovery) {
  PairTable table;
  table.add(SiteId{9}, EventId{0}, SiteId{9}, EventId{5});
  table.add(SiteId{1}, EventId{0}, SiteId{2}, EventId{6});
  ASSERT_EQ(table.pairs().size(), 2u);
  EXPECT_EQ(table.pairs()[0].low_site, SiteId{9});
  EXPECT_EQ(table.pairs()[1].high_site, SiteId{2});
}

}  // namespace
}  // namespace sooth
