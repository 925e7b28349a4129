#include "confirm/output_harm.h"

#include <gtest/gtest.h>

#include "schedule/random.h"

namespace sooth {
namespace {

// So many runs with each order.
void add_runs(ComparedRuns& runs, int order, const std::string& printed, int times) {
  RunPlan plan;
  plan.seed = runs.runs().size() + 1;
  for (int i = 0; i < times; ++i) {
    runs.add(plan, order, printed);
  }
}

TEST(OutputHarm, TheOrderDecides) {
  ComparedRuns runs;
  add_runs(runs, 0, "balance: 50\n", 10);
  EXPECT_FALSE(runs.differ());
  EXPECT_FALSE(judge_outputs(runs, {}, std::nullopt).has_value()) << "all print the same";
  add_runs(runs, 1, "balance: 70\n", 6);
  add_runs(runs, 1, "balance: 80\n", 4);
  ASSERT_TRUE(runs.differ());
  EXPECT_EQ(runs.results().size(), 3u);
  const std::optional<OutputHarm> harm = judge_outputs(runs, {}, std::nullopt);
  ASSERT_TRUE(harm.has_value())
      << "neither of the two is frequent enough, but the usual one never comes with this order";
  EXPECT_LT(harm->chance, 0.001);
  EXPECT_EQ(harm->runs, 6u);
  EXPECT_EQ(runs.runs()[harm->run].plan.seed, 11u);
  EXPECT_EQ(harm->difference, "printed \"balance: 70\" instead of \"balance: 50\"");
  const std::optional<OutputHarm> other = judge_outputs(runs, {}, std::vector<std::string>{"balance: 70"});
  ASSERT_TRUE(other.has_value());
  EXPECT_EQ(other->difference, "printed \"balance: 50\" instead of \"balance: 70\"") << "others print that";
}

// Something else makes the program say that it had to wait, with either order, and more often.
TEST(OutputHarm, ShowsWhatTheOrderDecides) {
  ComparedRuns runs;
  add_runs(runs, 0, "100\n", 12);
  add_runs(runs, 0, "waited\n100\n", 8);
  add_runs(runs, 1, "waited\n100\n", 8);
  add_runs(runs, 1, "50\n", 12);
  const std::optional<OutputHarm> harm = judge_outputs(runs, {}, std::vector<std::string>{"100"});
  ASSERT_TRUE(harm.has_value());
  EXPECT_EQ(harm->difference, "printed \"50\" instead of \"100\"");
  EXPECT_EQ(harm->runs, 12u);
}

TEST(OutputHarm, WhatBothOrdersShowIsNone) {
  ComparedRuns runs;
  for (const int order : {0, 1}) {
    add_runs(runs, order, "even\n", 5);
    add_runs(runs, order, "odd\n", 5);
  }
  EXPECT_FALSE(judge_outputs(runs, {}, std::nullopt).has_value());
}

// Among races that decide nothing few are called harmful: no more than the chance that is admitted.
TEST(OutputHarm, SeldomTakesChanceForARace) {
  constexpr std::uint64_t kCases = 2'000;
  std::uint64_t wrong = 0;
  for (std::uint64_t seed = 1; seed <= kCases; ++seed) {
    SeededRandom random(seed);
    ComparedRuns runs;
    for (int i = 0; i < 20; ++i) {
      add_runs(runs, static_cast<int>(random.below(2)), std::to_string(random.below(3)), 1);
    }
    wrong += judge_outputs(runs, {}, std::nullopt).has_value() ? 1 : 0;
  }
  EXPECT_LE(static_cast<double>(wrong), kOtherOutput * kCases);
}

TEST(CommonOutput, IsWhatAllPrint) {
  EXPECT_FALSE(common_output({}, {}).has_value());
  EXPECT_EQ(common_output({"b\na\n", "a\nb\n"}, {}), (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(common_output({"a\n", "b\n"}, {}).has_value());
}

TEST(ResultOf, HasWhatIsCompared) {
  RunOutcome run;
  run.output = "out\n";
  run.errors = "err\n";
  run.files = "file\n";
  EXPECT_EQ(result_of(run, {kItsOutput, "x"}), "out\nerr\nfile\n");
  EXPECT_EQ(result_of(run, {"x"}), "file\n");
}

}  // namespace
}  // namespace sooth
