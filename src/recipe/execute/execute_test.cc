#include <gtest/gtest.h>

#include <algorithm>

#include "base/ids.h"
#include "recipe/execute/script_testing.h"
#include "recipe/execute/thread_trace.h"

namespace sooth {

namespace {

using Why = PathCondition::Why;

std::vector<std::string> conditions(const SymbolicProgram& made, std::uint32_t thread) {
  std::vector<std::string> lines;
  for (const PathCondition& condition : made.threads[thread].conditions) {
    lines.push_back(std::to_string(condition.position) + ": " + made.expressions.to_string(condition.holds));
  }
  return lines;
}

std::vector<std::string> writes(const SymbolicProgram& made, std::uint32_t thread) {
  std::vector<std::string> lines;
  for (const SymbolicAccess& access : made.threads[thread].accesses) {
    if (access.written != kNoExpr) {
      lines.push_back(made.expressions.to_string(access.written));
    }
  }
  return lines;
}

using Lines = std::vector<std::string>;

// A function whose one thread runs alone with another that writes what it reads: enough for conditions.
constexpr char kFigure1[] = R"(
@x = global i32 0
@y = global i32 0
declare void @print(i32)
define void @t1() {
  store i32 3, ptr @y
  store i32 1, ptr @x
  store i32 5, ptr @y
  ret void
}
define void @t2() {
  %y = load i32, ptr @y
  %c = icmp sgt i32 %y, 2
  br i1 %c, label %then, label %else
then:
  %x1 = load i32, ptr @x
  %d1 = sdiv i32 1, %x1
  call void @print(i32 %d1)
  br label %end
else:
  %x2 = load i32, ptr @x
  %d2 = sdiv i32 2, %x2
  call void @print(i32 %d2)
  br label %end
end:
  ret void
}
)";

Script figure1() {
  Script script(kFigure1, {{"x", 0x1000}, {"y", 0x1010}}, 3);
  script.enter(1, "t1").write(1, 0x1010, 4, 3).write(1, 0x1000, 4, 1).write(1, 0x1010, 4, 5);
  script.enter(2, "t2").read(2, 0x1010, 4, 5).branch(2, 0).read(2, 0x1000, 4, 1).returns(2, 1, 5, 0);
  return script;
}

TEST(ExecuteFigure1, BranchOutcomeInsteadOfEqualValues) {
  const Script script = figure1();
  const SymbolicProgram made = script.execute({.detours = false});
  check_recorded(made, script.view());
  EXPECT_EQ(made.threads[1].why_ended, "");
  EXPECT_EQ(made.threads[2].why_ended, "");
  EXPECT_EQ(made.threads[2].end, 3u);
  EXPECT_EQ(conditions(made, 1), Lines{});
  EXPECT_EQ(conditions(made, 2), (Lines{"2: 2 <s x0", "3: ~(x1 == 0)", "3: (1 /s x1) == 1"}));
  EXPECT_EQ(made.threads[2].conditions[0].why, Why::kBranch);
  EXPECT_EQ(made.threads[2].conditions[1].why, Why::kDivisor);
  EXPECT_EQ(made.threads[2].conditions[2].why, Why::kOpaque);
}

TEST(ExecuteFigure1, TheOtherBranchReadsX) {
  const Script script = figure1();
  const SymbolicProgram made = script.execute();
  check_recorded(made, script.view());
  ASSERT_EQ(made.threads[2].detours.size(), 1u);
  const Detour& detour = made.threads[2].detours[0];
  EXPECT_EQ(detour.position, 2u);
  EXPECT_EQ(detour.conditions, 0u);
  EXPECT_EQ(made.expressions.to_string(detour.taken), "x0 <=s 2");
  EXPECT_EQ(detour.stopped, "call of print");
  ASSERT_EQ(detour.steps.size(), 1u);
  EXPECT_EQ(detour.steps[0].op, Op::kRead);
  EXPECT_EQ(detour.steps[0].object, 0x1000u);
  EXPECT_TRUE(made.expressions.is_variable(detour.steps[0].read));
}

// s = 0; for (i = 1; i < 2; i++) s += i; y = s;   and   if (y > 2) print(x): local computation leaves constants, reads variables.
TEST(ExecuteFigure3, SsaFormOfTheTrace) {
  Script script(R"(
@x = global i32 0
@y = global i32 0
declare void @print(i32)
define void @t1() {
entry:
  br label %head
head:
  %s = phi i32 [ 0, %entry ], [ %s2, %body ]
  %i = phi i32 [ 1, %entry ], [ %i2, %body ]
  %c = icmp slt i32 %i, 2
  br i1 %c, label %body, label %end
body:
  %s2 = add nsw i32 %s, %i
  %i2 = add nsw i32 %i, 1
  br label %head
end:
  store i32 %s, ptr @y
  store i32 7, ptr @x
  ret void
}
define void @t2() {
  %y = load i32, ptr @y
  %c = icmp sgt i32 %y, 2
  br i1 %c, label %then, label %end
then:
  %x = load i32, ptr @x
  call void @print(i32 %x)
  br label %end
end:
  ret void
}
)",
                {{"x", 0x1000}, {"y", 0x1010}}, 3);
  script.enter(1, "t1").branch(1, 0).branch(1, 1).write(1, 0x1010, 4, 1).write(1, 0x1000, 4, 7);
  script.enter(2, "t2").read(2, 0x1010, 4, 1).branch(2, 1);
  const SymbolicProgram made = script.execute();
  check_recorded(made, script.view());
  EXPECT_EQ(conditions(made, 1), Lines{});  // i < 2 is decided by the thread alone
  EXPECT_EQ(writes(made, 1), Lines{});      // W_y is the recorded 1
  EXPECT_EQ(conditions(made, 2), Lines{"2: x0 <=s 2"});
  ASSERT_EQ(made.threads[2].detours.size(), 1u);  // R_y > 2 leads to print(R_x)
  EXPECT_EQ(made.expressions.to_string(made.threads[2].detours[0].taken), "2 <s x0");
  EXPECT_EQ(made.threads[2].detours[0].steps.size(), 1u);
}

TEST(ExecuteFigure4, BasePointersKeepTheirValue) {
  Script script(R"(
@y = global ptr null
define void @t1() {
  store ptr inttoptr (i64 8192 to ptr), ptr @y
  store ptr inttoptr (i64 12288 to ptr), ptr @y
  %f = getelementptr i8, ptr inttoptr (i64 12288 to ptr), i64 8
  store i32 5, ptr %f
  ret void
}
define void @t2() {
  %z = load ptr, ptr @y
  %f = getelementptr { i64, i32 }, ptr %z, i64 0, i32 1
  %w = load i32, ptr %f
  %more = add i32 %w, 1
  store i32 %more, ptr %f
  ret void
}
)",
                {{"y", 0x1000}}, 3);
  script.enter(1, "t1").write(1, 0x1000, 8, 8192).write(1, 0x1000, 8, 12288).write(1, 12296, 4, 5);
  script.enter(2, "t2").read(2, 0x1000, 8, 12288).read(2, 12296, 4, 5).write(2, 12296, 4, 6);
  const SymbolicProgram made = script.execute({.detours = false});
  check_recorded(made, script.view());
  EXPECT_EQ(conditions(made, 2), Lines{"2: x0 == 12288"});  // once, though there are two accesses
  EXPECT_EQ(made.threads[2].conditions[0].why, Why::kBasePointer);
  EXPECT_EQ(writes(made, 2), Lines{"x1 + 1"});
  // The other pointer that was there is followed beside the recorded path.
  const SymbolicProgram beside = script.execute();
  EXPECT_EQ(conditions(beside, 2), Lines{"2: x0 == 12288"});
  ASSERT_EQ(beside.threads[2].detours.size(), 1u);
  const Detour& other = beside.threads[2].detours[0];
  EXPECT_EQ(beside.expressions.to_string(other.taken), "x0 == 8192");
  EXPECT_EQ(other.position, 2u);
  EXPECT_EQ(other.conditions, 0u);
  ASSERT_EQ(other.steps.size(), 2u);
  EXPECT_EQ(other.steps[0].object, 8200u);
  EXPECT_EQ(other.steps[1].op, Op::kWrite);
}

TEST(Execute, PrivateMemoryForwardsBytes) {
  // The thread keeps a shared value in memory of its own, and reads it back in other sizes.
  Script script(R"(
@s = global i32 0
@r = global i16 0
define void @other() {
  store i32 305419896, ptr @s
  %r = load i16, ptr @r
  ret void
}
define void @f() {
  %a = alloca [8 x i8]
  %v = load i32, ptr @s
  store i32 %v, ptr %a
  %p = getelementptr i8, ptr %a, i64 1
  store i8 7, ptr %p
  %h = load i16, ptr %a
  store i16 %h, ptr @r
  %q = getelementptr i8, ptr %a, i64 2
  %t = load i16, ptr %q
  store i16 %t, ptr @r
  ret void
}
)",
                {{"s", 0x1000}, {"r", 0x1010}}, 3);
  script.enter(1, "other").write(1, 0x1000, 4, 0x12345678);
  script.enter(2, "f")
      .address(2, 0x7000)
      .read(2, 0x1000, 4, 0x12345678)
      .write(2, 0x7000, 4, 0x12345678)
      .write(2, 0x7001, 1, 7);
  script.read(2, 0x7000, 2, 0x0778).write(2, 0x1010, 2, 0x0778).read(2, 0x7002, 2, 0x1234).write(2, 0x1010, 2, 0x1234);
  script.read(1, 0x1010, 2, 0x1234);
  const SymbolicProgram made = script.execute();
  check_recorded(made, script.view());
  EXPECT_EQ(made.threads[2].why_ended, "");
  EXPECT_EQ(writes(made, 2), (Lines{"7 ++ x1[7:0]", "x1[31:16]"}));
}

TEST(Execute, CopiesInBulk) {
  // A value travels through a private copy of unknown length; a copy to where others look is pinned.
  Script script(R"(
@s = global i32 0
@buffer = global [200 x i8] zeroinitializer
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
define void @other() {
  store i32 77, ptr @s
  %r = load i32, ptr @buffer
  ret void
}
define void @f(i64 %n) {
  %a = alloca [200 x i8]
  %b = alloca [200 x i8]
  call void @llvm.memset.p0.i64(ptr %a, i8 0, i64 200, i1 false)
  %v = load i32, ptr @s
  store i32 %v, ptr %a
  call void @llvm.memcpy.p0.p0.i64(ptr %b, ptr %a, i64 %n, i1 false)
  %w = load i32, ptr %b
  %x = add i32 %w, 1
  store i32 %x, ptr @s
  call void @llvm.memcpy.p0.p0.i64(ptr @buffer, ptr %b, i64 200, i1 false)
  ret void
}
)",
                {{"s", 0x1000}, {"buffer", 0x2000}}, 3);
  script.enter(1, "other").write(1, 0x1000, 4, 77);
  script.enter(2, "f").word(2, 150).address(2, 0x7000).address(2, 0x7100).event(2, Op::kWrite, 0x7000, 200);
  script.read(2, 0x1000, 4, 77).write(2, 0x7000, 4, 77).word(2, 150);
  script.event(2, Op::kRead, 0x7000, 150).event(2, Op::kWrite, 0x7100, 150);
  script.read(2, 0x7100, 4, 77)
      .write(2, 0x1000, 4, 78)
      .event(2, Op::kRead, 0x7100, 200)
      .event(2, Op::kWrite, 0x2000, 200);
  script.read(1, 0x2000, 4, 77);
  const SymbolicProgram made = script.execute();
  check_recorded(made, script.view());
  EXPECT_EQ(made.threads[2].why_ended, "");
  EXPECT_EQ(writes(made, 2), Lines{"x1 + 1"});
  EXPECT_EQ(conditions(made, 2), Lines{"9: x1 == 77"});  // in front of the write to `buffer`
}

TEST(Execute, CopiesOfLiteralsAreKnown) {
  // What is copied from where nobody writes is what the program's file says; else what was written there.
  Script script(R"(
@name = constant [20 x i8] c"a name of some chars"
@changed = global [20 x i8] zeroinitializer
@buffer = global [40 x i8] zeroinitializer
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define void @f() {
  store i8 1, ptr @changed
  call void @llvm.memcpy.p0.p0.i64(ptr @buffer, ptr @name, i64 20, i1 false)
  %rest = getelementptr i8, ptr @buffer, i64 20
  call void @llvm.memcpy.p0.p0.i64(ptr %rest, ptr @changed, i64 20, i1 false)
  ret void
}
)",
                {{"name", 0x1000}, {"changed", 0x2000}, {"buffer", 0x3000}}, 2);
  script.enter(1, "f").write(1, 0x2000, 1, 1).event(1, Op::kRead, 0x1000, 20).event(1, Op::kWrite, 0x3000, 20);
  script.event(1, Op::kRead, 0x2000, 20).event(1, Op::kWrite, 0x3014, 20);
  const std::string name = "a name of some chars";
  const auto initial = [&](std::uint64_t address) -> std::optional<std::uint8_t> {
    return address - 0x1000 < name.size() ? std::optional(static_cast<std::uint8_t>(name[address - 0x1000]))
           : address - 0x2000 < 20        ? std::optional<std::uint8_t>(0)
                                          : std::nullopt;
  };
  const SymbolicProgram made = script.execute({.initial = initial});
  EXPECT_EQ(made.threads[1].why_ended, "");
  constexpr EventIndex kFirstCopy = 4, kSecondCopy = 6;  // behind fork, begin, store and read; read
  const std::vector<std::uint8_t>* copied = made.copied.find(kFirstCopy);
  ASSERT_NE(copied, nullptr);
  EXPECT_EQ(std::string(copied->begin(), copied->end()), name);
  const std::vector<std::uint8_t>* partly = made.copied.find(kSecondCopy);
  ASSERT_NE(partly, nullptr);
  EXPECT_EQ(partly->at(0), 1u);
}

TEST(Execute, WideValuesFloatsAndVectorsAreTheirRecordedOnes) {
  Script script(R"(
@s = global i64 0
@d = global double 0.0
define void @other() {
  store i64 5, ptr @s
  %r = load double, ptr @d
  ret void
}
define void @f() {
  %v = load i64, ptr @s
  %wide = zext i64 %v to i128
  %square = mul i128 %wide, %wide
  %low = trunc i128 %square to i64
  %real = sitofp i64 %low to double
  %half = fmul double %real, 5.0e-1
  store double %half, ptr @d
  %vector = insertelement <2 x i64> <i64 1, i64 2>, i64 %v, i32 1
  %sum = add <2 x i64> %vector, <i64 10, i64 20>
  %second = extractelement <2 x i64> %sum, i32 1
  store i64 %second, ptr @s
  ret void
}
)",
                {{"s", 0x1000}, {"d", 0x1010}}, 3);
  script.enter(1, "other").write(1, 0x1000, 8, 5);
  script.enter(2, "f").read(2, 0x1000, 8, 5).write(2, 0x1010, 8, 0x4029000000000000).write(2, 0x1000, 8, 25);
  script.read(1, 0x1010, 8, 0x4029000000000000);
  const SymbolicProgram made = script.execute();
  check_recorded(made, script.view());
  EXPECT_EQ(made.threads[2].why_ended, "");  // 12.5 was stored, so it was computed
  EXPECT_EQ(conditions(made, 2), Lines{"2: x1 == 5"});
  EXPECT_EQ(writes(made, 2), Lines{"x1 + 20"});
}

TEST(Execute, WhatCodeWithoutIrWroteIsConstant) {
  Script script(R"(
@s = global i32 0
@r = global i32 0
declare void @fill(ptr)
define void @other() {
  store i32 1, ptr @s
  %r = load i32, ptr @r
  ret void
}
define void @f() {
  %a = alloca i32
  %v = load i32, ptr @s
  store i32 %v, ptr %a
  call void @fill(ptr %a)
  %w = load i32, ptr %a
  store i32 %w, ptr @r
  ret void
}
)",
                {{"s", 0x1000}, {"r", 0x1010}}, 3);
  script.enter(1, "other").write(1, 0x1000, 4, 1);
  script.enter(2, "f").address(2, 0x7000).read(2, 0x1000, 4, 1).write(2, 0x7000, 4, 1).returns(2, 1, 3, 0);
  script.read(2, 0x7000, 4, 9).write(2, 0x1010, 4, 9).read(1, 0x1010, 4, 9);
  const SymbolicProgram made = script.execute();
  check_recorded(made, script.view());
  EXPECT_EQ(made.threads[2].why_ended, "");
  EXPECT_EQ(writes(made, 2), Lines{});
  EXPECT_EQ(conditions(made, 2), Lines{"3: x1 == 1"});  // what `fill` may have read
}

TEST(Execute, CallsCallbacksAndExceptions) {
  Script script(R"(
@s = global i32 0
declare i32 @apply(ptr, i32)
declare void @boom()
declare i32 @personality(...)
define internal i32 @twice(i32 %v) {
  %r = mul i32 %v, 2
  ret i32 %r
}
define i32 @callback(i32 %v) {
  %s = load i32, ptr @s
  %r = add i32 %s, %v
  ret i32 %r
}
define void @f() personality ptr @personality {
  %v = load i32, ptr @s
  %t = call i32 @twice(i32 %v)
  %a = call i32 @apply(ptr @callback, i32 3)
  invoke void @boom() to label %fine unwind label %bad
fine:
  ret void
bad:
  %p = landingpad { ptr, i32 } cleanup
  %c = icmp eq i32 %t, 8
  br i1 %c, label %yes, label %no
yes:
  store i32 %t, ptr @s
  ret void
no:
  ret void
}
define void @g() {
  store i32 4, ptr @s
  ret void
}
)",
                {{"s", 0x1000}, {"callback", 0x400000}}, 3);
  script.enter(1, "g").write(1, 0x1000, 4, 4);
  script.enter(2, "f").read(2, 0x1000, 4, 4).enter(2, "twice");
  script.enter(2, "callback").word(2, 3).read(2, 0x1000, 4, 4).returns(2, 2, 2, 77);
  script.landed(2, 2, 5).branch(2, 0).write(2, 0x1000, 4, 8);
  const SymbolicProgram made = script.execute();
  check_recorded(made, script.view());
  EXPECT_EQ(made.threads[2].why_ended, "");
  EXPECT_EQ(conditions(made, 2),
            (Lines{"3: x1 == 4", "3: (x0 * 2) == 8"}));  // the callback's result goes to code without IR
  EXPECT_EQ(writes(made, 2), Lines{"x0 * 2"});
}

TEST(Execute, SignalHandlersInterrupt) {
  Script script(R"(
@s = global i32 0
@r = global i32 0
define void @handler(i32 %number) {
  store i32 %number, ptr @r
  ret void
}
define void @f() {
  %v = load i32, ptr @s
  %c = icmp eq i32 %v, 4
  br i1 %c, label %yes, label %no
yes:
  store i32 %v, ptr @r
  ret void
no:
  ret void
}
define void @g() {
  store i32 4, ptr @s
  %r = load i32, ptr @r
  ret void
}
)",
                {{"s", 0x1000}, {"r", 0x1010}, {"handler", 0x400000}}, 3);
  script.enter(1, "g").write(1, 0x1000, 4, 4);
  script.enter(2, "f").enter(2, "handler").word(2, 10).write(2, 0x1010, 4, 10);  // in front of the load
  script.read(2, 0x1000, 4, 4).enter(2, "handler").word(2, 12).write(2, 0x1010, 4, 12).branch(2, 0);
  script.write(2, 0x1010, 4, 4).read(1, 0x1010, 4, 4);
  const SymbolicProgram made = script.execute();
  check_recorded(made, script.view());
  EXPECT_EQ(made.threads[2].why_ended, "");
  EXPECT_EQ(conditions(made, 2), Lines{"4: x1 == 4"});
  EXPECT_EQ(writes(made, 2), Lines{"x1"});
}

TEST(Execute, CompareExchangeAndSwitch) {
  Script script(R"(
@s = global i32 0
define void @g() {
  store i32 4, ptr @s
  ret void
}
define void @f() {
  %r = cmpxchg ptr @s, i32 4, i32 6 seq_cst seq_cst
  %old = extractvalue { i32, i1 } %r, 0
  %q = cmpxchg ptr @s, i32 9, i32 10 seq_cst seq_cst
  %add = atomicrmw add ptr @s, i32 5 seq_cst
  switch i32 %add, label %none [ i32 6, label %six
                                 i32 7, label %six
                                 i32 8, label %eight ]
six:
  store i32 %old, ptr @s
  ret void
eight:
  store i32 88, ptr @s
  ret void
none:
  ret void
}
)",
                {{"s", 0x1000}}, 3);
  script.enter(1, "g").write(1, 0x1000, 4, 4);
  script.enter(2, "f")
      .read(2, 0x1000, 4, 4, Op::kAtomicRmw)
      .read(2, 0x1000, 4, 6, Op::kAtomicLoad)
      .read(2, 0x1000, 4, 6, Op::kAtomicRmw);
  script.branch(2, 1).write(2, 0x1000, 4, 4);
  const SymbolicProgram made = script.execute();
  check_recorded(made, script.view());
  EXPECT_EQ(made.threads[2].why_ended, "");
  EXPECT_EQ(conditions(made, 2), (Lines{"1: x0 == 4", "2: ~(x1 == 9)", "4: (x2 == 6) | (x2 == 7)"}));
  EXPECT_EQ(writes(made, 2), (Lines{"6", "x2 + 5", "x0"}));
  ASSERT_EQ(made.threads[2].detours.size(), 1u);  // `none` does nothing
  EXPECT_EQ(made.expressions.to_string(made.threads[2].detours[0].taken), "x2 == 8");
  EXPECT_EQ(made.expressions.to_string(made.threads[2].detours[0].steps.at(0).written), "88");
}

TEST(Execute, RecordsThatDoNotFitEndTheThread) {
  const auto after = [](auto&& more) {
    Script script(kFigure1, {{"x", 0x1000}, {"y", 0x1010}}, 3);
    script.enter(1, "t1").write(1, 0x1010, 4, 3);
    more(script.enter(2, "t2"));
    return script.execute().threads[2];
  };
  const SymbolicThread other_address =
      after([](Script& s) { s.read(2, 0x1010, 4, 5).branch(2, 0).read(2, 0x2000, 4, 1); });
  EXPECT_EQ(other_address.end, 2u);
  EXPECT_NE(other_address.why_ended, "");
  EXPECT_NE(after([](Script& s) { s.read(2, 0x1010, 4, 5).branch(2, 1); }).why_ended, "");
  EXPECT_NE(after([](Script& s) { s.read(2, 0x1010, 4, 5).branch(2, 7); }).why_ended, "");
  EXPECT_NE(after([](Script& s) { s.branch(2, 0); }).why_ended, "");
  EXPECT_NE(after([](Script& s) { s.read(2, 0x1010, 4, 5).returns(2, 1, 5, 0); }).why_ended, "");
  EXPECT_EQ(after([](Script& s) { s.read(2, 0x1010, 4, 5); }).why_ended, "");  // cut off
  EXPECT_EQ(after([](Script&) {}).why_ended, "");
}

TEST(Execute, RandomRecordsNeverCrash) {
  std::uint64_t state = 12345;
  const auto below = [&](std::uint64_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % n;
  };
  for (int round = 0; round < 2000; ++round) {
    Script script(kFigure1, {{"x", 0x1000}, {"y", 0x1010}}, 2);
    for (int i = 0; i < 12; ++i) {
      switch (below(7)) {
        case 0: script.enter(1, below(2) == 0 ? "t1" : "t2"); break;
        case 1: script.branch(1, below(3)); break;
        case 2:
          script.returns(1, static_cast<std::uint32_t>(below(3)), static_cast<std::uint32_t>(below(8)), below(4));
          break;
        case 3: script.landed(1, static_cast<std::uint32_t>(below(3)), static_cast<std::uint32_t>(below(8))); break;
        case 4: script.word(1, below(5)); break;
        case 5: script.read(static_cast<std::uint32_t>(below(2)), 0x1000 + 16 * below(2), 4, below(8)); break;
        default: script.write(static_cast<std::uint32_t>(below(2)), 0x1000 + 16 * below(2), 4, below(8)); break;
      }
    }
    check_recorded(script.execute(), script.view());
  }
}

}  // namespace
}  // namespace sooth
