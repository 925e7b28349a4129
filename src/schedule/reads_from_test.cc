#include "schedule/reads_from.h"

#include <gtest/gtest.h>

namespace sooth {
namespace {

constexpr std::uint64_t kStore = 0x10, kLoad = 0x20, kOther = 0x30;
constexpr std::uint64_t kX = 100, kY = 200;

ReadsFromGuide guide_of(const ReadsFromGoal& goal) {
  ReadsFromGuide guide;
  guide.add(goal);
  return guide;
}

TEST(ReadsFromGuide, HoldsTheReadBackUntilTheWriteIsThereThenPutsItFirst) {
  ReadsFromGuide guide = guide_of({kStore, kLoad, true});
  EXPECT_EQ(guide.ask({2, kLoad, kX, false}), Guidance::kHoldBack);
  EXPECT_EQ(guide.ask({1, kStore, kX, true}), Guidance::kNeither);
  guide.observe({1, kStore, kX, true});
  EXPECT_EQ(guide.ask({2, kLoad, kX, false}), Guidance::kPutFirst);
  EXPECT_EQ(guide.reached(), 0u);
  guide.observe({2, kLoad, kX, false});
  EXPECT_EQ(guide.reached(), 1u);
  EXPECT_EQ(guide.ask({2, kLoad, kX, false}), Guidance::kNeither);  // it was met
}

TEST(ReadsFromGuide, HoldsBackWhatWouldHideTheWrite) {
  ReadsFromGuide guide = guide_of({kStore, kLoad, true});
  EXPECT_EQ(guide.ask({3, kOther, kX, true}), Guidance::kNeither);  // there is nothing to hide yet
  guide.observe({1, kStore, kX, true});
  EXPECT_EQ(guide.ask({3, kOther, kX, true}), Guidance::kHoldBack);
  EXPECT_EQ(guide.ask({3, kOther, kX, false}), Guidance::kNeither);  // a look hides nothing
  EXPECT_EQ(guide.ask({3, kOther, kY, true}), Guidance::kNeither);   // elsewhere
  guide.observe({3, kOther, kX, true});
  EXPECT_EQ(guide.ask({2, kLoad, kX, false}), Guidance::kHoldBack);  // hidden all the same
}

TEST(ReadsFromGuide, TheThreadThatWroteDoesNotMeetTheGoal) {
  ReadsFromGuide guide = guide_of({kStore, kLoad, true});
  guide.observe({1, kStore, kX, true});
  EXPECT_EQ(guide.ask({1, kLoad, kX, false}), Guidance::kHoldBack);
  guide.observe({1, kLoad, kX, false});
  EXPECT_EQ(guide.reached(), 0u);
}

TEST(ReadsFromGuide, SomebodyBeginsWhereBothAreAtTheSamePlace) {
  ReadsFromGuide guide = guide_of({kStore, kStore, true});
  EXPECT_EQ(guide.ask({1, kStore, kX, true}), Guidance::kNeither);
  guide.observe({1, kStore, kX, true});
  EXPECT_EQ(guide.ask({1, kStore, kX, true}), Guidance::kHoldBack);
  EXPECT_EQ(guide.ask({2, kStore, kX, true}), Guidance::kPutFirst);
}

TEST(ReadsFromGuide, HoldsBackWhatIsNotToHappen) {
  ReadsFromGuide guide = guide_of({kStore, kLoad, false});
  EXPECT_EQ(guide.ask({2, kLoad, kX, false}), Guidance::kNeither);
  guide.observe({1, kStore, kX, true});
  EXPECT_EQ(guide.ask({2, kLoad, kX, false}), Guidance::kHoldBack);
  EXPECT_EQ(guide.reached(), 1u);
  guide.observe({3, kOther, kX, true});
  EXPECT_EQ(guide.ask({2, kLoad, kX, false}), Guidance::kNeither);  // it reads something else now
  guide.observe({1, kStore, kX, true});
  guide.observe({2, kLoad, kX, false});
  EXPECT_EQ(guide.reached(), 0u);
}

TEST(ReadsFromGuide, PatienceEnds) {
  ReadsFromGuide guide = guide_of({kStore, kLoad, true});
  for (std::uint32_t i = 0; i < ReadsFromGuide::kPatience; ++i) {
    ASSERT_EQ(guide.ask({2, kLoad, kX, false}), Guidance::kHoldBack) << i;
  }
  EXPECT_EQ(guide.ask({2, kLoad, kX, false}), Guidance::kNeither);
}

TEST(ReadsFromGuide, WhatIsPutFirstGoesBeforeWhatIsHeldBack) {
  ReadsFromGuide guide;
  guide.add({kStore, kLoad, false});
  guide.add({kStore, kLoad, true});
  guide.observe({1, kStore, kX, true});
  EXPECT_EQ(guide.ask({2, kLoad, kX, false}), Guidance::kPutFirst);
}

TEST(ReadsFromGuide, KeepsNoMoreThanItHasRoomFor) {
  ReadsFromGuide guide;
  for (std::uint64_t i = 0; i < kMaxGoals + 3; ++i) {
    guide.add({i, i, false});
  }
  EXPECT_EQ(guide.reached(), kMaxGoals);
}

}  // namespace
}  // namespace sooth
