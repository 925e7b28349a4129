#include "recipe/opaque/opaque_calls.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "base/ids.h"
#include "recipe/execute/script_testing.h"
#include "recipe/judge/check.h"
#include "recipe/opaque/reach_graph.h"

namespace sooth {
namespace {

using Ranges = std::vector<MemoryRange>;

// Main (thread 0) uses flag, box and block, which another thread's calls are handed, or are not.
constexpr char kProgram[] = R"(
target triple = "x86_64-pc-linux-gnu"
@flag = global i32 0
@other = global i32 0
@box = global ptr @flag
@keeper = global ptr null
@text = constant [4 x i8] c"abc\00"
@theirs = external global i32
declare i32 @get(ptr)
declare i32 @number(i64)
declare void @call_back(ptr)
declare i32 @printf(ptr, ...)
declare i64 @strlen(ptr)
declare i32 @atoi(ptr)
define void @main_() {
  store i32 1, ptr @flag
  store i32 1, ptr @other
  store i32 1, ptr @theirs
  ret void
}
define void @calls() {
  %a = call i32 @get(ptr @flag)
  %b = call i32 @atoi(ptr @other)
  %c = call i32 (ptr, ...) @printf(ptr @flag)
  %d = call i64 @strlen(ptr @flag)
  %e = call i32 @atoi(ptr @text)
  %f = call i32 @atoi(ptr null)
  ret void
}
define void @chain() {
  %a = call i32 @atoi(ptr @box)
  store ptr @other, ptr @keeper
  %b = call i32 @atoi(ptr @keeper)
  ret void
}
define void @disguised() {
  %a = call i32 @number(i64 ptrtoint (ptr @other to i64))
  ret void
}
define void @callback() {
  %v = load i32, ptr @other
  ret void
}
define void @calls_back() {
  call void @call_back(ptr @flag)
  ret void
}
)";

constexpr std::uint64_t kFlag = 0x1000, kOther = 0x2000, kBox = 0x3000, kKeeper = 0x4000, kText = 0x5000,
                        kTheirs = 0x6000;

Script script(std::uint32_t threads = 2) {
  Script made(
      kProgram,
      {{"flag", kFlag}, {"other", kOther}, {"box", kBox}, {"keeper", kKeeper}, {"text", kText}, {"theirs", kTheirs}},
      threads);
  made.enter(0, "main_").write(0, kFlag, 4, 1).write(0, kOther, 4, 1).write(0, kTheirs, 4, 1);
  return made;
}

TEST(OpaqueCallsTest, AreThoseThatMayLookAtWhatOthersTouch) {
  Script made = script();
  made.enter(1, "calls").returns(1, 1, 0, 0).returns(1, 1, 1, 0).returns(1, 1, 2, 0);
  made.event(1, Op::kRead, kFlag, 4).returns(1, 1, 3, 3).returns(1, 1, 4, 0).returns(1, 1, 5, 0);
  const std::vector<OpaqueCall> calls = find_opaque_calls(made.program(), made.view());
  ASSERT_EQ(calls.size(), 4u) << "neither printf, nor strlen, whose accesses are events";
  EXPECT_EQ(callee_name(*calls[0].at), "get");
  EXPECT_EQ(calls[0].reach, (Ranges{{kFlag, 4}, {kTheirs, 4}}))
      << "code that may be anything also has its own variables";
  EXPECT_EQ(calls[0].thread, ThreadId{1});
  EXPECT_TRUE(calls[0].returned);
  EXPECT_EQ(callee_name(*calls[1].at), "atoi");
  EXPECT_EQ(calls[1].reach, (Ranges{{kOther, 4}}));
  EXPECT_EQ(calls[2].reach, Ranges{}) << "what it is given does not change";
  EXPECT_EQ(calls[3].reach, Ranges{});
}

TEST(OpaqueCallsTest, FollowWhatIsInMemory) {
  Script made = script();
  made.enter(1, "chain").returns(1, 2, 0, 0).write(1, kKeeper, 8, kOther).returns(1, 2, 2, 0);
  made.read(0, kBox, 8, kFlag).read(0, kKeeper, 8, kOther);
  const std::vector<OpaqueCall> calls = find_opaque_calls(made.program(), made.view());
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].reach, (Ranges{{kFlag, 4}, {kBox, 8}})) << "by the program's file";
  EXPECT_EQ(calls[1].reach, (Ranges{{kOther, 4}, {kKeeper, 8}})) << "by a write of the trace";
}

TEST(OpaqueCallsTest, TakeNumbersForAddresses) {
  Script made = script();
  made.enter(1, "disguised").returns(1, 3, 0, 0);
  const std::vector<OpaqueCall> calls = find_opaque_calls(made.program(), made.view());
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].reach, (Ranges{{kOther, 4}, {kTheirs, 4}}));
}

// Code that may be anything knows later what it was given before.
TEST(OpaqueCallsTest, RememberWhatUnknownCodeWasGiven) {
  Script made = script(3);
  made.enter(1, "calls").returns(1, 1, 0, 0);
  made.enter(2, "disguised").returns(2, 3, 0, 0);
  const std::vector<OpaqueCall> calls = find_opaque_calls(made.program(), made.view());
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[0].reach, (Ranges{{ReachGraph::kOwnState, 1}, {kFlag, 4}, {kTheirs, 4}}));
  EXPECT_FALSE(calls[1].returned) << "atoi";
  EXPECT_EQ(calls[2].thread, ThreadId{2});
  EXPECT_EQ(calls[2].reach, (Ranges{{ReachGraph::kOwnState, 1}, {kFlag, 4}, {kOther, 4}, {kTheirs, 4}}));
}

// ... unless somebody says that it keeps nothing.
TEST(OpaqueCallsTest, OfStatelessFunctionsKnowWhatTheyAreGiven) {
  Script made = script(3);
  made.enter(1, "calls").returns(1, 1, 0, 0);
  made.enter(2, "disguised").returns(2, 3, 0, 0);
  const std::vector<OpaqueCall> calls = find_opaque_calls(made.program(), made.view(), {"get"});
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[0].reach, (Ranges{{kFlag, 4}}));
  EXPECT_EQ(calls[2].reach, (Ranges{{ReachGraph::kOwnState, 1}, {kOther, 4}, {kTheirs, 4}}))
      << "what get was given is unknown to others";
}

TEST(OpaqueCallsTest, StandAroundWhatHappensInThem) {
  Script made = script();
  made.enter(1, "calls_back");
  const std::uint64_t begin = made.view().events.size();
  const std::uint64_t record = made.view().deep.size();
  made.enter(1, "callback").read(1, kOther, 4, 1);
  made.returns(1, 5, 0, 0);
  made.write(1, kOther, 4, 2);
  const std::vector<OpaqueCall> calls = find_opaque_calls(made.program(), made.view());
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].begin, (CallSpot{begin, record}));
  EXPECT_EQ(calls[0].end, (CallSpot{begin + 1, record + 1}));
}

TEST(OpaqueCallsTest, ATraceWithThemIsOneThatCanBeFollowed) {
  Script made = script();
  made.enter(1, "calls").returns(1, 1, 0, 0).returns(1, 1, 1, 0).returns(1, 1, 2, 0);
  const CallTrace trace(made.program(), made.view());
  ASSERT_EQ(trace.put_in().size(), 4u);
  EXPECT_EQ(trace.view().events.size(), made.view().events.size() + 4);
  const TraceIndex index(trace.view(), {}, KeptOrder::kButAtomics);
  const Result<SymbolicProgram> followed =
      execute_symbolically(made.program(), index, trace.view(), trace.view().deep, {});
  ASSERT_TRUE(followed.ok());
  for (const SymbolicThread& thread : followed->threads) {
    EXPECT_EQ(thread.why_ended, "");
  }
}

// What the judge says when the last events of main and thread 1, which touch `flag` or `other`, are to be next.
Status judge_next(const Script& made) {
  const CallTrace trace(made.program(), made.view());
  const Result<ValueJudge> judge = ValueJudge::make(made.program(), trace.view(), trace.put_in());
  EXPECT_TRUE(judge.ok());
  const std::span<const Event> events = made.view().events;
  ValueWitness witness;
  std::optional<EventId> last[2];
  for (std::size_t e = 0; e < events.size(); ++e) {
    std::optional<EventId>& own = last[raw(events[e].thread)];
    if (own) {
      witness.order.push_back(*own);
    }
    own = EventId{e};
  }
  std::sort(witness.order.begin(), witness.order.end());
  for (const int t : {0, 1}) {
    witness.next[t] = {ThreadId{static_cast<std::uint32_t>(t)}, last[t], {}, {}};
  }
  return judge->check(trace.renumbered(std::move(witness)));
}

constexpr char kMessage[] = R"(
target triple = "x86_64-pc-linux-gnu"
@flag = global i32 0
@other = global i32 0
declare i32 @get(ptr)
define void @sends() {
  store i32 1, ptr @other
  store i32 1, ptr @flag
  store i32 2, ptr @other
  ret void
}
define void @receives() {
  %a = call i32 @get(ptr @flag)
  %b = load i32, ptr @other
  ret void
}
)";

Script message() { return Script(kMessage, {{"flag", kFlag}, {"other", kOther}}, 2); }

// get() came behind the write of flag, so it cannot be over while that is still to come.
TEST(OpaqueCallsTest, TheJudgeKeepsTheirOrder) {
  Script made = message();
  made.enter(0, "sends").write(0, kOther, 4, 1).write(0, kFlag, 4, 1);
  made.enter(1, "receives").returns(1, 1, 0, 1).read(1, kOther, 4, 1);
  const Status status = judge_next(made);  // next are the write of flag and the read of other
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("has to happen there without event 3"), std::string::npos) << status.message();
}

TEST(OpaqueCallsTest, TheJudgeLetsThemHappenWhereNothingForbidsIt) {
  Script made = message();
  made.enter(0, "sends").write(0, kOther, 4, 1).write(0, kFlag, 4, 1);
  made.enter(1, "receives").returns(1, 1, 0, 1);
  made.write(0, kOther, 4, 2).read(1, kOther, 4, 2);
  const Status status = judge_next(made);  // next are the second write of other and its read
  EXPECT_TRUE(status.ok()) << status.message();
}

}  // namespace
}  // namespace sooth
