#include "schedule/early_ends.h"

#include <gtest/gtest.h>

#include <set>

namespace sooth {
namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;

TEST(EarlyEnds, AreTheSameForTheSameSeed) {
  EarlyEnds one(7), same(7), other(8);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t drawn = one.draw(kMillisecond);
    EXPECT_EQ(drawn, same.draw(kMillisecond));
    differs = differs || drawn != other.draw(kMillisecond);
  }
  EXPECT_TRUE(differs);
}

// Of 10,000 deadlines so far ahead, those that fire within so many points.
int within(std::uint64_t ahead, std::uint64_t points) {
  EarlyEnds ends(1);
  int count = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t drawn = ends.draw(ahead);
    EXPECT_GE(drawn, 1u);
    count += drawn <= points ? 1 : 0;
  }
  return count;
}

TEST(EarlyEnds, ComeFromAllScalesSmallOnesMoreOften) {
  EXPECT_GT(within(kMillisecond, 1), 800) << "at once";
  EXPECT_GT(within(kMillisecond, 7), 3'000);
  EXPECT_GT(within(kMillisecond, 16'384) - within(kMillisecond, 1'024), 500) << "and late";
  EXPECT_NEAR(within(kMillisecond, 16'384), 8'750, 200);
}

TEST(EarlyEnds, AreRareForLongTimes) {
  EXPECT_NEAR(within(1'000 * kMillisecond, 16'384), 6'250, 200);
  EXPECT_NEAR(within(10'000 * kMillisecond, 16'384), 2'500, 200);
  EXPECT_EQ(within(10'001 * kMillisecond, 16'384), 0);
}

TEST(EarlyEnds, WaitsThatEndForNoReasonDoSoSoonOrNotAtAll) {
  EarlyEnds ends(1);
  int early = 0, at_once = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t drawn = ends.draw_spurious();
    EXPECT_TRUE(drawn == EarlyEnds::kNotEarly || (drawn >= 1 && drawn < 64)) << drawn;
    early += drawn != EarlyEnds::kNotEarly ? 1 : 0;
    at_once += drawn == 1 ? 1 : 0;
  }
  EXPECT_NEAR(early, 3'750, 200);
  EXPECT_GT(at_once, 500);
}

}  // namespace
}  // namespace sooth
