#include "run/explore_stage.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace sooth {
namespace {

Finding race(Rung rung, const std::string& variable = "", std::uint32_t line = 7) {
  Finding finding;
  finding.id = variable.empty() ? "explored" : variable;
  finding.rung = rung;
  finding.accesses.resize(2);
  for (Access& access : finding.accesses) {
    access.variable = variable;
    access.site.file = "a.cc";
    access.site.line = line;
  }
  return finding;
}

std::vector<Finding> merged(std::vector<Finding> findings) {
  merge_explored({race(Rung::kConfirmed)}, findings);
  return findings;
}

TEST(MergeExplored, TheRaceOnTheSameLinesGetsTheProof) {
  const std::vector<Finding> findings = merged({race(Rung::kSuspected, "x")});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rung, Rung::kConfirmed);
  EXPECT_EQ(findings[0].id, "x");
}

TEST(MergeExplored, WhatIsProvenIsNotToldAgain) {
  EXPECT_EQ(merged({race(Rung::kConfirmed, "x")}).size(), 1u);
  EXPECT_EQ(merged({race(Rung::kPredicted, "x"), race(Rung::kSuspected, "y")}).size(), 2u);
}

TEST(MergeExplored, ARunWithoutDelayIsTheBetterProof) {
  Finding delayed = race(Rung::kConfirmed, "x");
  delayed.replay.emplace().by_delay = true;
  const std::vector<Finding> findings = merged({delayed});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_FALSE(is_by_delay(findings[0]));
}

TEST(MergeExplored, WhatIsNewIsAFinding) {
  EXPECT_EQ(merged({}).size(), 1u);
  EXPECT_EQ(merged({race(Rung::kConfirmed, "x", 8)}).size(), 2u);
  // Which of the two variables it is about is not known; but that there is a race is.
  EXPECT_EQ(merged({race(Rung::kSuspected, "x"), race(Rung::kSuspected, "y")}).size(), 3u);
}

}  // namespace
}  // namespace sooth
