// The judge on threads that leave their recorded path by something else than a branch, and on what they do then.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "recipe/execute/script_testing.h"
#include "recipe/judge/check.h"
#include "recipe/witness/value_witness.h"

namespace sooth {
namespace {

// In a script of three threads these come first.
constexpr std::uint64_t kBegins = 4;

struct Step {
  std::uint32_t thread;
  std::uint32_t function, instruction;
  Op op;
  std::uint64_t object;
  std::uint64_t after;  // so many events
};

DetourEvent beside(const Step& step) {
  return {ThreadId{step.thread}, {0, step.function, step.instruction}, step.op, step.object, 4, step.after, {}};
}

NextAccess next(const Step& step) {
  NextAccess access;
  access.thread = ThreadId{step.thread};
  access.unexecuted = beside(step);
  return access;
}

NextAccess next(std::uint32_t thread, std::uint64_t event) {
  NextAccess access;
  access.thread = ThreadId{thread};
  access.event = EventId{event};
  return access;
}

ValueWitness witness_of(std::vector<std::uint64_t> behind_begins, NextAccess first, NextAccess second) {
  ValueWitness witness;
  for (std::uint64_t id = 0; id < kBegins; ++id) {
    witness.order.push_back(EventId{id});
  }
  for (const std::uint64_t id : behind_begins) {
    witness.order.push_back(EventId{id});
  }
  witness.next[0] = std::move(first);
  witness.next[1] = std::move(second);
  return witness;
}

std::string verdict(const Script& script, const ValueWitness& witness) {
  return check_value_witness(script.program(), script.view(), script.view().deep, witness).message();
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Leaving, AtCompareExchangesThatEndAnotherWay) {
  Script script(R"(
@owner = global i32 0
@badge = global i32 0
define void @work(i32 %who) {
  %x = cmpxchg ptr @owner, i32 0, i32 %who seq_cst seq_cst
  %won = extractvalue { i32, i1 } %x, 1
  br i1 %won, label %yes, label %no
yes:
  store i32 7, ptr @badge
  ret void
no:
  %b = load i32, ptr @badge
  ret void
}
)",
                {{"owner", 0x1000}, {"badge", 0x1010}}, 3);
  script.enter(1, "work").word(1, 1).event(1, Op::kAtomicRmw, 0x1000, 4, {0, 0, 4}).branch(1, 0);
  script.write(1, 0x1010, 4, 7);
  script.enter(2, "work").word(2, 2).read(2, 0x1000, 4, 1, Op::kAtomicLoad).branch(2, 1).read(2, 0x1010, 4, 7);
  // The second one wins, and the first one, which comes later, loses: both go another way.
  const Step wins{2, 0, 0, Op::kAtomicRmw, 0x1000, kBegins}, loses{1, 0, 0, Op::kAtomicLoad, 0x1000, kBegins};
  const Step writes{2, 0, 3, Op::kWrite, 0x1010, kBegins}, reads{1, 0, 5, Op::kRead, 0x1010, kBegins};
  ValueWitness witness = witness_of({}, next(reads), next(writes));
  witness.detour = {beside(wins), beside(loses)};
  EXPECT_EQ(verdict(script, witness), "");
  witness.detour[1].value = 2;  // what it reads
  EXPECT_EQ(verdict(script, witness), "");
  witness.detour[1].value = 0;
  expect_contains(verdict(script, witness), "reads 2, not 0");
  witness.detour[1].value.reset();
  std::swap(witness.detour[0], witness.detour[1]);  // who comes first does not lose
  EXPECT_NE(verdict(script, witness), "");
}

TEST(Leaving, AtAccessesElsewhere) {
  Script script(R"(
@slot = global i32 0
@table = global [4 x i32] zeroinitializer
define void @set() {
  store i32 2, ptr @slot
  store i32 3, ptr @slot
  %two = getelementptr i32, ptr @table, i64 2
  store i32 9, ptr %two
  ret void
}
define void @use() {
  %n = load i32, ptr @slot
  %wide = sext i32 %n to i64
  %place = getelementptr i32, ptr @table, i64 %wide
  store i32 1, ptr %place
  ret void
}
)",
                {{"slot", 0x1000}, {"table", 0x1040}}, 3);
  script.enter(1, "set").write(1, 0x1000, 4, 2).write(1, 0x1000, 4, 3).write(1, 0x1048, 4, 9);
  script.enter(2, "use").read(2, 0x1000, 4, 3).write(2, 0x104c, 4, 1);
  const Step write{2, 1, 3, Op::kWrite, 0x1048, kBegins + 3};
  EXPECT_EQ(verdict(script, witness_of({4, 7, 5}, next(1, 6), next(write))), "");
  // With 3 it is where it was.
  expect_contains(verdict(script, witness_of({4, 5, 7}, next(1, 6), next(write))), "does not leave its recorded path");
}

TEST(Leaving, AtCallsOfOtherFunctions) {
  Script script(R"(
@action = global ptr null
@count = global i32 0
define void @nothing() {
  ret void
}
define void @add() {
  store i32 1, ptr @count
  ret void
}
define void @set() {
  store ptr @nothing, ptr @action
  %c = load i32, ptr @count
  ret void
}
define void @act() {
  %f = load ptr, ptr @action
  call void %f()
  ret void
}
)",
                {{"action", 0x1000}, {"count", 0x1010}, {"nothing", 0x400100}, {"add", 0x400200}}, 3);
  script.write(0, 0x1000, 8, 0x400200);
  script.enter(1, "set").write(1, 0x1000, 8, 0x400100).read(1, 0x1010, 4, 0);
  script.enter(2, "act").read(2, 0x1000, 8, 0x400100).enter(2, "nothing").returns(2, 3, 1, 0);
  const Step write{2, 1, 0, Op::kWrite, 0x1010, kBegins + 3};
  EXPECT_EQ(verdict(script, witness_of({4, 7, 5}, next(1, 6), next(write))), "");
  EXPECT_NE(verdict(script, witness_of({4, 5, 7}, next(1, 6), next(write))), "");
}

// What is thrown, the handler, and what the constant of its type is.
std::string throwing(const std::string& thrown, const std::string& handler) {
  return R"(
@_ZTIi = external constant ptr
@_ZTISt9exception = external constant ptr
@_ZTISt12out_of_range = external constant ptr
@flag = global i32 0
@count = global i32 0
@cleaned = global i32 0
declare ptr @__cxa_allocate_exception(i64)
declare void @__cxa_throw(ptr, ptr, ptr)
declare ptr @__cxa_begin_catch(ptr)
declare void @__cxa_end_catch()
declare i32 @__gxx_personality_v0(...)
declare i32 @llvm.eh.typeid.for.p0(ptr)
define internal void @check() {
  %f = load i32, ptr @flag
  %c = icmp eq i32 %f, 0
  br i1 %c, label %bad, label %good
bad:
  %e = call ptr @__cxa_allocate_exception(i64 4)
  store i32 5, ptr %e
  call void @__cxa_throw(ptr %e, ptr @)" +
         thrown + R"(, ptr null)
  unreachable
good:
  ret void
}
define internal void @between() personality ptr @__gxx_personality_v0 {
  invoke void @check() to label %fine unwind label %pad
fine:
  ret void
pad:
  %l = landingpad { ptr, i32 } cleanup
  store i32 1, ptr @cleaned
  resume { ptr, i32 } %l
}
define void @work() personality ptr @__gxx_personality_v0 {
  invoke void @between() to label %fine unwind label %pad
fine:
  ret void
pad:
  %l = landingpad { ptr, i32 } catch ptr @)" +
         handler + R"(
  %object = extractvalue { ptr, i32 } %l, 0
  %selector = extractvalue { ptr, i32 } %l, 1
  %wanted = call i32 @llvm.eh.typeid.for.p0(ptr @)" +
         handler + R"()
  %is = icmp eq i32 %selector, %wanted
  br i1 %is, label %handler, label %on
handler:
  %x = call ptr @__cxa_begin_catch(ptr %object)
  %v = load i32, ptr %x
  store i32 %v, ptr @count
  call void @__cxa_end_catch()
  ret void
on:
  resume { ptr, i32 } %l
}
define void @set() {
  store i32 1, ptr @flag
  %c = load i32, ptr @count
  ret void
}
)";
}

std::string judged(const std::string& thrown, const std::string& handler) {
  Script script(throwing(thrown, handler), {{"flag", 0x1000}, {"count", 0x1010}, {"cleaned", 0x1020}}, 3);
  script.enter(1, "set").write(1, 0x1000, 4, 1).read(1, 0x1010, 4, 0);
  script.enter(2, "work").enter(2, "between").enter(2, "check").read(2, 0x1000, 4, 1).branch(2, 1);
  const Step write{2, 2, 10, Op::kWrite, 0x1010, kBegins + 2};
  return verdict(script, witness_of({6, 4}, next(1, 5), next(write)));
}

TEST(Leaving, ExceptionsGoToTheirHandlers) {
  EXPECT_EQ(judged("_ZTIi", "_ZTIi"), "");
  EXPECT_EQ(judged("_ZTISt12out_of_range", "_ZTISt9exception"), "");
  expect_contains(judged("_ZTIi", "_ZTISt9exception"), "who catches the exception");
  expect_contains(judged("_ZTISt9exception", "_ZTISt12out_of_range"), "who catches the exception");
}

}  // namespace
}  // namespace sooth
