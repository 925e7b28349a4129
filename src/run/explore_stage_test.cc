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

Finding on(MemoryKind kind, Finding finding) {
  finding.context.memory.emplace().kind = kind;
  return finding;
}

std::vector<Finding> merged(std::vector<Finding> findings) {
  merge_explored({race(Rung::kConfirmed)}, findings, {});
  return findings;
}

TEST(AddRecordedStacks, TheFirstThreadHasItsNameOfRecordings) {
  std::vector<Finding> findings = {race(Rung::kConfirmed)};
  findings[0].accesses[0].thread = "T0";
  findings[0].accesses[1].thread = "T1";
  add_recorded_stacks({}, findings);
  EXPECT_EQ(findings[0].accesses[0].thread, "main");
  EXPECT_EQ(findings[0].accesses[1].thread, "T1");
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

TEST(MergeExplored, TheReplayIsOfTheFindingThatGetsIt) {
  Finding explored = race(Rung::kConfirmed);
  explored.replay.emplace().command = "sooth replay r.json#explored -- ./p";
  std::vector<Finding> findings = {race(Rung::kPredicted, "x")};
  merge_explored({explored}, findings, {});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].replay->command, "sooth replay r.json#x -- ./p");
}

TEST(MergeExplored, WhatIsNewIsAFinding) {
  EXPECT_EQ(merged({}).size(), 1u);
  EXPECT_EQ(merged({race(Rung::kConfirmed, "x", 8)}).size(), 2u);
  // Which of the two variables it is about is not known; but that there is a race is.
  EXPECT_EQ(merged({race(Rung::kSuspected, "x"), race(Rung::kSuspected, "y")}).size(), 3u);
}

TEST(MergeExplored, GlobalsAreToldApart) {
  std::vector<Finding> findings = {race(Rung::kSuspected, "hits"), race(Rung::kSuspected, "misses")};
  merge_explored({race(Rung::kConfirmed, "misses")}, findings, {});
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].rung, Rung::kSuspected);
  EXPECT_EQ(findings[1].rung, Rung::kConfirmed);
  // The one finding on its lines is about something else.
  findings = {race(Rung::kSuspected, "hits")};
  merge_explored({race(Rung::kConfirmed, "misses")}, findings, {});
  EXPECT_EQ(findings.size(), 2u);
  findings = {race(Rung::kSuspected, "cells[3]")};
  merge_explored({race(Rung::kConfirmed, "cells[4]")}, findings, {});
  EXPECT_EQ(findings.size(), 1u);
}

TEST(MergeExplored, WhatIsInNoVariableOfTheProgramIsNoGlobal) {
  EXPECT_EQ(merged({on(MemoryKind::kGlobal, race(Rung::kSuspected, "hits"))}).size(), 2u);
  EXPECT_EQ(merged({on(MemoryKind::kHeap, race(Rung::kSuspected, "*hits"))}).size(), 1u);
}

TEST(AddRecordedStacks, OneInTheLibraryIsWhereItsOnlyCallerIs) {
  const auto in_library = [](std::uint32_t line, std::uint32_t called_from, const char* thread = "T1") {
    Access access;
    access.thread = thread;
    access.site.file = "/usr/include/c++/12/bits/shared_ptr_base.h";
    access.site.line = line;
    access.frame = called_from == 0 ? 0 : 1;
    if (called_from != 0) {
      access.stack.resize(1);
      access.stack[0].file = "a.cc";
      access.stack[0].line = called_from;
    }
    return access;
  };
  Finding explored;
  explored.accesses = {in_library(10, 0), in_library(20, 0)};
  std::vector<Finding> findings = {explored};
  add_recorded_stacks({in_library(10, 3, "main")}, findings);
  EXPECT_EQ(findings, std::vector<Finding>{explored});
  // Line 20 has two callers: either may be meant.
  add_recorded_stacks({in_library(10, 3), in_library(10, 3), in_library(20, 4), in_library(20, 5)}, findings);
  ASSERT_EQ(findings[0].accesses[0].stack.size(), 1u);
  EXPECT_EQ(findings[0].accesses[0].stack[0].line, 3u);
  EXPECT_TRUE(findings[0].accesses[1].stack.empty());
}

TEST(MergeExplored, AnotherCopyOfTheLibrarysCodeIsTheSameRaceOnAVariable) {
  const auto in_library = [](Finding finding, std::uint32_t frame) {
    for (Access& access : finding.accesses) {
      access.site.file = "/usr/include/c++/12/streambuf";
      access.stack.resize(1);
      access.stack[0].file = "a.cc";
      access.stack[0].line = 9;
      access.frame = frame;
    }
    return finding;
  };
  const Finding explored = in_library(race(Rung::kConfirmed, "out"), 0);
  std::vector<Finding> findings = {in_library(race(Rung::kConfirmed, "out"), 1)};
  merge_explored({explored}, findings, {});
  EXPECT_EQ(findings.size(), 1u);
  findings = {in_library(race(Rung::kConfirmed, "log"), 1)};
  merge_explored({explored}, findings, {});
  EXPECT_EQ(findings.size(), 2u) << "another variable";
  findings = {in_library(race(Rung::kPredicted, "out"), 1)};
  merge_explored({explored}, findings, {});
  EXPECT_EQ(findings.size(), 2u) << "proves less";
}

TEST(MergeExplored, ALibrarysPlaceWithoutCallersIsCoveredByWhatIsProvenThere) {
  Finding proven = on(MemoryKind::kHeap, race(Rung::kConfirmed, "*pointer"));
  Finding explored = race(Rung::kConfirmed);
  proven.accesses[1].site.file = explored.accesses[0].site.file = "/usr/include/c++/12/ext/atomicity.h";
  std::vector<Finding> findings = {proven};
  merge_explored({explored}, findings, {});
  EXPECT_EQ(findings.size(), 1u);
  explored.accesses[0].variable = explored.accesses[1].variable = "other";
  merge_explored({explored}, findings, {});
  EXPECT_EQ(findings.size(), 2u);
}

}  // namespace
}  // namespace sooth
