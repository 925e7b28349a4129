#include "confirm/campaign.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <memory>
#include <set>

#include "confirm/confirm_report.h"
#include "confirm/ordered_work.h"
#include "confirm/shell_words.h"
#include "schedule/random.h"
#include "schedule/schedule_file.h"

namespace sooth {
namespace {

const PlaceCode kFirst{"", {{0x100, 0x110}}};
const PlaceCode kSecond{"", {{0x200, 0x210}}};

Target race_target() {
  Target target;
  target.pair = pair_code(kFirst, control::kReads, kSecond, control::kWrites);
  return target;
}

RunOutcome ended(int status) {
  RunOutcome run;
  run.end.status = status;
  run.log.state = control::RunState::kEnded;
  run.log.processes.resize(1);
  return run;
}

RunOutcome race_then(int status) {
  RunOutcome run = ended(status);
  RacingThread reader{
      .thread = 1, .offset = 0x104, .range = 0, .variable = {}, .bytes = 4, .kinds = control::kReads, .first = true};
  RacingThread writer{
      .thread = 2, .offset = 0x204, .range = 1, .variable = {}, .bytes = 4, .kinds = control::kWrites, .first = false};
  run.log.processes[0].races.push_back({.stretch = 0, .here = writer, .others = {reader}});
  return run;
}

bool directed(const RunPlan& plan) { return plan.plan == control::Plan::kDirected; }

Confirmation confirmed(const Campaign::Run& run, const Target& target, CampaignOptions options = {}) {
  Campaign campaign(run, std::move(options));
  const Result<Confirmation> result = campaign.confirm(target);
  EXPECT_TRUE(result.ok());
  return result.ok() ? *result : Confirmation{};
}

TEST(OrderedWorkTest, TakesInOrderAndStops) {
  for (const std::uint32_t jobs : {1u, 2u, 7u}) {
    std::vector<std::uint64_t> taken;
    do_in_order<std::uint64_t>(
        1000, jobs, [](std::uint64_t i) { return i * i; },
        [&](std::uint64_t i, std::uint64_t&& square) {
          EXPECT_EQ(square, i * i);
          taken.push_back(i);
          return i < 99;
        },
        [] { return false; });
    ASSERT_EQ(taken.size(), 100u);
    EXPECT_TRUE(std::is_sorted(taken.begin(), taken.end()));
  }
}

TEST(OrderedWorkTest, CancelledWorkLeavesAPrefix) {
  std::atomic<int> started{0};
  std::uint64_t taken = 0;
  do_in_order<int>(
      1000, 4, [&](std::uint64_t) { return ++started; }, [&](std::uint64_t i, int&&) { return taken = i + 1, true; },
      [&] { return started >= 20; });
  EXPECT_GE(taken, 20u);
  EXPECT_LE(taken, 24u);
}

TEST(CampaignTest, TheLowestSeedThatDoesHarmWinsWhateverTheJobs) {
  const auto run = [](const RunPlan& plan) -> Result<RunOutcome> {
    return !directed(plan)      ? ended(0)
           : plan.seed % 7 == 6 ? race_then(3)
           : plan.seed % 2 == 0 ? race_then(0)
                                : ended(0);
  };
  for (const std::uint32_t jobs : {1u, 2u, 8u}) {
    CampaignOptions options;
    options.jobs = jobs;
    const Confirmation result = confirmed(run, race_target(), options);
    EXPECT_TRUE(result.harmful);
    EXPECT_EQ(result.run->plan.seed, 6u);
    // So long it takes until chance is ruled out.
    EXPECT_EQ(result.trials, 62u);
    EXPECT_EQ(result.hits, 35u);
    EXPECT_EQ(result.failures, 9u);
    EXPECT_LT(result.chance, kClear);
    EXPECT_EQ(result.baseline_runs, 10u);
    EXPECT_EQ(result.baseline_failures + result.missed_failures, 0u);
  }
}

TEST(CampaignTest, AllTrialsGiveTheProbability) {
  CampaignOptions options;
  options.all_trials = true;
  const auto run = [](const RunPlan& plan) -> Result<RunOutcome> {
    return directed(plan) && plan.seed % 4 != 0 ? race_then(plan.seed % 4 == 1 ? 1 : 0) : ended(0);
  };
  const Confirmation result = confirmed(run, race_target(), options);
  EXPECT_EQ(result.trials, 100u);
  EXPECT_EQ(result.hits, 75u);
  EXPECT_EQ(result.failures, 25u);
}

TEST(CampaignTest, AHarmlessRaceIsLeftAfterTenHits) {
  const auto run = [](const RunPlan& plan) -> Result<RunOutcome> { return directed(plan) ? race_then(0) : ended(0); };
  const Confirmation result = confirmed(run, race_target());
  EXPECT_FALSE(result.harmful);
  EXPECT_EQ(result.trials, Campaign::kHarmlessHits);
  EXPECT_EQ(result.hits, Campaign::kHarmlessHits);
  EXPECT_EQ(result.run->plan.seed, 1u);
}

// A race in every directed run; the order is drawn by the seed, and `print` says what comes of it. In others the reader
// goes first.
Campaign::Run printing_run(const std::function<std::string(std::uint64_t seed, bool reader_first)>& print) {
  auto made = std::make_shared<std::atomic<std::uint64_t>>(0);
  return [=](const RunPlan& plan) -> Result<RunOutcome> {
    RunOutcome run = directed(plan) ? race_then(0) : ended(0);
    const bool reader_first = !directed(plan) || SeededRandom(plan.seed).below(2) == 0;
    if (directed(plan)) {
      run.log.processes[0].races[0].here.first = !reader_first;
      run.log.processes[0].races[0].others[0].first = reader_first;
    }
    run.output = "took " + std::to_string(++*made) + " ms\n" + print(plan.seed, reader_first);
    return run;
  };
}

TEST(CampaignTest, OutputThatTheOrderDecidesIsHarm) {
  const Campaign::Run run = printing_run(
      [](std::uint64_t, bool reader_first) { return std::string(reader_first ? "balance: 100\n" : "balance: 50\n"); });
  CampaignOptions options;
  options.compared = {kItsOutput};
  const Confirmation result = confirmed(run, race_target(), options);
  EXPECT_TRUE(result.harmful);
  EXPECT_TRUE(result.order_matters);
  EXPECT_EQ(result.hits, Campaign::kComparedHits);
  EXPECT_LT(result.chance, kOtherOutput);
  const std::string told = result.run->outcome.describe();
  EXPECT_TRUE(told == "exit status 0, but it printed \"balance: 50\" instead of \"balance: 100\"" ||
              told == "exit status 0, but it printed \"balance: 100\" instead of \"balance: 50\"")
      << told;
  const Confirmation unasked = confirmed(run, race_target());
  EXPECT_TRUE(unasked.harmful) << "undirected runs all print the same";
  EXPECT_EQ(unasked.run->outcome.difference.substr(0, 8), "printed ");
}

TEST(CampaignTest, OutputThatVariesAnywayIsComparedOnlyIfAsked) {
  // Whoever comes first prints another number, with or without the race.
  const Campaign::Run run = [](const RunPlan& plan) -> Result<RunOutcome> {
    RunOutcome outcome = directed(plan) ? race_then(0) : ended(0);
    const bool first = SeededRandom(plan.seed).below(2) == 0;
    if (directed(plan)) {
      outcome.log.processes[0].races[0].here.first = !first;
      outcome.log.processes[0].races[0].others[0].first = first;
    }
    outcome.output = first ? "1 came first\n" : "2 came first\n";
    return outcome;
  };
  const Confirmation unasked = confirmed(run, race_target());
  EXPECT_FALSE(unasked.harmful);
  CampaignOptions options;
  options.compared = {kItsOutput};
  EXPECT_TRUE(confirmed(run, race_target(), options).harmful);
}

TEST(CampaignTest, OutputThatVariesForOtherReasonsIsNoHarm) {
  CampaignOptions options;
  options.compared = {kItsOutput};
  const auto is_harm = [&](const std::function<std::string(std::uint64_t, bool)>& print) {
    return confirmed(printing_run(print), race_target(), options).harmful;
  };
  EXPECT_FALSE(is_harm([](std::uint64_t, bool) { return "done\n"; }));
  EXPECT_FALSE(is_harm([](std::uint64_t seed, bool) { return seed % 2 == 0 ? "even\n" : "odd\n"; }));
  EXPECT_FALSE(is_harm([](std::uint64_t, bool first) { return first ? "a\nb\n" : "b\na\n"; })) << "lines change places";
  EXPECT_FALSE(is_harm([made = std::make_shared<int>(0)](std::uint64_t, bool) {
    return std::string(++*made % 3, '\n');
  })) << "one schedule prints another number of lines each time";
  options.mask = *OutputMask::of({"balance: \\d+"});
  EXPECT_FALSE(is_harm([](std::uint64_t, bool first) { return first ? "balance: 100\n" : "balance: 50\n"; }));
}

TEST(CampaignTest, ARaceThatOnlyADelayLeadsToSaysSo) {
  const auto run = [](std::uint64_t undelayed) {
    return [=](const RunPlan& plan) -> Result<RunOutcome> {
      RunOutcome outcome = race_then(0);
      outcome.log.processes[0].races[0].delay = plan.seed == undelayed ? 0 : kUsualDelay + 1;
      return directed(plan) ? outcome : ended(0);
    };
  };
  EXPECT_TRUE(confirmed(run(0), race_target()).by_delay);
  EXPECT_FALSE(confirmed(run(3), race_target()).by_delay);
  EXPECT_FALSE(confirmed([](const RunPlan&) -> Result<RunOutcome> { return ended(0); }, race_target()).by_delay);
}

TEST(CampaignTest, WhatIsNeverReachedTakesAllTrials) {
  const Confirmation result = confirmed([](const RunPlan&) -> Result<RunOutcome> { return ended(0); }, race_target());
  EXPECT_EQ(result.trials, 100u);
  EXPECT_EQ(result.hits, 0u);
  EXPECT_FALSE(result.run.has_value());
}

// A race between other threads' accesses of the pair's places is another finding.
TEST(CampaignTest, OnlyThisPairCounts) {
  const auto run = [](const RunPlan&) -> Result<RunOutcome> {
    RunOutcome outcome = race_then(0);
    outcome.log.processes[0].races[0].here = outcome.log.processes[0].races[0].others[0];
    return outcome;
  };
  EXPECT_EQ(confirmed(run, race_target()).hits, 0u);
}

TEST(CampaignTest, OlderValuesComeWithFurtherTrials) {
  std::set<std::uint64_t> seeds;
  const auto run = [&](const RunPlan& plan) -> Result<RunOutcome> {
    const bool weak = (plan.flags & control::kWeakMemory) != 0;
    EXPECT_TRUE(!directed(plan) || seeds.insert(plan.seed).second) << "no trial twice";
    return weak ? race_then(0) : ended(0);
  };
  CampaignOptions options;
  options.trials = 7;
  Campaign campaign(run, options);
  const std::shared_ptr<Campaign::Attempt> attempt = campaign.begin(race_target());
  Campaign::Attempt* const attempts[] = {attempt.get()};
  ASSERT_TRUE(campaign.advance(attempts, UINT64_MAX).ok());
  EXPECT_TRUE(campaign.over(*attempt));
  EXPECT_FALSE(campaign.has_reached(*attempt));
  campaign.allow_older_values(*attempt, 5);
  EXPECT_FALSE(campaign.over(*attempt));
  ASSERT_TRUE(campaign.advance(attempts, UINT64_MAX).ok());
  const Result<Confirmation> result = campaign.finish(*attempt);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->trials, 12u);
  EXPECT_EQ(result->hits, 5u);
  ASSERT_TRUE(result->run.has_value());
  EXPECT_NE(result->run->plan.flags & control::kWeakMemory, 0u);
}

// With older values the program fails two times in three, whether the race is reached or not.
TEST(CampaignTest, AFailureOfWeakMemoryIsNoHarmOfARace) {
  const auto run = [](const RunPlan& plan) -> Result<RunOutcome> {
    const bool weak = (plan.flags & control::kWeakMemory) != 0;
    const int status = weak && plan.seed % 3 != 0 ? 1 : 0;
    return weak && directed(plan) && plan.seed % 2 == 0 ? race_then(status) : ended(status);
  };
  CampaignOptions options;
  options.trials = 40;
  Campaign campaign(run, options);
  const std::shared_ptr<Campaign::Attempt> attempt = campaign.begin(race_target());
  Campaign::Attempt* const attempts[] = {attempt.get()};
  ASSERT_TRUE(campaign.advance(attempts, UINT64_MAX).ok());
  campaign.allow_older_values(*attempt, 20);
  ASSERT_TRUE(campaign.advance(attempts, UINT64_MAX).ok());
  const Result<Confirmation> result = campaign.finish(*attempt);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->hits, 10u);
  EXPECT_GE(result->failures, 6u) << "told all the same";
  EXPECT_FALSE(result->harmful);
  EXPECT_EQ(result->baseline_runs, 20u);
  EXPECT_GE(result->baseline_failures, 12u);
}

TEST(CampaignTest, AFailureThatUndirectedRunsHaveTooNeedsMoreRuns) {
  const auto program = [](std::uint64_t failing_of_ten) {
    return [=](const RunPlan& plan) -> Result<RunOutcome> {
      const bool fails = plan.seed % 10 < (directed(plan) ? failing_of_ten : 2);
      return directed(plan) ? race_then(fails ? 1 : 0) : ended(fails ? 1 : 0);
    };
  };
  const Confirmation half = confirmed(program(5), race_target());
  EXPECT_TRUE(half.harmful);
  EXPECT_EQ(half.trials, 100u);
  EXPECT_EQ(half.failures, 50u);
  EXPECT_EQ(half.baseline_runs, 100u);
  EXPECT_EQ(half.baseline_failures, 20u);
  const Confirmation chance = confirmed(program(2), race_target());
  EXPECT_FALSE(chance.harmful);
  EXPECT_EQ(chance.failures, 20u) << "told all the same";
  EXPECT_EQ(chance.baseline_failures, 20u);
  EXPECT_TRUE(classify(ended(1)).same_end(chance.run->outcome));
}

// Every third run fails, whatever it does, and the first undirected runs just did not.
TEST(CampaignTest, AFailureThatHasNothingToDoWithTheFindingIsNoHarm) {
  const auto run = [](const RunPlan& plan) -> Result<RunOutcome> {
    const bool fails = plan.seed > 10 && plan.seed % 3 == 0;
    return directed(plan) && plan.seed % 2 == 0 ? race_then(fails ? 1 : 0) : ended(fails ? 1 : 0);
  };
  const Confirmation result = confirmed(run, race_target());
  EXPECT_FALSE(result.harmful);
  EXPECT_EQ(result.trials, 100u);
  EXPECT_EQ(result.hits, 50u);
  EXPECT_EQ(result.failures, 15u);
  EXPECT_EQ(result.missed_failures, 15u);
  EXPECT_EQ(result.baseline_runs, 100u);
  EXPECT_EQ(result.baseline_failures, 30u);
  EXPECT_GT(result.chance, kSignificant);
}

// Several attempts are under way at a time, and each has its turn; the results are those of one after the other.
TEST(CampaignTest, AttemptsTakeTurns) {
  const auto run = [](const RunPlan& plan) -> Result<RunOutcome> {
    return directed(plan) && plan.seed > 4 ? race_then(0) : ended(0);
  };
  for (const std::uint32_t jobs : {1u, 4u}) {
    CampaignOptions options;
    options.jobs = jobs;
    Campaign campaign(run, options);
    const std::shared_ptr<Campaign::Attempt> first = campaign.begin(race_target()),
                                             second = campaign.begin(race_target());
    Campaign::Attempt* const both[] = {first.get(), second.get()};
    ASSERT_TRUE(campaign.advance(both, 3).ok());
    EXPECT_EQ(campaign.trials_of(*first), 3u);
    EXPECT_EQ(campaign.trials_of(*second), 3u);
    EXPECT_FALSE(campaign.over(*first) || campaign.has_reached(*first));
    ASSERT_TRUE(campaign.advance(both, 100).ok());
    EXPECT_TRUE(campaign.over(*first) && campaign.has_reached(*first));
    for (const auto& attempt : {first, second}) {
      const Result<Confirmation> result = campaign.finish(*attempt);
      ASSERT_TRUE(result.ok());
      EXPECT_EQ(result->trials, 14u);
      EXPECT_EQ(result->hits, Campaign::kHarmlessHits);
    }
  }
}

TEST(CampaignTest, AWitnessThatIsFoundLaterIsFollowed) {
  Target target = race_target();
  const auto run = [](const RunPlan& plan) -> Result<RunOutcome> {
    return plan.plan == control::Plan::kStretches ? race_then(0) : ended(0);
  };
  Campaign campaign(run, {});
  const std::shared_ptr<Campaign::Attempt> attempt = campaign.begin(target);
  Campaign::Attempt* const one[] = {attempt.get()};
  ASSERT_TRUE(campaign.advance(one, 100).ok());
  EXPECT_TRUE(campaign.over(*attempt));
  target.witnesses.resize(1);
  target.witnesses[0].stretches.resize(2);
  target.witnesses[0].places = {"a.cc:1", "a.cc:2"};
  campaign.add_witnesses(*attempt, target);
  ASSERT_TRUE(campaign.advance(one, 1).ok());
  const Result<Confirmation> result = campaign.finish(*attempt);
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->witness_followed);
  EXPECT_EQ(result->trials, 100u);
}

// Which access goes first is drawn, so a failure that goes with it comes from the race, however often others fail.
TEST(CampaignTest, AFailureThatGoesWithTheOrderIsHarm) {
  const auto program = [](bool order_decides) {
    return [=](const RunPlan& plan) -> Result<RunOutcome> {
      const bool reader_first = plan.seed % 2 == 0;
      const bool fails = order_decides && directed(plan) ? reader_first : plan.seed % 4 < 2;
      RunOutcome run = directed(plan) ? race_then(fails ? 1 : 0) : ended(fails ? 1 : 0);
      if (directed(plan)) {
        run.log.processes[0].races[0].here.first = !reader_first;
        run.log.processes[0].races[0].others[0].first = reader_first;
      }
      return run;
    };
  };
  const Confirmation decided = confirmed(program(true), race_target());
  EXPECT_TRUE(decided.harmful && decided.order_matters);
  EXPECT_LT(decided.trials, 20u);
  EXPECT_EQ(decided.baseline_runs, 10u) << "no more were needed";
  const Confirmation chance = confirmed(program(false), race_target());
  EXPECT_FALSE(chance.harmful || chance.order_matters);
}

// The runs to compare with must not use the time up that a slow program has.
TEST(CampaignTest, AFindingIsTriedBeforeUndirectedRunsAreMade) {
  std::vector<bool> made;
  CampaignOptions options;
  options.cancelled = [&] { return made.size() == 4; };
  const auto run = [&](const RunPlan& plan) -> Result<RunOutcome> {
    made.push_back(directed(plan));
    return directed(plan) ? race_then(0) : ended(0);
  };
  EXPECT_TRUE(confirmed(run, race_target(), options).run.has_value());
  EXPECT_EQ(made, (std::vector<bool>{true, false, false, false}));
}

TEST(CampaignTest, TheWitnessIsFollowedFirst) {
  Target target = race_target();
  target.witnesses.resize(1);
  target.witnesses[0].stretches.resize(2);
  target.witnesses[0].places = {"a.cc:1", "a.cc:2"};
  const auto follows = [](const RunPlan& plan) -> Result<RunOutcome> {
    return plan.plan == control::Plan::kStretches ? race_then(1) : ended(0);
  };
  const Confirmation followed = confirmed(follows, target);
  EXPECT_TRUE(followed.witness_followed && followed.along_witness && followed.harmful);
  EXPECT_EQ(followed.trials, Campaign::kTrialsBeforeRepeats)
      << "one failure might be chance; that all repeats fail tells";
  EXPECT_EQ(followed.run->plan.stretches.size(), 2u);

  const auto leaves = [](const RunPlan& plan) -> Result<RunOutcome> {
    RunOutcome outcome = directed(plan) ? race_then(0) : ended(0);
    if (plan.plan == control::Plan::kStretches) {
      outcome.log.processes[0].divergences.push_back({.thread = 0,
                                                      .stretch = 1,
                                                      .what = control::Divergence::kEarly,
                                                      .found = raw(control::StretchEnd::kBlocked)});
    }
    return outcome;
  };
  const Confirmation left = confirmed(leaves, target);
  EXPECT_FALSE(left.witness_followed);
  EXPECT_TRUE(left.diverged.starts_with("stretch 2: ")) << left.diverged;
  EXPECT_NE(left.diverged.find("a.cc:2"), std::string::npos) << left.diverged;
  EXPECT_EQ(left.hits, Campaign::kHarmlessHits);
}

// One run along the witness shows one order of the two accesses; which one harm takes nobody knows.
TEST(CampaignTest, TheWitnessIsRepeatedWhereTrialsRarelyGetThere) {
  Target target = race_target();
  target.witnesses.resize(1);
  target.witnesses[0].stretches.resize(2);
  target.witnesses[0].places = {"a.cc:1", "a.cc:2"};
  const auto reader_first = [](const RunPlan& plan) { return plan.seed % 2 == 0; };  // not with the first seed
  const auto only_along = [&](const RunPlan& plan) -> Result<RunOutcome> {
    if (plan.plan != control::Plan::kStretches) {
      return ended(0);
    }
    RunOutcome run = race_then(reader_first(plan) ? 1 : 0);
    run.log.processes[0].races[0].here.first = !reader_first(plan);
    run.log.processes[0].races[0].others[0].first = reader_first(plan);
    return run;
  };
  const Confirmation rare = confirmed(only_along, target);
  EXPECT_EQ(rare.witness_repeats, Campaign::kHarmlessHits - 1);
  EXPECT_EQ(rare.hits, 0u);
  EXPECT_TRUE(rare.harmful && rare.along_witness && rare.order_matters);
  EXPECT_EQ(rare.failures, Campaign::kHarmlessHits / 2);

  const Confirmation often = confirmed([](const RunPlan&) -> Result<RunOutcome> { return race_then(0); }, target);
  EXPECT_EQ(often.witness_repeats, 0u);

  const auto harmless = [](const RunPlan& plan) -> Result<RunOutcome> {
    return plan.plan == control::Plan::kStretches ? race_then(0) : ended(0);
  };
  const Confirmation over = confirmed(harmless, target);
  EXPECT_EQ(over.trials, Campaign::kTrialsBeforeRepeats) << "both orders were seen, so more trials would tell nothing";
}

TEST(CampaignTest, AnotherScheduleOfTheWitnessIsTriedWhenTheFirstDoesNotGetThere) {
  Target target = race_target();
  target.witnesses.resize(3);
  for (std::size_t i = 0; i < 3; ++i) {
    target.witnesses[i].stretches.resize(i + 1);
    target.witnesses[i].places.resize(i + 1);
  }
  std::vector<std::size_t> tried;
  const auto run = [&](const RunPlan& plan) -> Result<RunOutcome> {
    if (plan.plan == control::Plan::kStretches) {
      tried.push_back(plan.stretches.size());
    }
    return plan.stretches.size() == 2 ? race_then(1) : ended(0);
  };
  const Confirmation result = confirmed(run, target);
  EXPECT_TRUE(result.witness_followed);
  EXPECT_EQ(result.diverged, "");
  tried.resize(3);
  EXPECT_EQ(tried, (std::vector<std::size_t>{1, 2, 2})) << "the one that leads there is repeated";
}

TEST(CampaignTest, DeadlocksCountWithTheirAcquiresOnly) {
  Target target;
  target.kind = FindingKind::kDeadlock;
  target.acquires = {kFirst, kSecond};
  const auto deadlock = [](std::uint64_t second_offset, std::uint32_t holder) {
    return [=](const RunPlan& plan) -> Result<RunOutcome> {
      RunOutcome run = ended(control::kDeadlockStatus);
      if (plan.strategy != "pct:3") {
        return ended(0);
      }
      run.log.state = control::RunState::kDeadlocked;
      run.log.processes[0].deadlock = {{0, control::BlockedOn::kJoin, 1, 0},
                                       {2, control::BlockedOn::kMutex, holder, second_offset},
                                       {1, control::BlockedOn::kMutex, 2, 0x108}};
      return run;
    };
  };
  const Confirmation found = confirmed(deadlock(0x208, 1), target);
  EXPECT_TRUE(found.harmful);
  EXPECT_EQ(found.trials, 4u);
  EXPECT_EQ(found.run->plan.strategy, "pct:3");
  EXPECT_EQ(confirmed(deadlock(0x308, 1), target).hits, 0u) << "another place";
  EXPECT_EQ(confirmed(deadlock(0x208, 0), target).hits, 0u) << "no cycle";
}

TEST(CampaignTest, NobodyHoldsTheSemaphoresOfADeadlock) {
  Target target;
  target.kind = FindingKind::kDeadlock;
  target.acquires = {kFirst, kSecond};
  const auto deadlock = [](std::uint64_t second_offset, control::BlockedOn on) {
    return [=](const RunPlan&) -> Result<RunOutcome> {
      RunOutcome run = ended(control::kDeadlockStatus);
      run.log.state = control::RunState::kDeadlocked;
      run.log.processes[0].deadlock = {{0, control::BlockedOn::kJoin, 1, 0},
                                       {2, on, control::kNone, second_offset},
                                       {1, control::BlockedOn::kSemaphore, control::kNone, 0x108}};
      return run;
    };
  };
  EXPECT_TRUE(confirmed(deadlock(0x208, control::BlockedOn::kSemaphore), target).harmful);
  EXPECT_EQ(confirmed(deadlock(0x308, control::BlockedOn::kSemaphore), target).hits, 0u) << "another place";
  EXPECT_EQ(confirmed(deadlock(0x108, control::BlockedOn::kSemaphore), target).hits, 0u) << "two at one place";
  EXPECT_EQ(confirmed(deadlock(0x208, control::BlockedOn::kCondition), target).hits, 0u) << "waits for something else";
}

TEST(CampaignTest, ThreadsAreStoppedInFrontOfTheAcquiresOfADeadlock) {
  Target target;
  target.kind = FindingKind::kDeadlock;
  target.acquires = {kFirst, kSecond, kFirst};
  std::vector<RunPlan> plans;
  (void)confirmed(
      [&](const RunPlan& plan) -> Result<RunOutcome> {
        plans.push_back(plan);
        return ended(0);
      },
      target);
  const auto directed = std::find_if(plans.begin(), plans.end(),
                                     [](const RunPlan& plan) { return plan.plan == control::Plan::kDirected; });
  ASSERT_NE(directed, plans.end());
  ASSERT_EQ(directed->sites.size(), kFirst.ranges.size() + kSecond.ranges.size()) << "each once";
  for (const SiteCode& site : directed->sites) {
    EXPECT_EQ(site.kinds, control::kAcquires);
  }
}

TEST(CampaignTest, AProgramThatIsNotControlledIsAnError) {
  Campaign campaign([](const RunPlan&) -> Result<RunOutcome> { return RunOutcome{}; }, {});
  EXPECT_FALSE(campaign.confirm(race_target()).ok());
}

TEST(CampaignTest, CancelledCampaignsTellWhatTheyHave) {
  std::atomic<int> runs{0};
  CampaignOptions options;
  options.all_trials = true;
  options.cancelled = [&] { return runs >= 30; };
  const auto run = [&](const RunPlan& plan) -> Result<RunOutcome> {
    ++runs;
    return directed(plan) ? race_then(0) : ended(0);
  };
  const Confirmation result = confirmed(run, race_target(), options);
  EXPECT_TRUE(result.cancelled);
  EXPECT_EQ(result.hits, 20u);
}

TEST(ApplyTest, FindingsMoveUpAndNeverDown) {
  Confirmation confirmation;
  confirmation.trials = 50;
  confirmation.hits = 20;
  confirmation.run.emplace();
  confirmation.run->plan.plan = control::Plan::kDirected;
  confirmation.run->plan.seed = 9;
  confirmation.run->plan.sites = race_target().pair.sites;
  confirmation.run->log = race_then(0).log;
  Finding finding;
  apply(confirmation, "./p", "sooth replay r.json#1 -- ./p", finding);
  EXPECT_EQ(finding.rung, Rung::kConfirmed);
  EXPECT_EQ(finding.replay->strategy, "directed");
  EXPECT_EQ(finding.replay->probability, 0.4);
  const Result<ScheduleFile> schedule = parse_schedule(finding.replay->schedule, "schedule");
  ASSERT_TRUE(schedule.ok()) << schedule.status().message();
  EXPECT_EQ(schedule->plan.seed, 9u);
  confirmation.harmful = true;
  confirmation.failures = 3;
  apply(confirmation, "./p", "harm", finding);
  EXPECT_EQ(finding.rung, Rung::kHarmful);
  confirmation.harmful = false;
  apply(confirmation, "./p", "less", finding);
  EXPECT_EQ(finding.rung, Rung::kHarmful);
  EXPECT_EQ(finding.replay->command, "harm");
  Confirmation nothing;
  nothing.trials = 7;
  apply(nothing, "./p", "nothing", finding);
  EXPECT_EQ(finding.replay->command, "harm");
  Finding other;
  other.rung = Rung::kPredicted;
  apply(nothing, "./p", "nothing", other);
  EXPECT_EQ(other.rung, Rung::kPredicted);
  EXPECT_EQ(other.replay->trials, 7u);
  EXPECT_EQ(other.replay->command, "");
}

TEST(ShellWordsTest, ArePasted) {
  const std::string words[] = {"./a b", "--x=1", "", "it's", "$HOME", "r.json#1f", "#1"};
  EXPECT_EQ(shell_words(words), "'./a b' --x=1 '' 'it'\\''s' '$HOME' r.json#1f '#1'");
}

}  // namespace
}  // namespace sooth
