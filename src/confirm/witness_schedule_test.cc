#include "confirm/witness_schedule.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "base/test_environment.h"
#include "trace/format/directory_testing.h"
#include "trace/reader.h"

namespace sooth {
namespace {

TraceStore load(const std::string& text) {
  TemporaryDirectory scratch;
  std::ofstream(scratch / "trace.std") << text;
  auto reader = open_trace(scratch / "trace.std");
  EXPECT_TRUE(reader.ok());
  Result<TraceStore> store = load_trace(**reader, 1'000'000, kWholeTrace);
  EXPECT_TRUE(store.ok()) << store.status().message();
  return std::move(*store);
}

// The last of them: of a trace that is not exact the one that counts no accesses.
Result<WitnessSchedule> schedule_of_witness(const Finding& finding, const TraceView& trace, const TraceInfo& info) {
  Result<std::vector<WitnessSchedule>> schedules = schedules_of_witness(finding, trace, info);
  if (!schedules.ok()) {
    return std::move(schedules).status();
  }
  EXPECT_EQ(schedules->size(), info.exact ? 1u : 2u);
  return schedules->back();
}

Finding with_witness(FindingKind kind, std::vector<std::uint64_t> order, std::vector<std::uint64_t> next) {
  Finding finding;
  finding.kind = kind;
  finding.witness.emplace();
  finding.witness->checked = true;
  for (const std::uint64_t id : order) {
    finding.witness->order.push_back(EventId{id});
  }
  for (const std::uint64_t id : next) {
    finding.accesses.emplace_back().event = EventId{id};
  }
  return finding;
}

std::string text_of(const WitnessSchedule& schedule) {
  std::string text;
  for (const control::Stretch& stretch : schedule.stretches) {
    text += std::to_string(stretch.thread) + ":" + std::to_string(stretch.events) + "+" +
            (stretch.accesses == control::kAnyAccesses ? "*" : std::to_string(stretch.accesses)) +
            (stretch.end == control::StretchEnd::kPostponed ? "!" : "") + " ";
  }
  for (const control::ThreadOrigin& origin : schedule.threads) {
    text += "(" + std::to_string(origin.thread) + " " + std::to_string(origin.parent) + " " +
            std::to_string(origin.child) + ")";
  }
  return text;
}

constexpr char kHidden[] = R"(T0|fork(T1)|1
T0|w(y)|2
T0|fork(T2)|3
T1|r(y)|4
T1|w(x)|5
T1|acq(l)|6
T1|rel(l)|7
T2|acq(l)|8
T2|rel(l)|9
T2|w(x)|10
)";

TEST(WitnessScheduleTest, ThreadsOfARaceStopInFrontOfIt) {
  const TraceStore store = load(kHidden);
  const Finding race = with_witness(FindingKind::kRace, {0, 1, 2, 7, 8, 3}, {4, 9});
  const Result<WitnessSchedule> schedule = schedule_of_witness(race, store.view(), store.info());
  ASSERT_TRUE(schedule.ok()) << schedule.status().message();
  EXPECT_EQ(text_of(*schedule), "0:2+0 2:2+0! 1:0+1! (1 0 0)(2 0 1)");
  EXPECT_EQ(schedule->places, (std::vector<std::string>{"3", "10", "5"}));
}

TEST(WitnessScheduleTest, AThreadThatDoesNothingFirstIsNamedAllTheSame) {
  const TraceStore store = load("T0|fork(T1)|1\nT0|w(x)|2\nT1|w(x)|3\n");
  const Result<WitnessSchedule> schedule =
      schedule_of_witness(with_witness(FindingKind::kRace, {0}, {1, 2}), store.view(), store.info());
  ASSERT_TRUE(schedule.ok());
  EXPECT_EQ(text_of(*schedule), "0:1+0! 1:0+0! (1 0 0)");
}

TEST(WitnessScheduleTest, AccessesAreNotCountedWhereTheyWereLeftOut) {
  const TraceStore store = load(kHidden);
  TraceInfo info = store.info();
  info.exact = false;
  const Result<WitnessSchedule> schedule =
      schedule_of_witness(with_witness(FindingKind::kRace, {0, 1, 2, 7, 8, 3}, {4, 9}), store.view(), info);
  ASSERT_TRUE(schedule.ok());
  EXPECT_EQ(text_of(*schedule), "0:2+* 2:2+*! 1:0+*! (1 0 0)(2 0 1)");
  const auto both =
      schedules_of_witness(with_witness(FindingKind::kRace, {0, 1, 2, 7, 8, 3}, {4, 9}), store.view(), info);
  EXPECT_EQ(text_of(both->front()), "0:2+0 2:2+0! 1:0+1! (1 0 0)(2 0 1)") << "but a schedule that counts comes first";
}

// T1 waits, T0 notifies it and holds the mutex: T1 tells of the end of its wait when it has the mutex.
TEST(WitnessScheduleTest, AWaitIsOverWhenItsThreadHasTheMutex) {
  const auto schedule_with = [](const std::string& wait) {
    const TraceStore store =
        load("T0|fork(T1)|1\nT1|acq(m)|2\nT1|rel(m)|3\nT0|acq(m)|4\nT0|notifyone(c)|5\nT0|rel(m)|6\n" + wait +
             "T1|acq(m)|8\nT1|rel(m)|9\nT1|w(x)|10\nT0|w(x)|11\n");
    const Finding race = with_witness(FindingKind::kRace, {0, 1, 2, 3, 4, 6, 5, 7, 8}, {9, 10});
    return schedule_of_witness(race, store.view(), store.info());
  };
  const Result<WitnessSchedule> woken = schedule_with("T1|condwait(c)|7\n");
  ASSERT_TRUE(woken.ok());
  EXPECT_EQ(text_of(*woken), "0:1+* 1:2+* 0:4+0! 1:5+0! (1 0 0)");
  EXPECT_EQ(woken->stretches.back().timed_out, 0u);
  const Result<WitnessSchedule> over = schedule_with("T1|condtimeout(c)|7\n");
  ASSERT_TRUE(over.ok());
  EXPECT_EQ(text_of(*over), text_of(*woken));
  EXPECT_EQ(over->stretches.back().timed_out, 1u);
}

// The recorded run with T1 in front of its access cannot notify T2, which therefore stops as well.
TEST(WitnessScheduleTest, WhoIsNotNotifiedStops) {
  const TraceStore store = load(
      "T0|fork(T1)|1\nT0|fork(T2)|2\nT2|acq(m)|3\nT2|rel(m)|4\nT1|w(x)|5\nT1|notifyone(c)|6\nT2|condwait(c)|7\n"
      "T2|acq(m)|8\nT2|r(x)|9\n");
  const auto schedules =
      schedules_of_recorded_run(with_witness(FindingKind::kRace, {}, {4, 8}), store.view(), store.info(), 100);
  ASSERT_TRUE(schedules.ok());
  EXPECT_TRUE(schedules->empty());
}

// Figure 1 of RECIPE. In the witness T2 reads y before T1 writes it, and so comes to line 7, which the trace does not
// have.
constexpr char kFigure1[] = R"(T0|fork(T1)|0
T0|fork(T2)|0
T1|w(y)|1
T1|w(x)|2
T1|w(y)|3
T1|end|0
T2|r(y)|4
T2|acq(l)|5
T2|r(x)|5
)";

TEST(WitnessScheduleTest, AThreadThatLeavesItsPathGoesOnAtOnceOrAtTheEnd) {
  const TraceStore store = load(kFigure1);
  Finding race = with_witness(FindingKind::kRace, {0, 1, 6, 2}, {3});
  Access& unexecuted = race.accesses.emplace_back();
  unexecuted.executed = false;
  unexecuted.thread = "T2";
  unexecuted.site.label = "7";
  const auto schedules = schedules_of_witness(race, store.view(), store.info());
  ASSERT_TRUE(schedules.ok()) << schedules.status().message();
  ASSERT_EQ(schedules->size(), 2u);
  EXPECT_EQ(text_of(schedules->at(0)), "0:2+0 2:0+1 1:0+1! 2:0+1! (1 0 0)(2 0 1)")
      << "the acquire that comes next in the trace is not what comes next here, so its access is counted";
  EXPECT_EQ(schedules->at(0).places, (std::vector<std::string>{"0", "4", "2", "7"}));
  EXPECT_EQ(text_of(schedules->at(1)), "0:2+0 2:0+1! 1:0+1! (1 0 0)(2 0 1)");
  EXPECT_EQ(schedules->at(1).places, (std::vector<std::string>{"0", "7", "2"}));

  // On its way T2 takes a lock, and then reads something before T1 goes on.
  race.witness->values.emplace();
  for (const Op op : {Op::kAcquire, Op::kRead}) {
    UnexecutedStep& step = race.witness->values->detour.emplace_back();
    step.thread = ThreadId{2};
    step.op = op;
    step.after = 3;
    step.site.label = "6";
  }
  const auto told = schedules_of_witness(race, store.view(), store.info());
  ASSERT_TRUE(told.ok()) << told.status().message();
  ASSERT_GT(told->size(), 3u);
  EXPECT_EQ(text_of(told->at(0)), "0:2+0 2:1+1! 1:0+1! (1 0 0)(2 0 1)");
  race.witness->values->detour.emplace_back(race.witness->values->detour.back()).after = 4;
  const auto more = schedules_of_witness(race, store.view(), store.info());
  ASSERT_TRUE(more.ok()) << more.status().message();
  EXPECT_EQ(text_of(more->at(0)), "0:2+0 2:1+1 1:0+1! 2:1+2! (1 0 0)(2 0 1)");
  EXPECT_EQ(text_of(more->at(2)), "0:2+0 2:1+3 1:0+1! 2:1+2! (1 0 0)(2 0 1)") << "with two accesses of its own";
  EXPECT_EQ(more->at(2).places, (std::vector<std::string>{"0", "6", "2", "7"}));

  race.witness.reset();
  const auto guesses = schedules_of_recorded_run(race, store.view(), store.info(), 100);
  ASSERT_TRUE(guesses.ok());
  EXPECT_TRUE(guesses->empty()) << "no event leads there";
}

TEST(WitnessScheduleTest, AThreadThatTheTraceDoesNotHaveCannotLeaveIt) {
  const TraceStore store = load(kFigure1);
  Finding race = with_witness(FindingKind::kRace, {0}, {2});
  Access& unexecuted = race.accesses.emplace_back();
  unexecuted.executed = false;
  unexecuted.thread = "T9";
  const auto schedules = schedules_of_witness(race, store.view(), store.info());
  ASSERT_FALSE(schedules.ok());
  EXPECT_EQ(schedules.status().message(), "the trace has no thread T9");
}

TEST(WitnessScheduleTest, ThreadsOfADeadlockStopInFrontOfTheirAcquires) {
  const TraceStore store =
      load("T0|fork(T1)|1\nT0|acq(l)|2\nT0|acq(m)|3\nT0|rel(m)|4\nT0|rel(l)|5\nT1|acq(m)|6\nT1|acq(l)|7\n");
  const Result<WitnessSchedule> schedule =
      schedule_of_witness(with_witness(FindingKind::kDeadlock, {0, 1, 5}, {2, 6}), store.view(), store.info());
  ASSERT_TRUE(schedule.ok());
  EXPECT_EQ(text_of(*schedule), "0:2+* 1:1+* (1 0 0)");
}

TEST(WitnessScheduleTest, SaysWhatIsMissing) {
  const TraceStore store = load("T0|w(x)|1\nT1|w(x)|2\n");
  const auto error = [&](const Finding& finding) {
    const Result<WitnessSchedule> schedule = schedule_of_witness(finding, store.view(), store.info());
    return schedule.ok() ? "" : schedule.status().message();
  };
  EXPECT_NE(error(with_witness(FindingKind::kRace, {}, {0, 1})).find("who created thread 1"), std::string::npos);
  EXPECT_NE(error(with_witness(FindingKind::kRace, {7}, {0, 1})).find("event 7"), std::string::npos);
  EXPECT_NE(error(with_witness(FindingKind::kRace, {}, {0, 9})).find("event 9"), std::string::npos);
  EXPECT_NE(error(Finding()), "");
}

TEST(RecordedRunTest, TheThreadOfTheFirstAccessWaitsForTheOther) {
  const TraceStore store = load(kHidden);
  const Finding race = with_witness(FindingKind::kRace, {}, {4, 9});
  const auto schedules = schedules_of_recorded_run(race, store.view(), store.info(), 100);
  ASSERT_TRUE(schedules.ok());
  ASSERT_EQ(schedules->size(), 1u);
  EXPECT_EQ(text_of(schedules->front()), "0:2+0 1:0+1! 2:2+0! (1 0 0)(2 0 1)");
  EXPECT_TRUE(schedules_of_recorded_run(race, store.view(), store.info(), 2)->empty()) << "three stretches";
  EXPECT_FALSE(
      schedules_of_recorded_run(with_witness(FindingKind::kRace, {}, {4, 99}), store.view(), store.info(), 100).ok());
}

TEST(RecordedRunTest, ThreadsThatWaitForItAreLeftOut) {
  // T2 needs the lock that T1 holds in front of its access; T0 waits for T1 to end.
  const TraceStore store = load(
      "T0|fork(T1)|1\nT0|fork(T2)|2\nT1|acq(l)|3\nT1|w(x)|4\nT1|rel(l)|5\nT2|acq(l)|6\nT2|rel(l)|7\nT2|w(x)|8\n"
      "T1|end()|9\nT0|join(T1)|10\nT0|w(x)|11\n");
  EXPECT_TRUE(schedules_of_recorded_run(with_witness(FindingKind::kRace, {}, {3, 7}), store.view(), store.info(), 100)
                  ->empty());
  EXPECT_TRUE(schedules_of_recorded_run(with_witness(FindingKind::kRace, {}, {3, 10}), store.view(), store.info(), 100)
                  ->empty());
  EXPECT_FALSE(schedules_of_recorded_run(with_witness(FindingKind::kRace, {}, {7, 10}), store.view(), store.info(), 100)
                   ->empty());
}

// A random program of a few threads, and a random prefix of one of its interleavings. A thread of T0's making each.
struct RandomRun {
  explicit RandomRun(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const std::size_t threads = 2 + random() % 3;
    for (std::size_t t = 1; t < threads; ++t) {
      events.push_back({.object = t, .op = Op::kFork});
    }
    constexpr Op kOps[] = {Op::kRead, Op::kWrite, Op::kAcquire, Op::kRelease, Op::kAlloc, Op::kFree, Op::kAtomicRmw};
    for (std::size_t i = random() % 30; i > 0; --i) {
      events.push_back(
          {.thread = ThreadId{static_cast<std::uint32_t>(random() % threads)}, .op = kOps[random() % std::size(kOps)]});
    }
    std::vector<std::vector<std::uint64_t>> left(threads);
    for (std::size_t i = events.size(); i-- > threads - 1;) {
      left[raw(events[i].thread)].push_back(i);
    }
    for (std::uint64_t i = 0; i + 1 < threads; ++i) {
      order.push_back(i);
    }
    for (std::size_t steps = random() % 40; steps > 0; --steps) {
      std::vector<std::uint64_t>& from = left[random() % threads];
      if (!from.empty()) {
        order.push_back(from.back());
        from.pop_back();
      }
    }
  }

  std::vector<Event> events;
  std::vector<std::uint64_t> order;
};

// What a scheduler that does as the stretches say makes of the program: events that count, in their order.
std::vector<std::uint64_t> followed(const RandomRun& run, const WitnessSchedule& schedule) {
  std::vector<std::vector<std::uint64_t>> left(8);
  for (std::size_t i = run.events.size(); i-- > 0;) {
    const Op op = run.events[i].op;
    if (control::is_operation(op) || op == Op::kRead || op == Op::kWrite) {
      left[raw(run.events[i].thread)].push_back(i);
    }
  }
  std::vector<std::pair<std::uint64_t, std::uint64_t>> at(8);
  std::vector<std::uint64_t> order;
  for (const control::Stretch& stretch : schedule.stretches) {
    auto& [events, accesses] = at[stretch.thread];
    auto& from = left[stretch.thread];
    while (!from.empty()) {
      const bool operation = control::is_operation(run.events[from.back()].op);
      const bool there = events == stretch.events &&
                         (stretch.accesses == control::kAnyAccesses ? operation : accesses == stretch.accesses);
      if (there) {
        break;
      }
      events += operation ? 1 : 0;
      accesses = operation ? 0 : accesses + 1;
      order.push_back(from.back());
      from.pop_back();
    }
  }
  return order;
}

TEST(WitnessSchedulePropertyTest, FollowingTheScheduleIsTheWitness) {
  const std::uint64_t first = from_environment("SOOTH_SEED", 1);
  for (std::uint64_t seed = first; seed < first + from_environment("SOOTH_CASES", 10'000); ++seed) {
    const RandomRun run(seed);
    TraceView view;
    view.events = run.events;
    const Result<WitnessSchedule> schedule =
        schedule_of_witness(with_witness(FindingKind::kDeadlock, run.order, {}), view, TraceInfo{});
    ASSERT_TRUE(schedule.ok()) << "seed " << seed << ": " << schedule.status().message();
    std::vector<std::uint64_t> wanted;
    for (const std::uint64_t id : run.order) {
      const Op op = run.events[id].op;
      if (control::is_operation(op) || op == Op::kRead || op == Op::kWrite) {
        wanted.push_back(id);
      }
    }
    ASSERT_EQ(followed(run, *schedule), wanted) << "seed " << seed << ": " << text_of(*schedule);
  }
}

}  // namespace
}  // namespace sooth
