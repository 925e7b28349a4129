#include "confirm/test_corpus.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "confirm/auto_tests.h"

namespace sooth {
namespace {

namespace fs = std::filesystem;

class TestCorpusTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "sooth-corpus-" + std::to_string(::getpid());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    build("one");
  }
  void TearDown() override { fs::remove_all(folder_); }

  void build(const std::string& code) const { std::ofstream(program()) << code; }
  std::string program() const { return folder_ + "/p"; }
  TestCorpus open() const {
    Result<TestCorpus> corpus = TestCorpus::open(folder_ + "/corpus", program());
    EXPECT_TRUE(corpus.ok()) << corpus.status().message();
    return std::move(*corpus);
  }

  std::string folder_;
};

ScheduleFile kept_schedule(const std::string& strategy, std::uint64_t seed) {
  ScheduleFile schedule;
  schedule.program = "./p";
  schedule.plan.strategy = strategy;
  schedule.plan.seed = seed;
  schedule.plan.sites = {{"", 0x10, 0x20, 1, control::kReads}};
  schedule.open_end = true;
  return schedule;
}

TEST_F(TestCorpusTest, KeepsFailuresFirst) {
  TestCorpus corpus = open();
  EXPECT_TRUE(corpus.kept().empty());
  EXPECT_EQ(corpus.seeds(), 0u);
  EXPECT_TRUE(*corpus.add(kept_schedule("pos", 1), false));
  EXPECT_FALSE(*corpus.add(kept_schedule("pos", 1), false)) << "it is there already";
  EXPECT_TRUE(*corpus.add(kept_schedule("rff:1>2", 2), true));
  EXPECT_TRUE(corpus.finish(77).ok());
  const TestCorpus again = open();
  ASSERT_EQ(again.kept().size(), 2u);
  EXPECT_EQ(again.seeds(), 77u);
  const RunPlan plan = TestCorpus::plan_of(again.kept()[0]);
  EXPECT_EQ(plan.strategy, "rff:1>2");
  EXPECT_EQ(plan.seed, 2u);
  EXPECT_EQ(plan.sites.size(), 1u);
  EXPECT_TRUE(again.remove(again.kept()[0]).ok());
  EXPECT_EQ(open().kept().size(), 1u);
}

TEST_F(TestCorpusTest, AnotherBuildHasNoPlaces) {
  EXPECT_TRUE(*open().add(kept_schedule("rff:1>2", 2), true));
  build("two");
  const TestCorpus corpus = open();
  ASSERT_EQ(corpus.kept().size(), 1u);
  EXPECT_TRUE(corpus.kept()[0].is_of_other_build);
  EXPECT_EQ(TestCorpus::plan_of(corpus.kept()[0]).strategy, "rff");
  EXPECT_TRUE(TestCorpus::plan_of(corpus.kept()[0]).sites.empty());
}

TEST_F(TestCorpusTest, RefusesWhatIsNoSchedule) {
  EXPECT_TRUE(*open().add(kept_schedule("pos", 1), false));
  for (const fs::directory_entry& file : fs::recursive_directory_iterator(folder_ + "/corpus")) {
    if (file.path().extension() == ".schedule") {
      std::ofstream(file.path()) << "a poem";
    }
  }
  EXPECT_FALSE(TestCorpus::open(folder_ + "/corpus", program()).ok());
}

TEST_F(TestCorpusTest, CampaignsBeginWithWhatEarlierOnesKept) {
  // Orders depend on the seed; run 40 of the first campaign fails.
  const auto run = [](const RunPlan& plan) -> Result<RunOutcome> {
    RunOutcome outcome;
    outcome.log.state = control::RunState::kEnded;
    outcome.log.processes.resize(1);
    outcome.log.order_hash = plan.seed;
    outcome.log.processes[0].orders = {{{1, plan.seed % 7, 1}, 1, 2}};
    outcome.end.signal = plan.seed == 40 ? 6 : 0;
    return outcome;
  };
  const FindPairs find = [](std::uint64_t) -> Result<std::vector<DirectedPair>> { return Status::bad_input("no"); };
  const auto campaign = [&](std::uint64_t runs) {
    TestCorpus corpus = open();
    TestOptions options;
    options.runs = runs;
    options.corpus = &corpus;
    CodeNames names("/no/such/program");
    TestTally tally("./p", names);
    Result<TestResult> result = run_auto_tests(run, find, tally, options);
    EXPECT_TRUE(result.ok());
    EXPECT_EQ(result->runs, runs);
    return std::move(*result);
  };
  const TestResult first = campaign(60);
  EXPECT_EQ(first.corpus->repeated, 0u);
  EXPECT_EQ(first.corpus->added, 8u) << "seven orders and one failure";
  const TestResult second = campaign(20);
  EXPECT_EQ(second.corpus->repeated, 8u);
  EXPECT_EQ(second.corpus->added, 0u);
  EXPECT_TRUE(second.found()) << "a run that failed once is made again";
  EXPECT_LE(second.corpus->removed, 1u) << "the failure shows an order, too";
  EXPECT_EQ(open().seeds(), 72u) << "60, and 12 of the second that repeated nothing";
  build("two");
  EXPECT_EQ(campaign(20).corpus->added, 8u - second.corpus->removed) << "they are of this build now";
  EXPECT_FALSE(open().kept()[0].is_of_other_build);
}

}  // namespace
}  // namespace sooth
