#include "run/ended_hangs.h"

#include <gtest/gtest.h>

namespace sooth {
namespace {

// A run whose one thread was called from `caller` when it was ended.
RunOutcome ended_in(std::uint64_t caller) {
  RunOutcome run;
  run.timed_out = true;
  run.log.state = control::RunState::kHung;
  BlockedThread thread;
  thread.stack.resize(2);
  thread.stack[0].offset = caller + 17;
  thread.stack[1].offset = caller;
  run.log.processes.emplace_back().stopped.push_back(thread);
  return run;
}

RunOutcome whole(bool timed_out) {
  RunOutcome run;
  run.timed_out = timed_out;
  run.log.state = timed_out ? control::RunState::kRunning : control::RunState::kEnded;
  return run;
}

TEST(EndedHangs, TheFirstOfAKindIsMadeAgain) {
  EndedHangs hangs;
  int made = 0;
  const auto again = [&](bool patiently) {
    EXPECT_EQ(patiently, made == 0);
    return ++made, Result<RunOutcome>(whole(true));
  };
  for (int i = 0; i < 3; ++i) {
    const Result<RunOutcome> run = hangs.judge(ended_in(100), again);
    ASSERT_TRUE(run.ok());
    EXPECT_EQ(run->log.state, control::RunState::kHung);
  }
  EXPECT_EQ(made, 1);
  EXPECT_TRUE(hangs.judge(ended_in(200), again).ok());
  EXPECT_EQ(made, 2) << "other functions";
  EXPECT_TRUE(hangs.are_ended());
}

TEST(EndedHangs, ARunThatGivesUpIsNoHang) {
  EndedHangs hangs;
  const Result<RunOutcome> run = hangs.judge(ended_in(100), [](bool) { return Result<RunOutcome>(whole(false)); });
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->log.state, control::RunState::kEnded);
  EXPECT_FALSE(hangs.are_ended());
}

TEST(EndedHangs, ManyKindsCostTooMuch) {
  EndedHangs hangs;
  for (std::uint64_t caller = 1; caller <= 4; ++caller) {
    EXPECT_TRUE(hangs.are_ended()) << caller;
    EXPECT_TRUE(hangs.judge(ended_in(caller), [](bool) { return Result<RunOutcome>(whole(true)); }).ok());
  }
  EXPECT_FALSE(hangs.are_ended());
}

}  // namespace
}  // namespace sooth
