#include "report/explain.h"

#include <gtest/gtest.h>

namespace sooth {
namespace {

Access access(Op op, std::string thread, std::uint32_t line, std::vector<std::string> locks) {
  Access access;
  access.op = op;
  access.size = 4;
  access.variable = "x";
  access.event = EventId{line};  // of a trace: its locks are known
  access.thread = std::move(thread);
  access.site.file = "a.cc";
  access.site.line = line;
  access.locks = std::move(locks);
  return access;
}

Finding race(std::vector<std::string> first, std::vector<std::string> second) {
  Finding finding;
  finding.accesses = {access(Op::kWrite, "T1", 3, std::move(first)), access(Op::kRead, "T2", 7, std::move(second))};
  return finding;
}

TEST(ExplainTest, SuspicionsClaimNothing) {
  EXPECT_EQ(explanation(race({}, {})),
            "Thread T1 writes 'x' at a.cc:3 holding no lock, and thread T2 reads it at a.cc:7 holding no lock. No lock "
            "protects it. "
            "Whether another schedule can really bring the two together is not proven: this may be a false alarm.");
}

TEST(ExplainTest, LocksOfBothSides) {
  EXPECT_NE(explanation(race({"l"}, {"m"})).find("They have no lock in common"), std::string::npos);
  EXPECT_NE(explanation(race({"l (shared)"}, {"m", "l (shared)"})).find("Both hold l, but only for reading"),
            std::string::npos);
  EXPECT_EQ(explanation(race({"l"}, {"l (shared)"})).find("lock in common"), std::string::npos);
}

TEST(ExplainTest, ObservedOrReordered) {
  Finding finding = race({"l"}, {});
  finding.rung = Rung::kPredicted;
  finding.observed = true;
  EXPECT_NE(explanation(finding).find("Nothing else orders them in the recorded run either"), std::string::npos);
  finding.observed = false;
  finding.witness.emplace().checked = true;
  EXPECT_NE(explanation(finding).find("a checked reordering of the same events"), std::string::npos);
  finding.witness->swaps = {{"l", {"T2", EventId{9}, {}}, {"T1", EventId{2}, {}}}};
  EXPECT_NE(explanation(finding).find("In the recorded run T1 happened to take l first"), std::string::npos);
  EXPECT_NE(explanation(finding).find("when T2 takes it first, both threads"), std::string::npos);
}

TEST(ExplainTest, WhyInOneSentence) {
  Finding finding = race({}, {});
  finding.witness.emplace().checked = true;
  finding.witness->swaps = {{"l", {"T2", EventId{9}, {}}, {"T1", EventId{2}, {}}}};
  EXPECT_EQ(why_it_can_happen(finding), "only the order in which T1 and then T2 took l kept them apart");
  finding.witness->swaps = {{"l", {"T4", EventId{9}, {}}, {"T3", EventId{2}, {}}}};
  EXPECT_EQ(why_it_can_happen(finding),
            "no lock protects it; only the order in which T3 and then T4 took l kept them apart")
      << "that others took the lock says nothing of what is wrong here";
}

TEST(ExplainTest, WhatControlledRunsDid) {
  Finding finding = race({"l"}, {});
  finding.rung = Rung::kHarmful;
  finding.replay.emplace().outcome = "killed by signal 11";
  EXPECT_TRUE(explanation(finding).ends_with(
      "A controlled run of the program got there and then did not end well: killed by signal 11."));
  finding.replay->outcome = "exit status 0, but it printed \"50\" instead of \"100\"";
  EXPECT_TRUE(explanation(finding).ends_with("got there and then printed \"50\" instead of \"100\"."));
  finding.replay->outcome = "exit status 0";  // redacted
  finding.replay->failures = 8;
  finding.replay->order_matters = true;
  EXPECT_TRUE(explanation(finding).ends_with("got there and then had another result."));
  finding.rung = Rung::kConfirmed;
  EXPECT_TRUE(explanation(finding).ends_with("A controlled run of the program got there."));
}

TEST(ExplainTest, DeadlocksAndMisuse) {
  Finding finding = race({"l"}, {"m"});
  finding.kind = FindingKind::kDeadlock;
  finding.rung = Rung::kPredicted;
  finding.accesses[0].op = finding.accesses[1].op = Op::kAcquire;
  finding.accesses[0].variable = "m";
  finding.accesses[1].variable = "l";
  EXPECT_EQ(explanation(finding),
            "Thread T1 asks for m at a.cc:3 holding l, and thread T2 asks for l at a.cc:7 holding m. When all of them "
            "have got that far, "
            "each waits for a lock that the next one holds, and none can ever go on.");
  finding.kind = FindingKind::kMisuse;
  finding.misuse = MisuseKind::kUnlockUnlocked;
  finding.accesses.resize(1);
  EXPECT_EQ(explanation(finding),
            "Nobody holds this mutex, so there is nothing to unlock: the behaviour is undefined. Thread T1 did that in "
            "the recorded run at a.cc:3.");
  finding.accesses.clear();
  EXPECT_EQ(explanation(finding), "");
}

}  // namespace
}  // namespace sooth
