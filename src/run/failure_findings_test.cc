#include "run/failure_findings.h"

#include <gtest/gtest.h>

#include <csignal>

#include "race/spurious_wakes.h"
#include "report/describe.h"
#include "report/fingerprint.h"
#include "report/rung_reason.h"

namespace sooth {
namespace {

FailureTally& tally_of_tests() {
  static FailureTally tally;
  return tally;
}

Site site(std::uint32_t line) {
  Site place;
  place.file = "a.cc";
  place.line = line;
  place.label = "a.cc:" + std::to_string(line);
  return place;
}

StoppedThread waits(std::uint32_t thread, control::BlockedOn on, std::optional<std::uint32_t> holder) {
  return {thread, on, holder, 0x1000 + thread, "", {site(10 + thread), site(20)}};
}

EndedRun crashed(int signal, std::uint32_t line) {
  EndedRun run;
  run.outcome.kind = Outcome::Kind::kKilled;
  run.outcome.number = signal;
  run.threads.push_back({2, control::BlockedOn::kUnknown, std::nullopt, 0, "", {site(line), site(99)}});
  return run;
}

EndedRun deadlocked(std::vector<StoppedThread> threads) {
  EndedRun run;
  run.outcome.kind = Outcome::Kind::kDeadlocked;
  run.threads = std::move(threads);
  return run;
}

TEST(FailureFindings, ACrashIsHarmfulAndTellsWhere) {
  EndedRun run = crashed(SIGSEGV, 7);
  run.recorded = true;
  const std::optional<Finding> finding = tally_of_tests().failure_of(run);
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->kind, FindingKind::kCrash);
  EXPECT_EQ(finding->rung, Rung::kHarmful);
  EXPECT_EQ(finding->failure->signal, std::uint32_t{SIGSEGV});
  ASSERT_EQ(finding->accesses.size(), 1u);
  EXPECT_EQ(finding->accesses[0].thread, "T2");
  EXPECT_EQ(finding->accesses[0].site.line, 7u);
  EXPECT_EQ(finding->accesses[0].stack.size(), 1u);
  EXPECT_EQ(headline(*finding), "crash, killed by signal 11 (Segmentation fault)");
  EXPECT_EQ(why_on_rung(*finding, {}), "a recorded run ended so: killed by signal 11 (Segmentation fault)");
}

TEST(FailureFindings, SomeEndsAreNone) {
  EndedRun run;
  EXPECT_FALSE(tally_of_tests().failure_of(run).has_value());
  run.outcome.number = 3;
  EXPECT_FALSE(tally_of_tests().failure_of(run).has_value()) << "only the program knows what a status means";
  run.outcome.complained = true;
  run.outcome.last_words = "free(): invalid pointer";
  ASSERT_TRUE(tally_of_tests().failure_of(run).has_value());
  EXPECT_EQ(tally_of_tests().failure_of(run)->kind, FindingKind::kCrash);
  EXPECT_EQ(tally_of_tests().failure_of(run)->failure->message, "free(): invalid pointer");
  EndedRun killed = crashed(SIGTERM, 7);
  killed.recorded = true;
  EXPECT_FALSE(tally_of_tests().failure_of(killed).has_value()) << "somebody else ended it";
}

TEST(FailureFindings, ADeadlockIsACycleOfLocksIfItIsOne) {
  using control::BlockedOn;
  const Finding cycle = *tally_of_tests().failure_of(
      deadlocked({waits(0, BlockedOn::kJoin, 1), waits(1, BlockedOn::kMutex, 2), waits(2, BlockedOn::kMutex, 1)}));
  EXPECT_EQ(cycle.kind, FindingKind::kDeadlock);
  ASSERT_EQ(cycle.accesses.size(), 2u);
  EXPECT_EQ(cycle.accesses[0].op, Op::kAcquire);
  EXPECT_EQ(awaited(cycle, cycle.accesses[0]), ", waiting for thread T2");
  const Finding lost =
      *tally_of_tests().failure_of(deadlocked({waits(0, BlockedOn::kJoin, 1), waits(1, BlockedOn::kCondition, {})}));
  ASSERT_EQ(lost.accesses.size(), 2u);
  EXPECT_EQ(lost.accesses[1].op, Op::kWait);
  EXPECT_EQ(headline(lost), "deadlock of 2 threads");
  EXPECT_EQ(awaited(lost, lost.accesses[0]), "");
}

TEST(FailureFindings, LocksTellDeadlocksApartThatOneFunctionMakes) {
  using control::BlockedOn;
  const auto run = [](const std::string& first, const std::string& second) {
    StoppedThread one = waits(1, BlockedOn::kMutex, 2);
    StoppedThread two = waits(2, BlockedOn::kMutex, 1);
    one.name = first;
    two.name = second;
    return deadlocked({one, two});
  };
  const Finding ab = *tally_of_tests().failure_of(run("a", "b"));
  EXPECT_EQ(ab.accesses[0].locks, std::vector<std::string>{"b"});
  EXPECT_EQ(ab.accesses[1].locks, std::vector<std::string>{"a"});
  const Finding cd = *tally_of_tests().failure_of(run("c", "d"));
  EXPECT_NE(ab.id, cd.id);
  EXPECT_FALSE(is_same_failure(failure_key(ab), failure_key(cd)));
  const Finding nameless = *tally_of_tests().failure_of(run("", ""));
  EXPECT_TRUE(is_same_failure(failure_key(ab), failure_key(nameless)));
  // It is the one that was predicted, and is called as that.
  Report report;
  Finding& predicted = report.findings.emplace_back(cd);
  predicted.rung = Rung::kPredicted;
  predicted.failure.reset();
  predicted.accesses[0].variable = "c";
  predicted.context.threads.push_back({"T1", {}});
  FailureTally tally;
  tally.add(run("", ""));
  tally.move_to(report);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].rung, Rung::kHarmful);
  EXPECT_EQ(report.findings[0].id, cd.id);
  EXPECT_EQ(report.findings[0].accesses[0].variable, "c");
  EXPECT_EQ(report.findings[0].context.threads.size(), 1u);
}

TEST(FailureFindings, AThreadThatWaitsForItselfIsOneFinding) {
  StoppedThread alone = waits(1, control::BlockedOn::kMutex, 1);
  alone.name = "m";
  FailureTally tally;
  tally.add(deadlocked({alone}));
  Report report;
  report.findings.push_back(*tally_of_tests().failure_of(deadlocked({alone})));
  Finding& misuse = report.findings.front();
  misuse.id = "misuse";
  misuse.kind = FindingKind::kMisuse;
  misuse.misuse = MisuseKind::kDoubleLock;
  misuse.failure.reset();
  misuse.found_by = {"misuse"};
  tally.move_to(report);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].kind, FindingKind::kDeadlock);
  EXPECT_EQ(report.findings[0].found_by, (std::vector<std::string>{"schedule", "misuse"}));
}

// All locks of a program without optimisation are taken in one line of a header: who called it tells deadlocks apart.
// Its thread has ended, or was left behind by a fork: no double lock.
TEST(FailureFindings, ALockThatNobodyGivesBackIsNoDoubleLock) {
  using control::BlockedOn;
  StoppedThread alone = waits(0, BlockedOn::kMutex, std::nullopt);
  alone.name = "m";
  const Finding left_behind = *tally_of_tests().failure_of(deadlocked({alone}));
  EXPECT_EQ(headline(left_behind), "deadlock on a lock that nobody releases: 'm'");
  alone.holder = 1;
  const Finding of_ended = *tally_of_tests().failure_of(deadlocked({alone}));
  EXPECT_TRUE(waits_for_nobody(of_ended));
  alone.name = "";
  EXPECT_TRUE(waits_for_nobody(*tally_of_tests().failure_of(deadlocked({alone}))));
  alone.holder = 0;
  EXPECT_FALSE(waits_for_nobody(*tally_of_tests().failure_of(deadlocked({alone}))));
  alone.name = "m";
  EXPECT_EQ(headline(*tally_of_tests().failure_of(deadlocked({alone}))),
            "deadlock of a thread with itself: double lock of 'm'");
}

TEST(FailureFindings, TheUsersCodeTellsThemApart) {
  using control::BlockedOn;
  const auto locks = [](std::uint32_t thread, std::uint32_t holder, std::uint32_t line) {
    StoppedThread stopped = waits(thread, BlockedOn::kMutex, holder);
    Site glue = site(749);
    glue.file = "/usr/include/x86_64-linux-gnu/c++/12/bits/gthr-default.h";
    Site library;
    library.module = "/usr/lib/x86_64-linux-gnu/libstdc++.so.6";
    library.offset = 0x10;
    stopped.stack = {library, glue, site(line), site(99)};
    return stopped;
  };
  const auto id = [&](std::uint32_t first, std::uint32_t second) {
    return tally_of_tests().failure_of(deadlocked({locks(1, 2, first), locks(2, 1, second)}))->id;
  };
  EXPECT_EQ(id(3, 4), id(4, 3));
  EXPECT_NE(id(3, 4), id(3, 5));
  Finding plain = *tally_of_tests().failure_of(deadlocked({locks(1, 2, 3), locks(2, 1, 4)}));
  for (Access& access : plain.accesses) {  // as an optimised build has it
    access.site = access.stack[1];
  }
  plain.id.clear();
  Identifier().identify(plain);
  EXPECT_EQ(plain.id, id(3, 4));
  EndedRun hang = deadlocked({locks(1, 2, 3)});
  hang.outcome.kind = Outcome::Kind::kHung;
  const std::string hung = tally_of_tests().failure_of(hang)->id;
  hang.threads = {locks(1, 2, 5)};
  EXPECT_EQ(tally_of_tests().failure_of(hang)->id, hung) << "where it was when time was over is chance";
}

// A deadlock that was predicted, that the run along its witness ended in, and others on their own.
TEST(FailureFindings, AllRunsThatEndedSoAreTold) {
  const EndedRun run = deadlocked({waits(1, control::BlockedOn::kMutex, 2), waits(2, control::BlockedOn::kMutex, 1)});
  FailureTally tally;
  tally.add(run, {"sooth replay x -- ./p", "random", 5, "text"}, 3);
  tally.add_good_runs(7);
  Report report;
  Finding predicted = tally.findings()[0];
  predicted.witness.emplace().checked = true;
  predicted.replay.emplace().witness_followed = true;
  predicted.replay->schedule = "text";
  report.findings.push_back(predicted);
  tally.move_to(report);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(why_on_rung(report.findings[0], {}),
            "the run along the witness and 3 of 10 controlled runs ended so: a deadlock");
  report.findings[0].failure->recorded = true;
  EXPECT_EQ(why_on_rung(report.findings[0], {}),
            "a recorded run, the run along the witness and 3 of 10 controlled runs ended so: a deadlock");
}

TEST(FailureFindings, WhatTakesASpuriousWakeIsSuspected) {
  EndedRun run = crashed(SIGABRT, 7);
  run.by_delay = true;
  FailureTally tally;
  tally.add(run, {"sooth replay x -- ./p", "random" + std::string(kWithSpuriousWakes), 5, "text"}, 2);
  Report report;
  tally.move_to(report);
  EXPECT_EQ(report.findings.at(0).rung, Rung::kSuspected);
  EXPECT_EQ(why_on_rung(report.findings[0], {}),
            "2 of 2 controlled runs ended so: killed by signal 6 (Aborted); it takes a spurious wake-up of a condition "
            "variable");
  tally.add(run, {"sooth replay x -- ./p", "random" + std::string(kWithSpuriousWakes), 5, "text"});
  tally.add(crashed(SIGABRT, 7), {"sooth replay x -- ./p", "random", 6, "text"});
  Report other;
  tally.move_to(other);
  EXPECT_EQ(other.findings.at(0).rung, Rung::kHarmful) << "another run did without";
}

TEST(FailureFindings, HowARecordedRunEnded) {
  EXPECT_EQ(how_ended({.status = 3, .signal = 0}, std::nullopt), "status 3");
  EXPECT_EQ(how_ended({.status = 66, .signal = 0}, deadlocked({waits(1, control::BlockedOn::kMutex, 2)})),
            "a deadlock");
  EXPECT_EQ(how_ended({.status = 0, .signal = SIGSEGV}, crashed(SIGSEGV, 7)), "signal 11 (Segmentation fault)");
  EndedRun late;
  late.outcome.kind = Outcome::Kind::kHung;
  EXPECT_EQ(how_ended({.status = 0, .signal = SIGKILL}, late), "a hang");
}

TEST(FailureFindings, EqualFailuresAreOne) {
  FailureTally tally;
  EndedRun late = crashed(SIGABRT, 7);
  late.by_delay = true;
  const std::string first = tally.add(late, {"sooth replay x -- ./p", "random", 5, "text"});
  EXPECT_FALSE(first.empty());
  EXPECT_TRUE(tally.findings()[0].failure->by_delay);
  EXPECT_EQ(tally.add(crashed(SIGABRT, 7)), first);
  EXPECT_FALSE(tally.findings()[0].failure->by_delay) << "it takes no delay";
  EXPECT_NE(tally.add(crashed(SIGABRT, 8)), first) << "another place";
  EXPECT_NE(tally.add(crashed(SIGSEGV, 7)), first) << "another signal";
  EXPECT_EQ(tally.add(EndedRun()), "");
  tally.may_be_caused_by(first, "a race");
  tally.may_be_caused_by(first, "a race");
  Report report;
  Finding race;
  race.id = "race";
  race.rung = Rung::kHarmful;
  race.accesses.resize(2);
  report.findings.push_back(race);
  tally.move_to(report);
  ASSERT_EQ(report.findings.size(), 4u);
  EXPECT_EQ(report.findings[0].id, first) << "failures come first";
  EXPECT_EQ(report.findings[3].id, "race");
  const Finding& finding = report.findings[0];
  EXPECT_EQ(finding.dynamic_pairs, 2u);
  EXPECT_EQ(finding.replay->hits, 2u);
  EXPECT_EQ(finding.replay->trials, 5u);
  EXPECT_EQ(finding.replay->seed, 5u);
  EXPECT_EQ(finding.failure->after, std::vector<std::string>{"a race"});
  EXPECT_EQ(why_on_rung(finding, {}), "2 of 5 controlled runs ended so: killed by signal 6 (Aborted)");
}

TEST(FailureFindings, WhatTakesADelayComesLast) {
  FailureTally tally;
  EndedRun late = crashed(SIGABRT, 7);
  late.by_delay = true;
  const std::string id = tally.add(late);
  Report report;
  Finding race;
  race.id = "race";
  race.rung = Rung::kHarmful;
  race.accesses.resize(2);
  report.findings.push_back(race);
  tally.move_to(report);
  EXPECT_EQ(report.findings.back().id, id);
}

// Runs that failed alike may have ended at different places: the finding has one id, and what repeats it names that.
TEST(FailureFindings, TheCommandNamesTheFinding) {
  FailureTally tally;
  FailureReplay replay;
  replay.command = "sooth replay 'my run.json#0123456789abcdef' -- ./a '#7'";
  tally.add(crashed(SIGSEGV, 7), replay, 1);
  Report report;
  tally.move_to(report);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_NE(report.findings[0].id, "0123456789abcdef");
  EXPECT_EQ(report.findings[0].replay->command, "sooth replay 'my run.json#" + report.findings[0].id + "' -- ./a '#7'");
}

// A run that aborts, in which T1 could have gone on when T2 came.
RunOutcome aborted_run() {
  using control::StretchEnd;
  RunOutcome run;
  run.end.signal = SIGABRT;
  run.log.state = control::RunState::kRunning;
  run.log.processes.resize(1);
  run.log.processes[0].stretches = {{1, StretchEnd::kPreempted, 3, 0, 0, 0}, {2, StretchEnd::kRunEnded, 2, 0, 0, 0}};
  return run;
}

// What FailureLog makes of it once it was minimised by runs that follow their schedule, and end by this signal.
Finding minimized_failure(int signal) {
  FailureLog log("/no/such/program");
  RunPlan plan;
  plan.strategy = "pct:3";
  plan.seed = 5;
  log.add(plan, aborted_run());
  log.minimize(
      [&](const RunPlan& wanted) -> Result<RunOutcome> {
        RunOutcome run = aborted_run();
        run.end.signal = signal;
        if (wanted.plan == control::Plan::kStretches) {
          run.log.processes[0].stretches = wanted.stretches;
        }
        return run;
      },
      {});
  FailureTally tally;
  log.move_to(tally, "./p", "r.json");
  EXPECT_EQ(tally.findings().size(), 1u);
  return tally.findings().front();
}

TEST(FailureLog, TellsOfOtherExitStatuses) {
  FailureLog log("");
  const auto add = [&](int status, const std::string& strategy, std::uint64_t seed, std::uint32_t flags = 0,
                       std::uint64_t delay = 0) {
    RunPlan plan;
    plan.strategy = strategy;
    plan.seed = seed;
    plan.flags = flags;
    RunOutcome run;
    run.end.status = status;
    run.log.state = control::RunState::kEnded;
    run.log.processes.resize(1);
    run.log.processes[0].longest_delay = delay;
    log.add(plan, run);
  };
  const auto untold = [](int) { return false; };
  add(3, "random", 7, control::kWeakMemory);
  EXPECT_TRUE(log.other_statuses(0, "./a", untold).empty()) << "no run ended like the recorded one";
  add(0, "random", 1);
  add(3, "pct:3", 9);
  add(3, "pct:3", 2);
  add(4, "random", 5, 0, 2 * kUsualDelay);
  EXPECT_EQ(log.other_statuses(0, "./a", untold),
            std::vector<std::string>{"3 controlled runs ended with exit status 3, 1 with 0 like the recorded run: only "
                                     "the program knows whether that is a failure. One of them again: sooth replay "
                                     "pct:3@2 -- ./a"});
  EXPECT_TRUE(log.other_statuses(0, "./a", [](int status) { return status == 3; }).empty());
}

TEST(FailureLog, KeepsTheScheduleWithTheFewestPreemptions) {
  const Finding fails_anyhow = minimized_failure(SIGABRT);
  EXPECT_EQ(fails_anyhow.replay->strategy, "minimized");
  EXPECT_EQ(fails_anyhow.replay->seed, 5u);
  EXPECT_TRUE(fails_anyhow.replay->preemptions.empty()) << "it fails without any";
  EXPECT_NE(fails_anyhow.replay->schedule.find("plan stretches"), std::string::npos) << fails_anyhow.replay->schedule;
  const Finding other = minimized_failure(SIGSEGV);
  EXPECT_EQ(other.replay->strategy, "pct:3") << "no further run failed so";
  EXPECT_NE(other.replay->schedule.find("plan strategy pct:3"), std::string::npos) << other.replay->schedule;
}

}  // namespace
}  // namespace sooth
