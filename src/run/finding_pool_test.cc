#include "run/finding_pool.h"

#include <gtest/gtest.h>

namespace sooth {
namespace {

Finding finding(std::string id, Rung rung, std::vector<std::string> found_by) {
  Finding made;
  made.id = std::move(id);
  made.rung = rung;
  made.found_by = std::move(found_by);
  made.dynamic_pairs = 1;
  return made;
}

TEST(FindingPoolTest, KeepsEachOnceWithTheBestProof) {
  FindingPool pool;
  auto changes = pool.add({finding("a", Rung::kSuspected, {"hybrid"}), finding("b", Rung::kPredicted, {"hb"})}, 1, 10);
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_TRUE(changes[0].added && changes[1].added);
  changes = pool.add({finding("a", Rung::kPredicted, {"hb"}), finding("b", Rung::kSuspected, {"wcp"})}, 2, 20);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_FALSE(changes[0].added);
  EXPECT_EQ(changes[0].entry, 0u);
  const FindingPool::Entry& a = pool.entries()[0];
  EXPECT_EQ(a.finding.rung, Rung::kPredicted);
  EXPECT_EQ(a.source, 20u);
  EXPECT_EQ(a.finding.found_by, (std::vector<std::string>{"hb", "hybrid"}));
  EXPECT_EQ(a.finding.dynamic_pairs, 1u) << "in one recording";
  EXPECT_EQ(pool.entries()[1].source, 10u);
  EXPECT_TRUE(pool.add({finding("a", Rung::kPredicted, {"hb"})}, 3, 30).empty());
}

TEST(FindingPoolTest, CountsRecordingsAndNotProcesses) {
  FindingPool pool;
  pool.add({finding("a", Rung::kPredicted, {"hb"})}, 1, 1);
  pool.add({finding("a", Rung::kPredicted, {"hb"})}, 1, 2);
  EXPECT_EQ(pool.seen_once(), 1u);
  pool.add({finding("a", Rung::kPredicted, {"hb"}), finding("b", Rung::kPredicted, {"hb"})}, 2, 3);
  EXPECT_EQ(pool.seen_once(), 1u);
  EXPECT_EQ(pool.sightings(), 3u);
  EXPECT_EQ(pool.seen_in(2), 2u);
}

TEST(FindingPoolTest, WhatSpeaksForACandidate) {
  EXPECT_EQ(promise_of(finding("a", Rung::kPredicted, {"hb"})), Promise::kPredicted);
  EXPECT_EQ(promise_of(finding("a", Rung::kSuspected, {"hybrid", "lockset"})), Promise::kHybrid);
  EXPECT_EQ(promise_of(finding("a", Rung::kSuspected, {"lockset"})), Promise::kLockset);
  EXPECT_EQ(promise_of(finding("a", Rung::kSuspected, {"lockset", "hybrid:hard"})), Promise::kHard);
  EXPECT_EQ(promise_of(finding("a", Rung::kSuspected, {"hybrid", "hybrid:hard"})), Promise::kHybrid);
  Finding refuted = finding("a", Rung::kSuspected, {"hybrid"});
  refuted.witness.emplace().refuted = true;
  EXPECT_EQ(promise_of(refuted), Promise::kRefuted);
}

TEST(FindingPoolTest, VariablesOfOneObjectAreAFamily) {
  const auto family = [](const std::string& variable) {
    Finding about;
    about.accesses.resize(2);
    about.accesses[0].variable = variable;
    return family_of(about);
  };
  for (const char* variable :
       {"accounts", "*accounts", "accounts+8", "accounts[3].balance", "accounts->next", "*accounts+16"}) {
    EXPECT_EQ(family(variable), "accounts") << variable;
  }
  EXPECT_EQ(family("bank::accounts[0]"), "bank::accounts");
  EXPECT_EQ(family(""), "");
  Finding unnamed;
  unnamed.accesses.resize(2);
  unnamed.accesses[0].site.function = "finish_task";
  EXPECT_EQ(family_of(unnamed), "finish_task");
  EXPECT_EQ(family_of(Finding()), "");
}

}  // namespace
}  // namespace sooth
