#include "run/planner.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace sooth {
namespace {

using Kind = Planner::Kind;
using Stop = Planner::Stop;
using Ms = std::chrono::milliseconds;
using Numbers = std::vector<std::size_t>;

Planner::Options options(Ms budget = Ms(0), std::uint64_t trials = 30, bool records = true) {
  return {budget, trials, records, 0};
}

// Does what the planner says, with a clock of its own: what a trial and a recording take is given.
class Simulation {
 public:
  explicit Simulation(Planner::Options options) : planner(options) {}

  Stop go() {
    for (int steps = 0; steps < 100'000; ++steps) {
      const Planner::Step step = planner.next(now);
      if (step.kind == Kind::kStop) {
        return step.why;
      }
      if (step.kind == Kind::kRecord) {
        now += recording;
        const std::uint64_t found = news[planner.recordings() + 1];
        for (std::uint64_t i = 0; i < found; ++i) {
          add(Promise::kHybrid);
        }
        planner.recorded(found, recording);
        course += "R";
        continue;
      }
      for (const std::size_t candidate : step.candidates) {
        if (budget.count() != 0 && now >= budget) {
          return Stop::kBudget;
        }
        const std::uint64_t before = trials[candidate];
        EXPECT_GT(step.trials, before);
        now += static_cast<int>(step.trials - before) * trial;
        trials[candidate] = step.trials;
        planner.tried(candidate, step.trials, step.trials >= easy[candidate]);
        course += std::to_string(candidate);
      }
    }
    ADD_FAILURE() << "no end";
    return Stop::kNot;
  }
  std::size_t add(Promise promise, std::uint64_t reached_after = UINT64_MAX) {
    const std::size_t candidate = planner.add(promise);
    easy[candidate] = reached_after;
    return candidate;
  }

  Planner planner;
  Ms now{0}, trial{10}, recording{100}, budget{0};
  std::map<std::size_t, std::uint64_t> trials, easy;
  std::map<std::uint64_t, std::uint64_t> news;  // by recording
  std::string course;
};

TEST(PlannerTest, TheBestCandidatesAreTriedFirstAndAllBeforeAnyIsTriedAgain) {
  Planner planner(options(Ms(0), 30, false));
  planner.recorded(5, Ms(1));
  for (const Promise promise :
       {Promise::kLockset, Promise::kHard, Promise::kHybrid, Promise::kRefuted, Promise::kPredicted}) {
    planner.add(promise);
  }
  Planner::Step step = planner.next(Ms(0));
  EXPECT_EQ(step.kind, Kind::kTryFindings);
  EXPECT_EQ(step.candidates, (Numbers{4, 3, 2, 1, 0}));
  EXPECT_EQ(step.trials, 1u);
  planner.tried(4, 1, false);
  planner.tried(3, 1, true);
  planner.tried(2, 1, true);
  EXPECT_EQ(planner.next(Ms(0)).candidates, (Numbers{1, 0}));
  planner.tried(1, 1, false);
  planner.tried(0, 1, false);
  step = planner.next(Ms(0));
  EXPECT_EQ(step.candidates, (Numbers{4, 1, 0}));
  EXPECT_EQ(step.trials, 3u);
}

TEST(PlannerTest, OneOfEachFamilyIsTriedBeforeASecondOfAny) {
  Planner planner(options(Ms(0), 30, false));
  planner.recorded(6, Ms(1));
  for (const char* family : {"cache", "cache", "cache", "hits", "", ""}) {
    planner.add(Promise::kHybrid, family);
  }
  planner.add(Promise::kPredicted, "cache");
  EXPECT_EQ(planner.next(Ms(0)).candidates, (Numbers{6, 0, 3, 4, 5, 1, 2}));
}

TEST(PlannerTest, HundredsOfSuspicionsShareTheTimeWithRecordings) {
  Simulation run(options(Ms(10'000), 1'000));
  run.budget = Ms(10'000);
  run.planner.recorded(742, Ms(100));
  for (int i = 0; i < 742; ++i) {
    run.add(Promise::kHybrid);
  }
  run.trial = Ms(20);
  EXPECT_EQ(run.go(), Stop::kTooShort) << "other schedules have their time";
  EXPECT_GE(run.now, Ms(8'000));
  EXPECT_LE(run.now, Ms(8'400));
  EXPECT_GE(run.planner.recordings(), 9u);
  EXPECT_GE(run.trials.size(), 320u);
}

TEST(PlannerTest, AStubbornCandidateStarvesNobody) {
  Simulation run(options(Ms(1'000), 1'000, false));
  run.budget = Ms(1'000);  // a hundred trials
  run.planner.recorded(42, Ms(1));
  for (int i = 0; i < 42; ++i) {
    run.add(Promise::kPredicted, i % 2 == 0 ? UINT64_MAX : 3);
  }
  EXPECT_EQ(run.go(), Stop::kBudget);
  for (std::size_t i = 0; i < 42; ++i) {
    EXPECT_GE(run.trials[i], 1u) << i;
    EXPECT_LE(run.trials[i], 3u) << i;
  }
}

TEST(PlannerTest, WithoutNewsRecordingsEnd) {
  Simulation run(options());
  run.planner.recorded(0, Ms(100));
  EXPECT_EQ(run.go(), Stop::kNothingNew);
  EXPECT_EQ(run.planner.recordings(), 1 + Planner::kDryRecordings);
  // Late news make it wait as long again.
  Simulation late(options());
  late.planner.recorded(0, Ms(100));
  late.news[13] = 1;
  late.easy[0] = 1;
  EXPECT_EQ(late.go(), Stop::kNothingNew);
  EXPECT_EQ(late.planner.recordings(), 26u);
}

TEST(PlannerTest, RecordingsAndFurtherTurnsAlternate) {
  Simulation run(options(Ms(0), 10));
  run.planner.recorded(1, Ms(100));
  run.add(Promise::kPredicted);
  run.news[3] = 1;
  EXPECT_EQ(run.go(), Stop::kNothingNew);
  // 0 once; recorded; 0 up to 3, up to 10 trials; recorded with a new one; that is tried at once.
  EXPECT_EQ(run.course.substr(0, 6), "0R00R1") << run.course;
  EXPECT_EQ(run.trials[0], 10u);
  EXPECT_EQ(run.trials[1], 10u);
}

TEST(PlannerTest, TheBudgetEndsEverything) {
  Simulation run(options(Ms(1'000)));
  run.budget = Ms(1'000);
  run.planner.recorded(1, Ms(400));
  run.recording = Ms(400);
  EXPECT_EQ(run.go(), Stop::kTooShort) << "the third recording would not fit";
  EXPECT_EQ(run.now, Ms(800));
  EXPECT_EQ(run.planner.next(Ms(1'000)).why, Stop::kBudget);
}

TEST(PlannerTest, AFifthOfTheBudgetIsLeftForOtherSchedules) {
  Planner planner(options(Ms(1'000)));
  planner.recorded(1, Ms(1));
  EXPECT_EQ(planner.next(Ms(799)).kind, Kind::kRecord);
  EXPECT_EQ(planner.next(Ms(800)).why, Stop::kTooShort);
  planner.add(Promise{});
  EXPECT_EQ(planner.next(Ms(900)).kind, Kind::kTryFindings) << "each once, in any case";
}

TEST(PlannerTest, WhatIsNewAboutACandidateOpensItAgain) {
  Planner planner(options(Ms(0), 10, false));
  planner.recorded(1, Ms(1));
  planner.add(Promise::kHybrid);
  for (const std::uint64_t trials : {1, 3, 10}) {
    EXPECT_EQ(planner.next(Ms(0)).trials, trials);
    planner.tried(0, trials, false);
  }
  EXPECT_EQ(planner.next(Ms(0)).why, Stop::kNoRecords);
  planner.renew(0, Promise::kPredicted);
  EXPECT_EQ(planner.next(Ms(0)).candidates, Numbers{0});
  planner.tried(0, 10, false);
  EXPECT_EQ(planner.next(Ms(0)).kind, Kind::kStop);
}

TEST(PlannerTest, RecordingsCanBeBounded) {
  Simulation run({Ms(0), 30, true, 3});
  run.planner.recorded(0, Ms(100));
  EXPECT_EQ(run.go(), Stop::kEnough);
  EXPECT_EQ(run.course, "RR");
}

TEST(PlannerTest, WithoutTrialsNothingIsTried) {
  Planner planner(options(Ms(0), 0, false));
  planner.recorded(1, Ms(1));
  planner.add(Promise::kPredicted);
  planner.tried(0, 0, false);
  EXPECT_EQ(planner.next(Ms(0)).kind, Kind::kStop);
}

}  // namespace
}  // namespace sooth
