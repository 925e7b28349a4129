#include "confirm/auto_tests.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <set>

namespace sooth {
namespace {

const PlaceCode kLooks{"", {{0x100, 0x110}}};
const PlaceCode kChanges{"", {{0x200, 0x210}}};

DirectedPair a_pair() {
  return {"id", "a.cc:1", "a.cc:2", pair_code(kLooks, control::kReads, kChanges, control::kWrites)};
}

RunOutcome counted_run() {
  RunOutcome run;
  run.log.state = control::RunState::kEnded;
  run.log.processes.resize(1);
  run.log.scheduling_points = 40;
  run.log.processes[0].threads = {{1, 0, 0, 0}, {2, 0, 1, 0}, {3, 1, 0, 0}};
  run.log.processes[0].counts = {{1, 1, 5}, {3, 3, 7}, {2, 2, 5}, {0, 0, 20}};
  return run;
}

std::string family(const RunPlan& plan) {
  return plan.plan == control::Plan::kDirected ? "directed" : plan.strategy.substr(0, plan.strategy.find(':'));
}

TEST(SurwOf, TellsEventsAndCreatorsInTheOrderOfCreation) {
  EXPECT_EQ(surw_of(counted_run().log.processes[0]), "surw:20,5,5,7@1");
  EXPECT_EQ(surw_of(ProcessLog{}), "surw");
}

TEST(Portfolio, MeasuresFirst) {
  Portfolio portfolio;
  const std::vector<Portfolio::Planned> first = portfolio.next_round(100);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].plan.strategy, "surw");
  portfolio.take(first[0], counted_run().log, true, false);
  std::set<std::string> strategies;
  for (const Portfolio::Planned& planned : portfolio.next_round(100)) {
    strategies.insert(planned.plan.strategy);
  }
  EXPECT_EQ(strategies, (std::set<std::string>{"random", "pct:2:40", "pos", "rff", "surw:20,5,5,7@1"}));
}

TEST(Portfolio, SharesByWhatRunsBring) {
  for (const char* good : {"random", "pct", "pos", "surw", "rff", "directed"}) {
    Portfolio portfolio;
    for (int i = 0; i < 8; ++i) {  // enough for the arm `directed` to have use of its pairs
      portfolio.add_pair(a_pair().code);
    }
    std::map<std::string, int> runs;
    std::uint64_t next = 0;
    for (int round = 0; round < 30; ++round) {
      const std::vector<Portfolio::Planned> plans = portfolio.next_round(100);
      EXPECT_LE(plans.size(), Portfolio::kRound);
      for (const Portfolio::Planned& planned : plans) {
        ++runs[family(planned.plan)];
        RunOutcome run = counted_run();
        run.log.order_hash = family(planned.plan) == good ? ++next : 0;
        portfolio.take(planned, run.log, false, false);
      }
    }
    for (const auto& [name, count] : runs) {
      EXPECT_GE(count, 29) << name << " where " << good << " is good";
      EXPECT_TRUE(name == good || count * 2 < runs[good]) << name << " where " << good << " is good";
    }
    const TestCoverage coverage = portfolio.coverage();
    EXPECT_EQ(coverage.schedules, next + 1);
    EXPECT_EQ(coverage.once, next);
    EXPECT_EQ(coverage.shares.size(), 6u);
  }
}

TEST(Portfolio, HasSitesOfPairsAsPoints) {
  Portfolio portfolio;
  portfolio.add_pair(a_pair().code);
  portfolio.add_pair(a_pair().code);
  portfolio.take(portfolio.next_round(1)[0], counted_run().log, false, false);
  for (const Portfolio::Planned& planned : portfolio.next_round(20)) {
    const std::string name = family(planned.plan);
    EXPECT_EQ(planned.plan.sites.size(), name == "random" || name == "pct" ? 0u : 2u) << name;
  }
}

TEST(Portfolio, SteersIntoSplitSectionsAFewTimes) {
  Portfolio portfolio;
  portfolio.add_split(split_code(kLooks, kChanges));
  std::uint64_t waits = 0;
  for (int round = 0; round < 30; ++round) {
    for (const Portfolio::Planned& planned : portfolio.next_round(20)) {
      const bool is_directed = family(planned.plan) == "directed";
      waits += is_directed ? 1 : 0;
      EXPECT_EQ(planned.plan.sites.size(), is_directed ? 2u : 0u) << "no points of strategies";
      portfolio.take(planned, counted_run().log, false, false);
    }
  }
  EXPECT_EQ(waits, Portfolio::kSplitTrials);
}

TEST(Portfolio, EstimatesTheChanceOfSomethingNew) {
  Portfolio portfolio;
  EXPECT_EQ(portfolio.coverage().chance_of_new(), 1);
  for (std::uint64_t i = 0; i < 10; ++i) {
    RunOutcome run = counted_run();
    run.log.order_hash = i < 8 ? 1 : i;  // eight alike, and two that nobody saw again
    run.log.processes[0].orders = {{{1, 2, 3}, 1, 2}, {{i < 5 ? 1u : 2u, 4, 1}, 1, 2}};
    portfolio.take(portfolio.next_round(1)[0], run.log, false, false);
  }
  EXPECT_DOUBLE_EQ(portfolio.coverage().chance_of_new(), 0.2);
  EXPECT_EQ(portfolio.coverage().orders, 3u);
  EXPECT_EQ(portfolio.coverage().last_new, 6u);
}

TEST(Portfolio, MayBeOfReadsFromFuzzingAlone) {
  Portfolio portfolio(1, true);
  portfolio.add_pair(a_pair().code);
  for (int round = 0; round < 5; ++round) {
    for (const Portfolio::Planned& planned : portfolio.next_round(20)) {
      EXPECT_EQ(family(planned.plan), "rff");
      EXPECT_EQ(planned.plan.sites.size(), 2u);
      RunOutcome run = counted_run();
      run.log.processes[0].orders = {{{0x100, 0x200, 2}, 1, 2}};
      portfolio.take(planned, run.log, false, false);
    }
  }
  ASSERT_EQ(portfolio.coverage().shares.size(), 1u);
  EXPECT_EQ(portfolio.coverage().shares[0].strategy, "rff");
}

TEST(AutoTests, DoNotDependOnTheNumberOfJobs) {
  std::vector<std::string> results;
  for (const std::uint32_t jobs : {1u, 4u}) {
    const FindPairs find = [](std::uint64_t seed) -> Result<std::vector<DirectedPair>> {
      EXPECT_EQ(seed, 1u);
      return std::vector<DirectedPair>{a_pair()};
    };
    const auto run = [](const RunPlan& plan) -> Result<RunOutcome> {
      RunOutcome outcome = counted_run();
      outcome.log.order_hash = plan.strategy == "pos" ? plan.seed : plan.seed % 7;
      outcome.end.signal = plan.seed == 77 ? SIGSEGV : 0;
      return outcome;
    };
    TestOptions options;
    options.runs = 300;
    options.jobs = jobs;
    CodeNames names("/no/such/program");
    TestTally tally("./p", names);
    const Result<TestResult> result = run_auto_tests(run, find, tally, options);
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(result->runs, 300u);
    ASSERT_TRUE(result->found());
    EXPECT_EQ(result->ends[0].first_seed, 77u);
    EXPECT_EQ(result->ends[0].runs + result->ends[1].runs, 300u) << "the recorded run does not count";
    ASSERT_EQ(result->races.size(), 1u);
    EXPECT_GT(result->races[0].trials, 10u);
    ASSERT_TRUE(result->coverage);
    std::string text;
    for (const TestCoverage::Share& share : result->coverage->shares) {
      text += share.strategy + " " + std::to_string(share.runs) + " " + std::to_string(share.brought) + "\n";
    }
    results.push_back(text);
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST(AutoTests, EndWithTheFirstFailureWhenTold) {
  const FindPairs find = [](std::uint64_t) -> Result<std::vector<DirectedPair>> { return Status::bad_input("no"); };
  const auto run = [](const RunPlan& plan) -> Result<RunOutcome> {
    RunOutcome outcome = counted_run();
    outcome.end.signal = plan.seed >= 77 ? SIGSEGV : 0;
    return outcome;
  };
  TestOptions options;
  options.runs = 300;
  options.jobs = 4;
  options.until_failure = true;
  CodeNames names("/no/such/program");
  TestTally tally("./p", names);
  const Result<TestResult> result = run_auto_tests(run, find, tally, options);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->runs, 77u);
  EXPECT_EQ(result->planned, 300u);
}

TEST(AutoTests, RunProgramsThatCannotBeRecorded) {
  const FindPairs find = [](std::uint64_t) -> Result<std::vector<DirectedPair>> { return Status::bad_input("no"); };
  const auto run = [](const RunPlan&) -> Result<RunOutcome> { return counted_run(); };
  TestOptions options;
  options.runs = 20;
  options.shard = 2;
  options.shards = 3;
  CodeNames names("/no/such/program");
  TestTally tally("./p", names);
  const Result<TestResult> result = run_auto_tests(run, find, tally, options);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->runs, 7u);
  EXPECT_FALSE(result->found());
}

}  // namespace
}  // namespace sooth
