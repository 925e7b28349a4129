#include "confirm/outcome.h"

#include <gtest/gtest.h>

#include <csignal>

namespace sooth {
namespace {

RunOutcome run_with(int status, int signal, std::string errors = "") {
  RunOutcome run;
  run.end = {.status = status, .signal = signal};
  run.log.state = control::RunState::kEnded;
  run.errors = std::move(errors);
  return run;
}

TEST(OutcomeTest, Classifies) {
  struct Case {
    RunOutcome run;
    bool failed;
    std::string described;
  };
  RunOutcome deadlock = run_with(control::kDeadlockStatus, 0);
  deadlock.log.state = control::RunState::kDeadlocked;
  // Of a child that was forked, whatever the first process makes of it.
  RunOutcome deadlocked_child = run_with(0, 0);
  deadlocked_child.log.processes.resize(2);
  deadlocked_child.log.processes[1].deadlock.emplace_back();
  RunOutcome hang = run_with(0, SIGKILL);
  hang.timed_out = true;
  const Case cases[] = {
      {run_with(0, 0), false, "exit status 0"},
      {run_with(0, 0, "just a warning\n"), false, "exit status 0"},
      {run_with(3, 0), true, "exit status 3"},
      {run_with(3, 0, "first\nno such seat\n\n"), true, "exit status 3 after \"no such seat\""},
      {run_with(0, SIGSEGV), true, "killed by signal 11 (Segmentation fault)"},
      {run_with(0, SIGABRT, "a.cc:3: int f(): Assertion `x == 1' failed.\nlater\n"), true,
       "killed by signal 6 (Aborted) after \"a.cc:3: int f(): Assertion `x == 1' failed.\""},
      {run_with(0, SIGABRT,
                "terminate called after throwing an instance of 'std::runtime_error'\n  what():  changed\n"),
       true,
       "killed by signal 6 (Aborted) after \"terminate called after throwing an instance of 'std::runtime_error' "
       "what():  changed\""},
      {run_with(0, 0, "b.cc:9:3: runtime error: signed integer overflow\n"), true,
       "exit status 0 after \"b.cc:9:3: runtime error: signed integer overflow\""},
      {deadlock, true, "a deadlock"},
      {deadlocked_child, true, "a deadlock"},
      {hang, true, "a hang"},
  };
  for (const Case& each : cases) {
    const Outcome outcome = classify(each.run);
    EXPECT_EQ(outcome.failed(), each.failed) << each.described;
    EXPECT_EQ(outcome.describe(), each.described);
  }
}

TEST(OutcomeTest, LongWordsAreCut) {
  const Outcome outcome = classify(run_with(1, 0, std::string(100'000, 'x')));
  EXPECT_LT(outcome.describe().size(), 300u);
}

TEST(OutcomeTest, FishersTest) {
  // Fisher's tea: 4 of 4 against 0 of 4 is 1 in 70, 3 against 1 is 17 in 70.
  EXPECT_NEAR(chance_of(4, 4, 0, 4), 1.0 / 70, 1e-9);
  EXPECT_NEAR(chance_of(3, 4, 1, 4), 17.0 / 70, 1e-9);
  EXPECT_NEAR(chance_of(0, 10, 5, 10), 1.0, 1e-9);
  EXPECT_LT(chance_of(50, 100, 20, 100), 0.001);
  EXPECT_GT(chance_of(50, 100, 45, 100), 0.05);
}

TEST(BaselineTest, CountsEqualEnds) {
  Baseline mixed;
  for (int i = 0; i < 100; ++i) {
    mixed.add(classify(i % 5 == 0 ? run_with(0, SIGSEGV) : run_with(0, 0)));
  }
  EXPECT_EQ(mixed.ended_like(classify(run_with(0, SIGSEGV))), 20u);
  mixed.look_at(10);
  EXPECT_EQ(mixed.ended_like(classify(run_with(0, SIGSEGV))), 2u);
  EXPECT_EQ(mixed.runs(), 10u);
}

}  // namespace
}  // namespace sooth
