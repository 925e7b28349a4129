#include <gtest/gtest.h>

#include "recipe/execute/script_testing.h"
#include "recipe/execute/thread_trace.h"

namespace sooth {
namespace {

using Lines = std::vector<std::string>;

// A function says what it found by the way it takes, and the caller acts on it.
constexpr char kFound[] = R"(
@flag = global i32 0
@other = global i32 0
@m = global [40 x i8] zeroinitializer
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
define void @set() {
  store i32 1, ptr @flag
  store i32 0, ptr @other
  ret void
}
define internal i1 @is_set() {
  %f = load i32, ptr @flag
  %c = icmp eq i32 %f, 0
  br i1 %c, label %no, label %yes
yes:
  br label %end
no:
  br label %end
end:
  %r = phi i1 [ true, %yes ], [ false, %no ]
  ret i1 %r
}
define internal void @count(ptr %p) {
  %v = load i32, ptr %p
  %more = add i32 %v, 1
  store i32 %more, ptr %p
  ret void
}
define void @get() {
  %found = call i1 @is_set()
  br i1 %found, label %then, label %done
then:
  %l = call i32 @pthread_mutex_lock(ptr @m)
  br label %loop
loop:
  call void @count(ptr @other)
  %again = load i32, ptr @other
  %c = icmp slt i32 %again, 9
  br i1 %c, label %loop, label %out
out:
  %u = call i32 @pthread_mutex_unlock(ptr @m)
  br label %done
done:
  ret void
}
)";

Script found() {
  Script script(kFound, {{"flag", 0x1000}, {"other", 0x1010}, {"m", 0x1020}}, 3);
  script.enter(2, "get").enter(2, "is_set").read(2, 0x1000, 4, 0).branch(2, 0).branch(2, 1);
  script.enter(1, "set").write(1, 0x1000, 4, 1).write(1, 0x1010, 4, 0);
  return script;
}

std::string steps(const Detour& detour) {
  std::string text;
  for (const DetourStep& step : detour.steps) {
    text += std::string(op_name(step.op)) + (step.object == 0x1010 ? " other, " : " m, ");
  }
  return text + detour.stopped;
}

TEST(ExecuteDetour, GoesOnWhereTheSidesMeetWhenThatLeadsToNewCode) {
  const Script script = found();
  const SymbolicProgram made = script.execute({.turns = 1});
  check_recorded(made, script.view());
  const SymbolicThread& thread = made.threads[2];
  EXPECT_EQ(thread.why_ended, "");
  Lines found;
  for (const Detour& detour : thread.detours) {
    EXPECT_EQ(made.expressions.to_string(detour.taken), "~(x0 == 0)");
    found.push_back(steps(detour));
  }
  // The guess is that `other` stays small, so the loop comes first; then the ways that leave it.
  const std::string turn = "read other, write other, read other, ";
  EXPECT_EQ(found, (Lines{"acquire m, " + turn + turn + "too many turns of a loop",
                          "acquire m, " + turn + turn + "release m, return to code without IR",
                          "acquire m, " + turn + "release m, return to code without IR"}));
  const std::vector<DetourStep>& last = thread.detours.back().steps;
  EXPECT_EQ(last.at(3).read, last.at(2).written);  // what it wrote itself it reads again, without a variable
  EXPECT_EQ(made.expressions.to_string(last.at(4).conditions.at(0)), "9 <=s (x1 + 1)");
  EXPECT_TRUE(script.execute({.beyond = 0}).threads[2].detours.empty());
}

TEST(ExecuteDetour, TellsHowFarSidesWereFollowed) {
  const SymbolicProgram made = found().execute({.turns = 1});
  ASSERT_EQ(made.threads[2].untaken.size(), 1u);
  const UntakenSide& side = made.threads[2].untaken[0];
  EXPECT_EQ(side.outcome, 1u);
  EXPECT_EQ(side.steps, 8u);  // the way that came furthest
  EXPECT_EQ(side.stopped, "return to code without IR");
  EXPECT_TRUE(made.threads[1].untaken.empty());
  EXPECT_TRUE(found().execute({.detours = false}).threads[2].untaken.empty());
}

TEST(ExecuteDetour, GoesThroughLoopsAsOftenAsValuesSay) {
  const SymbolicProgram made = found().execute();
  ASSERT_EQ(made.threads[2].detours.at(0).steps.size(), 1u + 3 * 9 + 1);  // from 0 to 9, and the mutex
  EXPECT_EQ(made.threads[2].detours[0].stopped, "return to code without IR");
}

TEST(ExecuteDetour, LimitsAreKept) {
  const Script script = found();
  const SymbolicProgram made = script.execute({.steps = 3});
  for (const Detour& detour : made.threads[2].detours) {
    EXPECT_LE(detour.steps.size(), 3u);
  }
  EXPECT_EQ(script.execute({.paths = 1}).threads[2].detours.size(), 1u);
  EXPECT_TRUE(script.execute({.detours = false}).threads[2].detours.empty());
  EXPECT_EQ(steps(script.execute({.call_depth = 0}).threads[2].detours.at(0)), "acquire m, calls nested too deeply");
}

// Who exchanges the owner writes to the badge, the other one looks at it.
constexpr char kClaim[] = R"(
@owner = global i32 0
@badge = global i32 0
define internal i1 @claim(i32 %who) {
  %x = cmpxchg ptr @owner, i32 0, i32 %who seq_cst seq_cst
  %won = extractvalue { i32, i1 } %x, 1
  ret i1 %won
}
define void @work(i32 %who) {
  %won = call i1 @claim(i32 %who)
  br i1 %won, label %yes, label %no
yes:
  store i32 7, ptr @badge
  ret void
no:
  %b = load i32, ptr @badge
  ret void
}
)";

std::string text(const Detour& detour) {
  std::string text;
  for (const DetourStep& step : detour.steps) {
    text += std::string(op_name(step.op)) + (step.object == 0x1000 ? " owner, " : " badge, ");
  }
  return text + detour.stopped;
}

Lines in_views(const SymbolicThread& thread) {
  Lines found;
  for (const Detour& detour : thread.detours) {
    if (detour.cut != kNoEvent) {
      found.push_back(text(detour));
    }
  }
  return found;
}

TEST(ExecuteView, ThreadsLeaveTheirPathsForWhatOthersHaveNotDoneYet) {
  Script script(kClaim, {{"owner", 0x1000}, {"badge", 0x1010}}, 3);
  script.enter(1, "work").word(1, 1).enter(1, "claim").event(1, Op::kAtomicRmw, 0x1000, 4, {0, 0, 4}).branch(1, 0);
  script.write(1, 0x1010, 4, 7);
  script.enter(2, "work").word(2, 2).enter(2, "claim").read(2, 0x1000, 4, 1, Op::kAtomicLoad).branch(2, 1);
  script.read(2, 0x1010, 4, 7);
  const SymbolicProgram made = script.execute({.initial = [](std::uint64_t) { return std::uint8_t{0}; }});
  check_recorded(made, script.view());
  // The second one comes first and wins.
  EXPECT_EQ(in_views(made.threads[2]), (Lines{"atomic rmw owner, write badge, post-dominator"}));
  // The first one comes second, then, and has lost: what it finds is what the other one does beside its path. That may
  // have written to the badge or not yet.
  const std::string way = "atomic load owner, read badge, post-dominator";
  EXPECT_EQ(in_views(made.threads[1]), (Lines{way, way}));
  const Detour& lost = made.threads[1].detours.back();
  EXPECT_EQ(made.recorded.at(made.expressions.variable_number(lost.steps.at(0).read)), 2u);  // who won
  // How far these ways were followed is told.
  ASSERT_EQ(made.threads[2].left.size(), 1u);
  EXPECT_EQ(made.threads[2].left[0].stopped, kFollowedToTheEnd);
  EXPECT_EQ(made.threads[2].left[0].steps, 2u);
  EXPECT_TRUE(script.execute({.detours = false}).threads[1].left.empty());
}

// A value that is handed on in a critical section, and what is done when it is there.
constexpr char kHandOver[] = R"(
@m = global [40 x i8] zeroinitializer
@slot = global i32 0
@table = global [4 x i32] zeroinitializer
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
define void @set(i32 %value) {
  %l = call i32 @pthread_mutex_lock(ptr @m)
  store i32 %value, ptr @slot
  %u = call i32 @pthread_mutex_unlock(ptr @m)
  ret void
}
define void @use() {
  %l = call i32 @pthread_mutex_lock(ptr @m)
  %n = load i32, ptr @slot
  %u = call i32 @pthread_mutex_unlock(ptr @m)
  %wide = sext i32 %n to i64
  %place = getelementptr i32, ptr @table, i64 %wide
  store i32 1, ptr %place
  ret void
}
)";

// One thread hands two values over, the other one uses the second.
Script handed_over(std::uint32_t first, std::uint32_t second) {
  Script script(kHandOver, {{"m", 0x1000}, {"slot", 0x1030}, {"table", 0x1040}}, 3);
  const auto called = [&](std::uint32_t thread, const char* function, std::uint32_t call, Op op) {
    script.event(thread, op, 0x1000, 0).returns(thread, std::string(function) == "set" ? 0 : 1, call, 0);
  };
  for (const std::uint32_t value : {first, second}) {
    script.enter(1, "set").word(1, value);
    called(1, "set", 0, Op::kAcquire);
    script.write(1, 0x1030, 4, value);
    called(1, "set", 2, Op::kRelease);
  }
  script.enter(2, "use");
  called(2, "use", 0, Op::kAcquire);
  script.read(2, 0x1030, 4, second);
  called(2, "use", 2, Op::kRelease);
  script.write(2, 0x1040 + 4 * second, 4, 1);
  return script;
}

TEST(ExecuteView, LooksBehindCriticalSectionsOfOthers) {
  const SymbolicProgram made = handed_over(2, 3).execute({.initial = [](std::uint64_t) { return std::uint8_t{0}; }});
  EXPECT_EQ(made.threads[2].why_ended, "");
  // By what is there before both sections, and between them.
  std::vector<std::uint64_t> places;
  for (const Detour& detour : made.threads[2].detours) {
    if (detour.cut != kNoEvent) {
      ASSERT_EQ(detour.steps.size(), 1u);
      places.push_back(detour.steps[0].object);
    }
  }
  EXPECT_EQ(places, (std::vector<std::uint64_t>{0x1040, 0x1048}));
}

TEST(ExecuteView, EndsWhereNoProgramHasMemory) {
  // With the first value the address is the last one that 8 bytes have room at.
  const SymbolicProgram made = handed_over(static_cast<std::uint32_t>(-1042), 3).execute();
  ASSERT_FALSE(made.threads[2].left.empty());
  EXPECT_EQ(made.threads[2].left[0].stopped, "an address that is not known");
  EXPECT_EQ(made.threads[2].left[0].steps, 0u);
}

// Looks something up, which throws when it is not there; who asked cleans up, and the one above counts.
constexpr char kLookUp[] = R"(
@_ZTISt9exception = external constant ptr
@size = global i32 0
@misses = global i32 0
@cleaned = global i32 0
@text = private constant [2 x i8] c"x\00"
declare void @_ZSt20__throw_out_of_rangePKc(ptr)
declare ptr @__cxa_begin_catch(ptr)
declare void @__cxa_end_catch()
declare i32 @__gxx_personality_v0(...)
declare i32 @llvm.eh.typeid.for.p0(ptr)
define void @fill() {
  store i32 4, ptr @size
  ret void
}
define internal void @at(i32 %place) {
  %n = load i32, ptr @size
  %c = icmp ult i32 %place, %n
  br i1 %c, label %good, label %bad
bad:
  call void @_ZSt20__throw_out_of_rangePKc(ptr @text)
  unreachable
good:
  ret void
}
define internal void @ask() personality ptr @__gxx_personality_v0 {
  invoke void @at(i32 2) to label %fine unwind label %pad
fine:
  ret void
pad:
  %l = landingpad { ptr, i32 } cleanup
  store i32 1, ptr @cleaned
  resume { ptr, i32 } %l
}
define void @use() personality ptr @__gxx_personality_v0 {
  invoke void @ask() to label %fine unwind label %pad
fine:
  ret void
pad:
  %l = landingpad { ptr, i32 } catch ptr @_ZTISt9exception
  %object = extractvalue { ptr, i32 } %l, 0
  %selector = extractvalue { ptr, i32 } %l, 1
  %wanted = call i32 @llvm.eh.typeid.for.p0(ptr @_ZTISt9exception)
  %is = icmp eq i32 %selector, %wanted
  br i1 %is, label %handler, label %on
handler:
  %x = call ptr @__cxa_begin_catch(ptr %object)
  store i32 1, ptr @misses
  call void @__cxa_end_catch()
  ret void
on:
  resume { ptr, i32 } %l
}
)";

TEST(ExecuteDetour, FollowsExceptionsToTheirHandlers) {
  Script script(kLookUp, {{"size", 0x1000}, {"misses", 0x1010}, {"cleaned", 0x1020}}, 3);
  script.enter(1, "fill").write(1, 0x1000, 4, 4);
  script.enter(2, "use").enter(2, "ask").enter(2, "at").read(2, 0x1000, 4, 4).branch(2, 0);
  const SymbolicProgram made = script.execute();
  EXPECT_EQ(made.threads[2].why_ended, "");
  ASSERT_FALSE(made.threads[2].detours.empty());
  const Detour& detour = made.threads[2].detours[0];
  ASSERT_EQ(detour.steps.size(), 2u);
  EXPECT_EQ(detour.steps[0].object, 0x1020u);
  EXPECT_EQ(detour.steps[1].object, 0x1010u);
  EXPECT_EQ(detour.stopped, "return to code without IR");
  EXPECT_EQ(made.expressions.to_string(detour.taken), "x0 <=u 2");
}

}  // namespace
}  // namespace sooth
