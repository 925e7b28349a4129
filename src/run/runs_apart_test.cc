#include "run/runs_apart.h"

#include <gtest/gtest.h>

namespace sooth {
namespace {

RunOutcome outcome(std::uint64_t points, std::uint64_t output = 1, int status = 0) {
  RunOutcome run;
  run.log.scheduling_points = points;
  run.output_hash = output;
  run.end.status = status;
  return run;
}

TEST(RunsApart, ProgramsThatDifferByThemselvesMayRunInNameSpaces) {
  EXPECT_TRUE(are_alike(outcome(100), outcome(100)));
  EXPECT_FALSE(are_alike(outcome(100), outcome(103)));

  EXPECT_TRUE(could_be_third(outcome(100), outcome(103), outcome(98)));
  EXPECT_TRUE(could_be_third(outcome(100), outcome(103), outcome(300)));
  EXPECT_TRUE(could_be_third(outcome(100, 1), outcome(103, 2), outcome(98, 3)));  // it prints the time, say
  // Only the third is different, so it is the place.
  EXPECT_FALSE(could_be_third(outcome(100), outcome(100), outcome(98)));
  EXPECT_FALSE(could_be_third(outcome(100), outcome(103), outcome(98, 2)));
  EXPECT_FALSE(could_be_third(outcome(100), outcome(103), outcome(98, 1, 1)));
  EXPECT_FALSE(could_be_third(outcome(100), outcome(103), outcome(40)));
  // Nothing to compare with.
  EXPECT_FALSE(could_be_third(outcome(100), outcome(103, 1, 1), outcome(98)));
}

}  // namespace
}  // namespace sooth
