#include "confirm/directed_tests.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <set>

namespace sooth {
namespace {

const PlaceCode kReader{"", {{0x100, 0x110}}};
const PlaceCode kWriter{"", {{0x200, 0x210}}};

DirectedPair pair_named(const std::string& id) {
  return {id, id + ".cc:1", id + ".cc:2", pair_code(kReader, control::kReads, kWriter, control::kWrites)};
}

RunOutcome plain() {
  RunOutcome run;
  run.log.state = control::RunState::kEnded;
  run.log.processes.resize(1);
  return run;
}

RunOutcome with_race() {
  RunOutcome run = plain();
  const RacingThread reader{
      .thread = 1, .offset = 0x104, .range = 0, .variable = {}, .bytes = 4, .kinds = control::kReads, .first = true};
  const RacingThread writer{
      .thread = 2, .offset = 0x204, .range = 1, .variable = {}, .bytes = 4, .kinds = control::kWrites, .first = false};
  run.log.processes[0].races.push_back({.stretch = 0, .here = writer, .others = {reader}});
  return run;
}

TEST(DirectedTests, RecordsAndSteersInTurn) {
  for (const std::uint32_t jobs : {1u, 4u}) {
    std::set<std::uint64_t> recorded;
    const FindPairs find = [&](std::uint64_t seed) -> Result<std::vector<DirectedPair>> {
      EXPECT_TRUE(recorded.insert(seed).second);
      return std::vector<DirectedPair>{pair_named(recorded.size() < 3 ? "early" : "late"), pair_named("early")};
    };
    std::atomic<std::uint64_t> unsteered = 0;
    const auto run = [&unsteered](const RunPlan& plan) -> Result<RunOutcome> {
      if (plan.plan != control::Plan::kDirected) {
        ++unsteered;
        EXPECT_EQ(plan.strategy, "random");
        return plain();
      }
      RunOutcome outcome = plan.seed % 2 == 0 ? with_race() : plain();
      outcome.end.signal = plan.seed == 30 ? SIGSEGV : 0;
      return outcome;
    };
    TestOptions options;
    options.runs = 200;
    options.jobs = jobs;
    CodeNames names("/no/such/program");
    TestTally tally("./p", names);
    const Result<TestResult> result = run_directed_tests(run, find, tally, options);
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(result->runs, 200u);
    ASSERT_EQ(result->races.size(), 2u);
    EXPECT_EQ(result->races[0].first, "early.cc:1");
    EXPECT_EQ(result->races[0].hits, 10u) << "created often enough";
    EXPECT_EQ(result->races[0].trials, 20u);
    EXPECT_EQ(result->races[0].first_seed, 2u);
    EXPECT_EQ(result->races[0].schedule.plan.sites.size(), 2u);
    EXPECT_EQ(result->races[1].hits, 10u);
    EXPECT_TRUE(result->found());
    EXPECT_EQ(result->ends[0].outcome.number, SIGSEGV);
    EXPECT_EQ(recorded.size() + result->races[0].trials + result->races[1].trials + unsteered, 200u);
  }
}

TEST(DirectedTests, EndWithTheFirstFailureWhenTold) {
  const FindPairs find = [](std::uint64_t) -> Result<std::vector<DirectedPair>> {
    return std::vector<DirectedPair>{pair_named("a")};
  };
  const auto run = [](const RunPlan& plan) -> Result<RunOutcome> {
    RunOutcome outcome = plain();
    outcome.end.signal = plan.seed >= 15 ? SIGSEGV : 0;
    return outcome;
  };
  TestOptions options;
  options.runs = 200;
  options.until_failure = true;
  CodeNames names("/no/such/program");
  TestTally tally("./p", names);
  const Result<TestResult> result = run_directed_tests(run, find, tally, options);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->runs, 15u);
}

TEST(DirectedTests, JudgesProgramsWithoutPairs) {
  const FindPairs find = [](std::uint64_t) -> Result<std::vector<DirectedPair>> { return std::vector<DirectedPair>{}; };
  const auto run = [](const RunPlan&) -> Result<RunOutcome> {
    RunOutcome outcome = plain();
    outcome.end.signal = SIGSEGV;
    return outcome;
  };
  TestOptions options;
  options.runs = 6;
  CodeNames names("/no/such/program");
  TestTally tally("./p", names);
  const Result<TestResult> result = run_directed_tests(run, find, tally, options);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->runs, 6u);
  ASSERT_EQ(result->ends.size(), 1u);
  EXPECT_EQ(result->ends[0].runs, 3u) << "the others were recorded";
  EXPECT_TRUE(result->found());
}

TEST(DirectedTests, GivesUpOnPairsThatNeverMeetAndEndsWhenTold) {
  const FindPairs find = [](std::uint64_t) -> Result<std::vector<DirectedPair>> {
    return std::vector{pair_named("never")};
  };
  const auto run = [](const RunPlan&) -> Result<RunOutcome> { return plain(); };
  TestOptions options;
  options.runs = 1000;
  std::uint64_t made = 0;
  options.on_run = [&](std::uint64_t runs) { made = runs; };
  options.cancelled = [&] { return made >= 300; };
  CodeNames names("/no/such/program");
  TestTally tally("./p", names);
  const Result<TestResult> result = run_directed_tests(run, find, tally, options);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->runs, 300u);
  EXPECT_EQ(result->races[0].trials, kMaxTrials);
  EXPECT_EQ(result->races[0].hits, 0u);
  EXPECT_FALSE(result->found());
  const FindPairs fails = [](std::uint64_t) -> Result<std::vector<DirectedPair>> { return Status::bad_input("no"); };
  TestTally other("./p", names);
  EXPECT_FALSE(run_directed_tests(run, fails, other, TestOptions{}).ok());
}

}  // namespace
}  // namespace sooth
