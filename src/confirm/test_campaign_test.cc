#include "confirm/test_campaign.h"

#include <gtest/gtest.h>

#include <csignal>

namespace sooth {
namespace {

RunOutcome exited(int status, std::uint64_t output = 0) {
  RunOutcome run;
  run.end.status = status;
  run.output_hash = output;
  run.log.state = control::RunState::kEnded;
  run.log.processes.resize(1);
  return run;
}

RunOutcome killed(int signal, const std::string& errors = "") {
  RunOutcome run = exited(0);
  run.end.signal = signal;
  run.errors = errors;
  run.log.state = control::RunState::kRunning;
  return run;
}

RunOutcome deadlocked(std::vector<BlockedThread> threads) {
  RunOutcome run = exited(control::kDeadlockStatus);
  run.log.state = control::RunState::kDeadlocked;
  run.log.processes[0].deadlock = std::move(threads);
  return run;
}

TestResult tested(const std::function<RunOutcome(std::uint64_t seed)>& run, TestOptions options = {}) {
  CodeNames names("/no/such/program");
  TestTally tally("./p", names);
  const auto result =
      run_tests([&](const RunPlan& plan) -> Result<RunOutcome> { return run(plan.seed); }, tally, options);
  EXPECT_TRUE(result.ok());
  return result.ok() ? *result : TestResult{};
}

TEST(TestCampaign, SortsRunsByHowTheyEnd) {
  TestOptions options;
  options.runs = 100;
  const auto run = [](std::uint64_t seed) {
    return seed % 10 == 3   ? killed(SIGABRT, "p: p.cc:7: main: Assertion `x' failed.\n")
           : seed % 10 == 4 ? killed(SIGABRT, "p: p.cc:9: main: Assertion `y' failed.\n")
           : seed % 10 == 5 ? killed(SIGSEGV)
           : seed == 50     ? exited(2)
                            : exited(0, seed % 3);
  };
  for (const std::uint32_t jobs : {1u, 4u}) {
    options.jobs = jobs;
    const TestResult result = tested(run, options);
    EXPECT_EQ(result.runs, 100u);
    EXPECT_EQ(result.planned, 100u);
    EXPECT_TRUE(result.found());
    ASSERT_EQ(result.ends.size(), 5u);
    EXPECT_EQ(result.ends[0].first_seed, 3u);
    EXPECT_EQ(result.ends[0].runs, 10u);
    EXPECT_EQ(result.ends[0].outcome.last_words, "p: p.cc:7: main: Assertion `x' failed.");
    EXPECT_EQ(result.ends[0].schedule.plan.seed, 3u);
    EXPECT_EQ(result.ends[1].first_seed, 4u);
    EXPECT_EQ(result.ends[2].outcome.number, SIGSEGV);
    EXPECT_EQ(result.ends[3].outcome.number, 2) << "a status that is not the usual one is a failure";
    EXPECT_FALSE(result.ends[4].failure);
    EXPECT_EQ(result.ends[4].outputs.size(), 3u);
  }
}

TEST(TestCampaign, EndsWithTheFirstFailureWhenTold) {
  TestOptions options;
  options.runs = 100;
  options.until_failure = true;
  for (const std::uint32_t jobs : {1u, 4u}) {
    options.jobs = jobs;
    const TestResult crashes =
        tested([](std::uint64_t seed) { return seed < 17 ? exited(3) : killed(SIGSEGV); }, options);
    EXPECT_EQ(crashes.runs, 17u) << "a status that all runs have is no failure";
    EXPECT_EQ(crashes.planned, 100u);
    EXPECT_EQ(crashes.ends[0].first_seed, 17u);
    EXPECT_EQ(tested([](std::uint64_t seed) { return exited(seed == 9 ? 1 : 0); }, options).runs, 9u);
    EXPECT_EQ(tested([](std::uint64_t) { return exited(1); }, options).runs, 100u);
  }
}

TEST(TestCampaign, TheUsualStatusIsTheMostFrequentOne) {
  const TestResult always = tested([](std::uint64_t) { return exited(1); });
  EXPECT_FALSE(always.found());
  const TestResult seldom = tested([](std::uint64_t seed) { return exited(seed < 4 ? 0 : 1); });
  ASSERT_EQ(seldom.ends.size(), 2u);
  EXPECT_TRUE(seldom.ends[0].failure);
  EXPECT_EQ(seldom.ends[0].outcome.number, 0);
  EXPECT_EQ(seldom.ends[0].runs, 3u);
  EXPECT_TRUE(tested([](std::uint64_t) { return killed(SIGSEGV); }).found()) << "a crash is never usual";
}

TEST(TestCampaign, ComplaintsAreTheSameWhateverTheProcessAndTheAddress) {
  const auto error = [](std::uint64_t seed) {
    return killed(SIGABRT, "==" + std::to_string(1000 + seed) +
                               "==ERROR: AddressSanitizer: heap-use-after-free on address 0x" +
                               std::to_string(seed * 16) + " at pc 0xabc\n");
  };
  EXPECT_EQ(tested(error).ends.size(), 1u);
}

TEST(TestCampaign, DeadlocksAreTheSameAtTheSamePlaces) {
  using control::BlockedOn;
  const auto deadlock = [](std::uint64_t seed) {
    const std::uint32_t a = seed % 2 == 0 ? 1 : 2;
    const std::uint64_t place = seed % 3 == 0 ? 0x30 : 0x20;
    return deadlocked({{a, BlockedOn::kMutex, 3 - a, 0x10}, {3 - a, BlockedOn::kMutex, a, place}});
  };
  const TestResult result = tested(deadlock);
  ASSERT_EQ(result.ends.size(), 2u);
  ASSERT_EQ(result.ends[0].blocked.size(), 2u);
  EXPECT_EQ(result.ends[0].blocked[0], "thread T2 at program+0x10 waits for a mutex that thread T1 holds");
  EXPECT_EQ(result.ends[1].first_seed, 3u);
}

TEST(TestCampaign, ShardsMakeTheWholeTogether) {
  std::uint64_t runs = 0, failures = 0;
  for (std::uint32_t shard = 1; shard <= 3; ++shard) {
    TestOptions options;
    options.runs = 100;
    options.seed = 7;
    options.shard = shard;
    options.shards = 3;
    const TestResult result =
        tested([](std::uint64_t seed) { return exited(seed >= 7 && seed < 107 && seed != 50 ? 0 : 1); }, options);
    runs += result.runs;
    failures += result.found() ? result.ends[0].runs : 0;
  }
  EXPECT_EQ(runs, 100u);
  EXPECT_EQ(failures, 1u);
}

TEST(TestCampaign, EndsEarlyWithWhatItHas) {
  TestOptions options;
  std::uint64_t made = 0;
  options.on_run = [&](std::uint64_t runs) { made = runs; };
  options.cancelled = [&] { return made >= 10; };
  const TestResult result = tested([](std::uint64_t seed) { return seed == 2 ? killed(SIGSEGV) : exited(0); }, options);
  EXPECT_GE(result.runs, 10u);
  EXPECT_LT(result.runs, result.planned);
  EXPECT_TRUE(result.found());
  const TestResult interrupted = tested([](std::uint64_t seed) {
    RunOutcome run = killed(SIGKILL);
    run.cancelled = seed >= 5;
    return run;
  });
  EXPECT_EQ(interrupted.runs, 4u) << "a run that was cut off by us tells nothing";
}

}  // namespace
}  // namespace sooth
