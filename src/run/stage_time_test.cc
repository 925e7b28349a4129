#include "run/stage_time.h"

#include <gtest/gtest.h>

namespace sooth {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

steady_clock::time_point fake_now;
steady_clock::time_point tell_fake() { return fake_now; }

// The first millisecond of the budget at which the stage is over, if it begins after `begin`.
int length_of(RunStage stage, std::int64_t begin, milliseconds budget) {
  const WorkLimit limit(budget, tell_fake);
  const steady_clock::time_point start = fake_now;
  fake_now = start + milliseconds(begin);
  const StageTime time(limit, stage);
  for (int taken = 0; taken <= 2 * budget.count(); ++taken) {
    fake_now = start + milliseconds(begin + taken);
    if (time.over()) {
      return taken;
    }
  }
  return -1;
}

TEST(StageTime, HasItsShareOfTheBudget) {
  const milliseconds budget(6'000);
  EXPECT_EQ(length_of(RunStage::kReading, 0, budget), 2'400);
  EXPECT_NEAR(length_of(RunStage::kWitnesses, 2'400, budget), 1'200, 1);  // shares are no whole numbers
  EXPECT_NEAR(length_of(RunStage::kQuestions, 2'400, budget), 1'800, 1);
  EXPECT_NEAR(length_of(RunStage::kLaterReading, 1'000, budget), 900, 1);
  EXPECT_NEAR(length_of(RunStage::kLaterWitnesses, 1'000, budget), 300, 1);
  EXPECT_NEAR(length_of(RunStage::kLaterQuestions, 1'000, budget), 600, 1);
  EXPECT_NEAR(length_of(RunStage::kSuspicions, 1'000, budget), 180, 1);
  EXPECT_NEAR(length_of(RunStage::kExplore, 2'000, budget), 100, 1);
  EXPECT_NEAR(length_of(RunStage::kTest, 2'000, budget), 200, 1);
  EXPECT_NEAR(length_of(RunStage::kHalfOfTheRest, 2'000, budget), 2'000, 1);
}

TEST(StageTime, ProcessesOfOneRunShareWhatOneWouldHave) {
  constexpr double kOne = 0.73;
  // All of them take what they may: together as much as one.
  for (const std::size_t processes : {1, 2, 10, 1'000}) {
    double spent = 0;
    for (std::size_t left = processes; left > 0; --left) {
      spent += part_of_each(left, kOne - spent, kOne) * kOne;
    }
    EXPECT_NEAR(spent, kOne, 1e-9) << processes;
  }
  // What quick ones leave is for those that come later, which have no more than one alone.
  EXPECT_NEAR(part_of_each(2, kOne, kOne), 0.5, 1e-9);
  EXPECT_NEAR(part_of_each(1, kOne - 0.01, kOne), 1 - 0.01 / kOne, 1e-9);
  EXPECT_EQ(part_of_each(1, 1, kOne), 1);
  EXPECT_EQ(part_of_each(3, -0.1, kOne), 0) << "a process took too long";
}

TEST(StageTime, EndsWithTheBudget) {
  const milliseconds budget(1'000);
  for (const RunStage stage : {RunStage::kWitnesses, RunStage::kQuestions, RunStage::kLaterWitnesses,
                               RunStage::kLaterQuestions, RunStage::kExplore, RunStage::kTest}) {
    EXPECT_EQ(length_of(stage, 995, budget), 5);
    EXPECT_EQ(length_of(stage, 3'000, budget), 0) << "it was spent before";
  }
}

TEST(StageTime, WithoutABudgetNeverEnds) {
  const WorkLimit limit(milliseconds(0), tell_fake);
  const StageTime time(limit, RunStage::kTest);
  fake_now += std::chrono::hours(100);
  EXPECT_FALSE(time.over());
  EXPECT_FALSE(limit.reached());
  EXPECT_EQ(limit.spent(), 0);
  EXPECT_EQ(limit.end(), steady_clock::time_point::max());
}

// A small program ends within 5 s by default: what follows when recordings show nothing new takes 3 s at most, if it has
// no weak atomics and does not fail.
TEST(StageTime, WhatFollowsTheSearchIsShort) {
  const milliseconds budget(60'000);
  EXPECT_EQ(length_of(RunStage::kExplore, 500, budget) + length_of(RunStage::kTest, 1'500, budget), 3'000);
  EXPECT_NEAR(static_cast<double>(length_of(RunStage::kWeakMemory, 1'500, budget)), 1'000, 1);
  EXPECT_NEAR(static_cast<double>(length_of(RunStage::kMinimize, 1'500, budget)), 1'000, 1);
}

}  // namespace
}  // namespace sooth
