#include "schedule/schedule_file.h"

#include <gtest/gtest.h>

#include "base/test_environment.h"
#include "schedule/random.h"

namespace sooth {
namespace {

using control::Plan;
using control::RunState;
using control::StretchEnd;

constexpr char kSeeded[] =
    "sooth schedule 1\n"
    "program ./account 3\n"
    "outcome signal 6 (Aborted)\n"
    "plan directed\n"
    "seed 7\n"
    "site 1 rw account 0x1a40 0x1a58\n"
    "site 12 a - 0x10 0x11\n"
    "run 1 14+3 blocked 9f3c01d2\n"
    "skip 40\n"
    "run 2 7+* preempted - timed-out\n"
    "end ended 42\n";

constexpr char kStretched[] =
    "sooth schedule 1\n"
    "program ./account 3\n"
    "plan stretches pct:3\n"
    "seed 18446744073709551615\n"
    "quantum 50\n"
    "patience 1000\n"
    "flags real-time every-access every-free spurious-wakes c11-memory\n"
    "thread 1 0 0\n"
    "thread 2 1 0\n"
    "run 0 14+3 blocked 9f3c01d2\n"
    "run 2 0+0 run-ended 00000001\n"
    "older 3 1\n"
    "older 17 2\n"
    "end deadlocked 2+\n";

Result<ScheduleFile> parse(const std::string& text) { return parse_schedule(text, "s"); }

TEST(ScheduleFile, IsPrintedAsItWasRead) {
  for (const char* text : {kSeeded, kStretched}) {
    const Result<ScheduleFile> schedule = parse(text);
    ASSERT_TRUE(schedule.ok()) << schedule.status().message();
    EXPECT_EQ(print_schedule(*schedule), text);
  }
  const Result<ScheduleFile> seeded = parse(kSeeded);
  EXPECT_EQ(seeded->outcome, "signal 6 (Aborted)");
  EXPECT_EQ(seeded->plan.sites[0], (SiteCode{"account", 0x1a40, 0x1a58, 1, control::kReads | control::kWrites}));
  EXPECT_EQ(seeded->plan.sites[1], (SiteCode{"", 0x10, 0x11, 3, control::kAtomics}));
  EXPECT_EQ(seeded->places, (std::vector<std::uint64_t>{0, 41}));
  EXPECT_EQ(seeded->plan.stretches[1].accesses, control::kAnyAccesses);
  EXPECT_EQ(seeded->stretch_count, 42u);
  EXPECT_TRUE(replay_plan(*seeded).stretches.empty()) << "check points are not followed";
  const Result<ScheduleFile> stretched = parse(kStretched);
  EXPECT_EQ(stretched->plan.seed, ~std::uint64_t{0});
  EXPECT_EQ(stretched->plan.flags, control::kRealTime | control::kEveryAccess | control::kEveryFree |
                                       control::kSpuriousWakes | control::kWeakMemory);
  EXPECT_EQ(replay_plan(*stretched).older, (std::vector<control::MemoryChoice>{{3, 1}, {17, 2}}));
  EXPECT_TRUE(stretched->open_end);
  EXPECT_EQ(replay_plan(*stretched).stretches.size(), 2u);
}

TEST(ScheduleFile, KeepsNamesOfModulesAsTheyAre) {
  for (const char* module : {"-", "a b", " a", "b ", "\\", "\\n", "a\nb\r", "-x", "\\-", "1 0x1 0x2"}) {
    ScheduleFile schedule;
    schedule.plan.sites = {{module, 1, 2, 1, control::kReads}};
    const Result<ScheduleFile> read = parse(print_schedule(schedule));
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(read->plan.sites[0].module, module);
  }
}

TEST(ScheduleFile, MayHaveTheLineEndsOfOtherSystems) {
  std::string text = kSeeded;
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) {
    text.replace(at, 1, "\r\n");
  }
  ASSERT_TRUE(parse(text).ok());
  EXPECT_EQ(print_schedule(*parse(text)), kSeeded);
}

TEST(ScheduleFile, SaysWhichLineIsWrong) {
  const std::string head = "sooth schedule 1\nplan strategy random\n";
  const std::pair<std::string, std::string> cases[] = {
      {"", "s: not a schedule: it does not begin with `sooth schedule 1`"},
      {"sooth schedule 2\n", "s: a schedule of version 2; this sooth reads version 1"},
      {"sooth schedule 1\n", "s: the schedule is cut off: there is no line `end`"},
      {"sooth schedule 1\nend ended 0\n", "s: the schedule has no line `plan`"},
      {"sooth schedule 1\nplan directed\nend ended 0\n", "s: a directed schedule needs lines `site`"},
      {"sooth schedule 1\nplan fast\n", "s: line 2: a plan is `strategy TEXT`, `directed` or `stretches TEXT`"},
      {"sooth schedule 1\nplan strategy fast\n",
       "s: line 2: the plan has no strategy that there is: serial, random or pct:D"},
      {head + "seed 1\nseed 2\n", "s: line 4: a second line `seed`"},
      {head + "seed -1\n", "s: line 3: not of the form `seed NUMBER`"},
      {head + "seed 18446744073709551616\n", "s: line 3: not of the form `seed NUMBER`"},
      {head + "flags loud\n", "s: line 3: there is no flag `loud`"},
      {head + "color red\n", "s: line 3: `color` is nothing that stands in a schedule"},
      {head + "site 3 r x 0x1 0x2\n", "s: line 3: not of the form `site 1|2|12 KINDS MODULE 0xBEGIN 0xEND`"},
      {head + "site 1 r x 0x2 0x2\n", "s: line 3: not of the form `site 1|2|12 KINDS MODULE 0xBEGIN 0xEND`"},
      {head + "site 1 r 0x1 0x2\n", "s: line 3: not of the form `site 1|2|12 KINDS MODULE 0xBEGIN 0xEND`"},
      {head + "thread 0 1 0\n", "s: line 3: not of the form `thread THREAD PARENT CHILD`"},
      {head + "run 1 14 blocked 1\n", "s: line 3: not of the form `run THREAD OPERATIONS+ACCESSES END HASH`"},
      {head + "run 1 1+1 slept 1\n", "s: line 3: not of the form `run THREAD OPERATIONS+ACCESSES END HASH`"},
      {head + "run 1 1+1 blocked 1 late\n", "s: line 3: not of the form `run THREAD OPERATIONS+ACCESSES END HASH`"},
      {head + "skip 0\n", "s: line 3: not of the form `skip NUMBER`"},
      {head + "run 1 1+1 blocked 1\nend ended 0\n", "s: line 4: it counts 0 stretches, but there are 1"},
      {head + "end ended 0\nseed 1\n", "s: line 4: something comes behind the line `end`"},
      {"sooth schedule 1\nplan stretches random\nskip 1\nrun 1 1+1 blocked 1\nend ended 2\n",
       "s: a schedule of stretches must list all 2 of them"},
  };
  for (const auto& [text, message] : cases) {
    const Result<ScheduleFile> schedule = parse(text);
    ASSERT_FALSE(schedule.ok()) << text;
    EXPECT_EQ(schedule.status().message(), message);
    EXPECT_EQ(schedule.status().code(), ExitCode::kBadInput);
  }
}

TEST(ScheduleFile, CutAnywhereIsRefused) {
  const std::string text = kSeeded;
  for (std::size_t size = 0; size + 3 < text.size();
       ++size) {  // the last digit and line end may be missing: still a number
    EXPECT_FALSE(parse(text.substr(0, size)).ok()) << size;
  }
}

TEST(ScheduleFile, SurvivesAnyBytes) {
  SeededRandom random(from_environment("SOOTH_SEED", 1));
  std::uint64_t accepted = 0;
  for (std::uint64_t i = from_environment("SOOTH_CASES", 10'000); i > 0; --i) {
    std::string text = i % 2 == 0 ? kSeeded : kStretched;
    for (std::uint64_t flips = 1 + random.below(3); flips > 0; --flips) {
      const std::size_t at = random.below(text.size());
      switch (random.below(3)) {
        case 0: text[at] = static_cast<char>(random.next()); break;
        case 1: text.erase(at, 1 + random.below(20)); break;
        default: text.insert(at, text.substr(random.below(text.size()), random.below(20)));
      }
      text += text.empty() ? "x" : "";
    }
    const Result<ScheduleFile> schedule = parse(text);
    if (schedule.ok()) {
      ++accepted;
      const std::string printed = print_schedule(*schedule);
      ASSERT_TRUE(parse(printed).ok()) << text;
      EXPECT_EQ(print_schedule(*parse(printed)), printed) << text;
    } else {
      EXPECT_FALSE(schedule.status().message().empty());
    }
  }
  EXPECT_GT(accepted, 0u);
}

// Threads 0 and 1 in turn, `count` stretches.
RunLog run_of(std::uint32_t count) {
  RunLog log;
  log.state = RunState::kEnded;
  log.processes.resize(1);
  log.processes[0].threads = {{1, 0, 0, 0}};
  for (std::uint32_t i = 0; i < count; ++i) {
    log.processes[0].stretches.push_back({i % 2, StretchEnd::kPreempted, i + 1, i % 3, 1000 + i, 0});
  }
  return log;
}

TEST(MakeSchedule, KeepsCheckPointsOfARunThatItsSeedDecides) {
  RunPlan plan;
  plan.seed = 9;
  plan.flags = control::kStopAtRace | control::kEveryAccess;
  const ScheduleFile schedule = make_schedule("./p", plan, run_of(1000), 64);
  EXPECT_TRUE(schedule.by_seed());
  EXPECT_EQ(schedule.plan.flags, control::kEveryAccess);
  ASSERT_EQ(schedule.places.size(), 64u);
  EXPECT_EQ(schedule.places.back(), 999u);
  for (std::size_t i = 1; i < 64; ++i) {
    const std::uint64_t gap = schedule.places[i] - schedule.places[i - 1];
    EXPECT_TRUE(gap == 15 || gap == 16) << gap;
  }
  EXPECT_EQ(schedule.plan.stretches[5].hash, 1000 + schedule.places[5]);
  EXPECT_EQ(make_schedule("./p", plan, run_of(10), 64).places.size(), 10u);
  EXPECT_EQ(make_schedule("./p", plan, RunLog{}, 64).places.size(), 0u);
}

TEST(MakeSchedule, KeepsEveryStretchWhenSomethingFromOutsideTookPart) {
  RunLog log = run_of(1000);
  log.processes[0].external = 1;
  const ScheduleFile schedule = make_schedule("./p", {}, log, 64);
  EXPECT_FALSE(schedule.by_seed());
  EXPECT_EQ(schedule.plan.stretches.size(), 1000u);
  EXPECT_EQ(schedule.plan.threads.size(), 1u);
  const Result<ScheduleFile> read = parse(print_schedule(schedule));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->plan.stretches.size(), 1000u);
  RunPlan choices;
  choices.plan = Plan::kChoices;
  choices.choices = {1, 2};
  EXPECT_EQ(make_schedule("./p", choices, run_of(5), 2).plan.stretches.size(), 5u);
}

TEST(MakeSchedule, KeepsTheWayToARaceAndNotWhatCameBehindIt) {
  RunPlan plan;
  plan.plan = Plan::kStretches;
  plan.sites = {{"", 0x10, 0x20, 3, control::kWrites}};
  plan.threads = {{1, 0, 0, 0}};
  plan.stretches = {{0, StretchEnd::kPreempted, 3, control::kAnyAccesses, 0, 0},
                    {1, StretchEnd::kPostponed, 2, 1, 0, 0}};
  RunLog log = run_of(40);
  EXPECT_EQ(make_schedule("./p", plan, log).plan.stretches.size(), 40u) << "there was no race";
  log.processes[0].races.push_back({2, {}, {{}}});
  const ScheduleFile schedule = make_schedule("./p", plan, log);
  EXPECT_EQ(schedule.plan.stretches.size(), 2u);
  EXPECT_EQ(schedule.plan.threads.size(), 1u);
  EXPECT_TRUE(schedule.open_end);
  EXPECT_TRUE(parse(print_schedule(schedule)).ok());
  EXPECT_EQ(first_divergence(schedule, log), "") << "that the way was followed is for the follower to say";
  log.processes[0].divergences = {{1, 1, control::Divergence::kNotReady, 1}};
  EXPECT_EQ(first_divergence(schedule, log),
            "stretch 2: thread T1 was to be postponed in front of a racing access after 2 operations and 1 access, but "
            "it cannot run: it blocked");
}

TEST(FirstDivergence, IsEmptyForTheSameRun) {
  EXPECT_EQ(first_divergence(make_schedule("./p", {}, run_of(100)), run_of(100)), "");
  EXPECT_EQ(first_divergence(make_schedule("./p", {}, run_of(100), 10), run_of(100)), "");
  EXPECT_EQ(first_divergence(make_schedule("./p", {}, RunLog{}), RunLog{}), "");
}

TEST(FirstDivergence, NamesTheFirstStretchThatIsDifferent) {
  const ScheduleFile schedule = make_schedule("./p", {}, run_of(40), 40);
  const auto changed = [&](auto change) {
    RunLog log = run_of(40);
    change(log);
    return first_divergence(schedule, log);
  };
  EXPECT_EQ(changed([](RunLog& log) { log.processes[0].stretches[16].thread = 7; }),
            "stretch 17: thread main was to be preempted after 17 operations and 1 access, but thread T7 ran");
  EXPECT_EQ(changed([](RunLog& log) { log.processes[0].stretches[3] = {1, StretchEnd::kEnded, 3, 2, 0, 0}; }),
            "stretch 4: thread T1 was to be preempted after 4 operations, but ended after 3 operations and 2 accesses");
  EXPECT_EQ(
      changed([](RunLog& log) { log.processes[0].stretches[0].hash = 1; }),
      "stretch 1: thread main was to be preempted after 1 operation, and did, but the program did other operations "
      "up to there");
  EXPECT_EQ(changed([](RunLog& log) { log.processes[0].stretches[0].timed_out = 1; }),
            "stretch 1: thread main was woken by its deadline too early");
  EXPECT_EQ(
      changed([](RunLog& log) { log.processes[0].stretches.resize(30); }),
      "stretch 31: thread main was to be preempted after 31 operations, but the program ended by itself before that");
  EXPECT_EQ(changed([](RunLog& log) { log.processes[0].stretches.resize(45); }),
            "the run had 45 stretches, but that of the schedule 40");
  EXPECT_EQ(changed([](RunLog& log) { log.state = RunState::kDeadlocked; }),
            "the program was to end differently: it deadlocked, but in the schedule it ended by itself");
  EXPECT_EQ(changed([](RunLog& log) { log.processes.clear(); }), "the program never came to the run time library");
  EXPECT_EQ(changed([](RunLog& log) {
              log.processes[0].divergences = {{0, 2, control::Divergence::kEarly, 1}};
            }),
            "stretch 3: thread main was to be preempted after 3 operations and 2 accesses, but blocked before that");
}

TEST(FirstDivergence, ForgivesWhereARunWasCutOff) {
  RunLog hung = run_of(40);
  hung.state = RunState::kRunning;
  const ScheduleFile schedule = make_schedule("./p", {}, hung);
  RunLog sooner = run_of(30);
  EXPECT_NE(first_divergence(schedule, sooner), "") << "it ended, so it was not cut off";
  sooner.state = RunState::kRunning;
  EXPECT_EQ(first_divergence(schedule, sooner), "");
  RunLog later = run_of(50);
  later.state = RunState::kRunning;
  EXPECT_EQ(first_divergence(schedule, later), "");
  later.state = RunState::kEnded;
  EXPECT_EQ(first_divergence(schedule, later),
            "the program was to end differently: it ended by itself, but in the schedule it was stopped in the middle");
}

}  // namespace
}  // namespace sooth
