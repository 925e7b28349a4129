#include "confirm/minimize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

#include "confirm/preemptions.h"
#include "schedule/random.h"

namespace sooth {
namespace {

using control::Stretch;
using control::StretchEnd;

Stretch step_stretch(std::uint32_t thread, std::uint64_t events, StretchEnd end = StretchEnd::kPreempted) {
  return {thread, end, events, 0, 0, 0};
}

std::vector<std::uint32_t> threads_of(const std::vector<Stretch>& stretches) {
  std::vector<std::uint32_t> threads;
  for (const Stretch& each : stretches) {
    threads.push_back(each.thread);
  }
  return threads;
}

// Threads that make kSteps steps each and never block. A schedule is followed as far as it goes, then in turn.
class SteppingModel {
 public:
  static constexpr std::uint64_t kSteps = 20;
  // Whether it fails, of who did which step in which order.
  using Fails = std::function<bool(const std::vector<std::pair<std::uint32_t, std::uint64_t>>&)>;

  SteppingModel(std::uint32_t threads, Fails fails) : threads_(threads), fails_(std::move(fails)) {}

  Result<RunOutcome> run(const RunPlan& plan) const {
    std::vector<std::uint64_t> done(threads_);
    std::vector<std::pair<std::uint32_t, std::uint64_t>> order;
    std::vector<Stretch> stretches;
    const auto go = [&](std::uint32_t thread, std::uint64_t to) {
      if (done[thread] >= std::min(to, kSteps)) {
        return;
      }
      while (done[thread] < std::min(to, kSteps)) {
        order.emplace_back(thread, done[thread]++);
      }
      if (!stretches.empty() && stretches.back().thread == thread) {
        stretches.pop_back();
      }
      stretches.push_back(
          step_stretch(thread, done[thread], done[thread] == kSteps ? StretchEnd::kEnded : StretchEnd::kPreempted));
    };
    for (const Stretch& each : plan.stretches) {
      EXPECT_EQ(each.hash, 0u);
      go(each.thread, each.events);
    }
    for (std::uint32_t thread = 0; thread < threads_; ++thread) {
      go(thread, kSteps);
    }
    RunOutcome outcome;
    outcome.log.state = control::RunState::kEnded;
    outcome.log.processes.resize(1);
    outcome.log.processes[0].stretches = stretches;
    outcome.end.signal = fails_(order) ? SIGABRT : 0;
    return outcome;
  }

  // A run that fails, under a schedule with many preemptions.
  RunOutcome failed(std::uint64_t seed) const {
    SeededRandom random(seed);
    for (;;) {
      RunPlan plan;
      for (std::uint64_t i = 0; i < 40; ++i) {
        plan.stretches.push_back(
            step_stretch(static_cast<std::uint32_t>(random.below(threads_)), 1 + random.below(kSteps)));
      }
      RunOutcome outcome = *run(plan);
      if (outcome.end.signal != 0) {
        return outcome;
      }
    }
  }

  Result<std::optional<MinimizedRun>> minimized(const RunOutcome& failed, const MinimizeOptions& options = {}) const {
    return minimize([this](const RunPlan& plan) { return run(plan); },
                    [](const RunOutcome& outcome) { return outcome.end.signal != 0; }, failed, options);
  }

 private:
  std::uint32_t threads_;
  Fails fails_;
};

std::size_t step_place(const std::vector<std::pair<std::uint32_t, std::uint64_t>>& order, std::uint32_t thread,
                       std::uint64_t step) {
  return static_cast<std::size_t>(std::find(order.begin(), order.end(), std::pair(thread, step)) - order.begin());
}

TEST(PreemptionsOf, CountsWhoCouldHaveGoneOn) {
  EXPECT_TRUE(preemptions_of({}).empty());
  EXPECT_EQ(preemptions_of({step_stretch(0, 3), step_stretch(1, 2, StretchEnd::kBlocked),
                            step_stretch(0, 5, StretchEnd::kPostponed), step_stretch(1, 9, StretchEnd::kEnded),
                            step_stretch(0, 7)}),
            (std::vector<std::size_t>{0, 2}));
  EXPECT_TRUE(preemptions_of({step_stretch(0, 3), step_stretch(0, 5)}).empty()) << "it kept its turn";
}

TEST(WithoutPreemptions, TheThreadGoesOnOrDoesNotBegin) {
  const std::vector<Stretch> all = {step_stretch(0, 3), step_stretch(1, 2), step_stretch(0, 5), step_stretch(1, 9),
                                    step_stretch(0, 7)};
  const std::vector<Stretch> on = without_preemptions(all, {0}, Rejoin::kGoOn);
  EXPECT_EQ(threads_of(on), (std::vector<std::uint32_t>{0, 1, 0}));
  EXPECT_EQ(on[0].events, 5u);
  EXPECT_EQ(on[1].events, 9u);
  const std::vector<Stretch> deferred = without_preemptions(all, {0}, Rejoin::kDefer);
  EXPECT_EQ(threads_of(deferred), (std::vector<std::uint32_t>{1, 0, 1, 0}));
  EXPECT_EQ(deferred[1].events, 5u);
  EXPECT_EQ(threads_of(without_preemptions(all, {0, 1, 2, 3}, Rejoin::kGoOn)), (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(threads_of(without_preemptions({step_stretch(0, 3), step_stretch(1, 2)}, {0}, Rejoin::kGoOn)),
            (std::vector<std::uint32_t>{1}))
      << "it never ran again";
}

TEST(Minimize, FindsTheOneThatMatters) {
  // Thread 1 does its step 4 between steps 9 and 10 of thread 0.
  const SteppingModel model(3, [](const auto& order) {
    const std::size_t at = step_place(order, 1, 4);
    return at > step_place(order, 0, 9) && at < step_place(order, 0, 10);
  });
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const RunOutcome failed = model.failed(seed);
    const Result<std::optional<MinimizedRun>> result = model.minimized(failed);
    ASSERT_TRUE(result.ok() && result->has_value()) << seed;
    EXPECT_EQ((*result)->preemptions, 1u) << seed;
    EXPECT_TRUE((*result)->is_minimal) << seed;
    EXPECT_EQ((*result)->before, preemptions_of(failed.log.processes[0].stretches).size()) << seed;
    EXPECT_NE(model.run((*result)->plan)->end.signal, 0) << "what is kept leads there: seed " << seed;
  }
}

TEST(Minimize, KeepsAsManyAsItTakes) {
  // Thread 0 sees step 3 of thread 1 behind its own step 5, and thread 1 sees step 12 of thread 0 behind its own step 8.
  const SteppingModel model(2, [](const auto& order) {
    const std::size_t first = step_place(order, 1, 3), second = step_place(order, 0, 12);
    return first > step_place(order, 0, 5) && first < step_place(order, 0, 6) && second > step_place(order, 1, 8) &&
           second < step_place(order, 1, 9);
  });
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Result<std::optional<MinimizedRun>> result = model.minimized(model.failed(seed));
    ASSERT_TRUE(result.ok() && result->has_value()) << seed;
    EXPECT_EQ((*result)->preemptions, 2u) << seed;
  }
}

TEST(Minimize, NeedsNoneWhereTurnsAreEnough) {
  const SteppingModel model(2, [](const auto&) { return true; });
  const Result<std::optional<MinimizedRun>> result = model.minimized(model.failed(1));
  ASSERT_TRUE(result.ok() && result->has_value());
  EXPECT_EQ((*result)->preemptions, 0u);
}

TEST(Minimize, EndsWithItsRuns) {
  const SteppingModel model(3, [](const auto& order) { return step_place(order, 2, 1) < step_place(order, 0, 19); });
  MinimizeOptions options;
  options.max_runs = 2;
  const Result<std::optional<MinimizedRun>> result = model.minimized(model.failed(1), options);
  ASSERT_TRUE(result.ok() && result->has_value());
  EXPECT_LE((*result)->runs, 2u);
  EXPECT_FALSE((*result)->is_minimal);
}

TEST(Minimize, SaysWhenFollowingDoesNotFail) {
  const SteppingModel model(2, [](const auto&) { return true; });
  const SteppingModel healthy(2, [](const auto&) { return false; });
  const Result<std::optional<MinimizedRun>> result = healthy.minimized(model.failed(1));
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result->has_value());
}

TEST(DescribePreemptions, SayHowFarTheThreadHasComeWithoutPlaces) {
  RunLog log;
  log.processes.resize(1);
  log.processes[0].stretches = {step_stretch(1, 3), step_stretch(2, 2, StretchEnd::kEnded),
                                step_stretch(1, 9, StretchEnd::kEnded)};
  CodeNames names("/no/such/program");
  EXPECT_EQ(describe_preemptions(log, names),
            (std::vector<std::string>{"preempt T1 after 3 operations and 0 accesses, and let T2 run"}));
  log.processes[0].stretches = {step_stretch(0, 3), step_stretch(2, 2, StretchEnd::kEnded),
                                step_stretch(0, 9, StretchEnd::kEnded)};
  EXPECT_EQ(describe_preemptions(log, names),
            (std::vector<std::string>{"preempt main after 3 operations and 0 accesses, and let T2 run"}))
      << "threads have the names that they have in reports";
}

}  // namespace
}  // namespace sooth
