// The judge on the figures of the RECIPE paper and on witnesses that are wrong in one way each.
#include "recipe/judge/check.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "recipe/judge/mini_program.h"
#include "recipe/judge/recorded_run.h"

namespace sooth {
namespace {

using mini::branch;
using mini::compute;
using mini::load;
using mini::load_at;
using mini::lock;
using mini::print;
using mini::store;
using mini::store_register;
using mini::unlock;

DeepProgram parse(const DeepModuleText& module) {
  Result<DeepProgram> program = DeepProgram::parse(std::span(&module, 1));
  if (!program.ok()) {
    ADD_FAILURE() << program.status().message() << "\n" << module.text;
    std::abort();
  }
  return std::move(*program);
}

// Runs threads one after the other, in this order.
std::function<std::size_t(std::size_t)> first_come() {
  return [](std::size_t) { return std::size_t{0}; };
}
std::function<std::size_t(std::size_t)> last_come() {
  return [](std::size_t count) { return count - 1; };
}

struct Case {
  explicit Case(mini::Program source, const std::function<std::size_t(std::size_t)>& schedule = first_come())
      : program(std::move(source)), code(parse(program.finish())), recording(mini::record(program, schedule)) {}

  // "" when it is accepted; mini::refute must agree.
  std::string verdict(const ValueWitness& witness) const {
    const Status status = check_value_witness(code, recording.view(), recording.trace.deep, witness);
    const std::optional<std::string> wrong = mini::refute(program, recording, witness);
    EXPECT_EQ(status.ok(), !wrong) << status.message() << " / " << wrong.value_or("right");
    return status.message();
  }

  mini::Program program;
  DeepProgram code;
  mini::Recording recording;
};

ValueWitness witness_of(std::vector<std::uint64_t> order, std::uint64_t first, std::uint64_t second, const Case& c) {
  ValueWitness witness;
  for (const std::uint64_t id : order) {
    witness.order.push_back(EventId{id});
  }
  const auto next = [&](std::uint64_t id) {
    NextAccess access;
    access.thread = c.recording.trace.events[id].thread;
    access.event = EventId{id};
    return access;
  };
  witness.next[0] = next(first);
  witness.next[1] = next(second);
  return witness;
}

NextAccess beside(std::uint32_t thread, std::uint32_t instruction, Op op, std::uint32_t variable, std::uint64_t after) {
  NextAccess access;
  access.thread = ThreadId{thread};
  access.unexecuted =
      DetourEvent{ThreadId{thread}, {0, thread, instruction}, op, mini::address_of(variable), 8, after, {}};
  return access;
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

constexpr std::uint32_t kX = 0;
constexpr std::uint32_t kY = 1;

// Events: 0 writes y, 1 writes x, 2 writes y, 3 reads y, 4 reads x.
mini::Program figure1() {
  return {{0, 0},
          0,
          {{store(kY, 3), store(kX, 1), store(kY, 5)},
           {load(0, kY), branch(0, 2, {load(1, kX), print(1)}, {load(2, kX), print(2)})}}};
}

TEST(Figure1, AcceptsTheRaceThatNeedsAnotherValue) {
  const Case c(figure1());
  ValueWitness witness = witness_of({0, 3}, 1, 4, c);
  EXPECT_EQ(c.verdict(witness), "");
  witness.reads.push_back({EventId{3}, 3});
  EXPECT_EQ(c.verdict(witness), "");
  witness.reads[0].value = 5;
  EXPECT_EQ(c.verdict(witness), "event 3 (T1 reads 0x1010) reads 3, not 5");
}

TEST(Figure1, AcceptsTheRaceOnTheBranchThatWasNotTaken) {
  const Case c(figure1());
  const std::uint32_t line7 = c.program.threads[1][1].otherwise[0].instruction;
  ValueWitness witness = witness_of({3, 0}, 1, 1, c);
  witness.next[1] = beside(1, line7, Op::kRead, kX, 2);
  EXPECT_EQ(c.verdict(witness), "");
  witness.next[1].branch = InstructionRef{0, 1, c.program.threads[1][1].instruction};
  EXPECT_EQ(c.verdict(witness), "");
  std::swap(witness.next[0], witness.next[1]);
  EXPECT_EQ(c.verdict(witness), "");
}

TEST(Figure1, RejectsABranchThatGoesTheOtherWay) {
  const Case c(figure1());
  // y is still 0, so line 5 is not reached.
  expect_contains(c.verdict(witness_of({3, 0}, 1, 4, c)), "goes another way than in the recorded run");
}

TEST(Figure1, RejectsADetourThatIsNotTaken) {
  const Case c(figure1());
  const std::uint32_t line7 = c.program.threads[1][1].otherwise[0].instruction;
  ValueWitness witness = witness_of({0, 3}, 1, 1, c);
  witness.next[1] = beside(1, line7, Op::kRead, kX, 2);
  EXPECT_EQ(c.verdict(witness), "T1 does not leave its recorded path: first comes event 4 (T1 reads 0x1000)");
}

TEST(Figure1, RejectsWhatADetourDoesNotDo) {
  const Case c(figure1());
  const std::uint32_t line7 = c.program.threads[1][1].otherwise[0].instruction;
  const ValueWitness good = [&] {
    ValueWitness witness = witness_of({3, 0}, 1, 1, c);
    witness.next[1] = beside(1, line7, Op::kRead, kX, 2);
    return witness;
  }();
  ValueWitness bad = good;
  bad.next[1].unexecuted->op = Op::kWrite;
  EXPECT_NE(c.verdict(bad), "");
  bad = good;
  bad.next[1].unexecuted->object += 16;
  EXPECT_NE(c.verdict(bad), "");
  bad = good;
  bad.next[1].unexecuted->size = 4;
  EXPECT_NE(c.verdict(bad), "");
  bad = good;
  bad.next[1].unexecuted->at.instruction = 3;
  EXPECT_NE(c.verdict(bad), "");
  bad = good;
  bad.next[1].branch = InstructionRef{0, 1, 0};
  expect_contains(check_value_witness(c.code, c.recording.view(), c.recording.trace.deep, bad).message(),
                  "is behind another branch than the witness says");
}

TEST(Figure1, RejectsEventsOutOfOrder) {
  const Case c(figure1());
  EXPECT_EQ(c.verdict(witness_of({3, 4}, 1, 1, c)), "event 1 (T0 writes 0x1000) comes next twice");
  EXPECT_EQ(c.verdict(witness_of({3}, 1, 4, c)),
            "event 1 (T0 writes 0x1000) cannot come next: event 0 (T0 writes 0x1010) comes before it in its thread");
  EXPECT_EQ(c.verdict(witness_of({2, 0, 3}, 1, 4, c)),
            "event 2 (T0 writes 0x1010) stands before event 0 (T0 writes 0x1010), which comes before it in its thread");
  EXPECT_EQ(c.verdict(witness_of({0, 0, 3}, 1, 4, c)), "event 0 (T0 writes 0x1010) stands twice in the order");
  EXPECT_EQ(c.verdict(witness_of({0, 77, 3}, 1, 4, c)), "event 77 is not in the trace, which has 5 events");
  EXPECT_EQ(c.verdict(witness_of({0, 1, 3}, 2, 4, c)),
            "event 2 (T0 writes 0x1010) and event 4 (T1 reads 0x1000) do not conflict: no byte of the same generation "
            "belongs to both");
}

// Figure 4: what the read of y gives is the address of the next access.
TEST(Figure4, RejectsAnotherBasePointer) {
  const auto o1 = static_cast<std::int64_t>(mini::address_of(1));
  const auto o2 = static_cast<std::int64_t>(mini::address_of(2));
  // Events: 0 and 1 write y, 2 writes o2.f, 3 reads y, 4 reads o2.f.
  const Case c({{0, 7, 7}, 0, {{store(0, o1), store(0, o2), store(2, 5)}, {load(0, 0), load_at(1, 0), print(1)}}});
  EXPECT_EQ(c.verdict(witness_of({0, 1, 3}, 2, 4, c)), "");
  EXPECT_EQ(c.verdict(witness_of({0, 3, 1}, 2, 4, c)),
            "event 4 (T1 reads 0x1020) cannot happen: the code at t1 accesses 0x1010 now, not 0x1020");
}

TEST(Judge, ComputesOnWithOtherValues) {
  // T1 writes z = 3 * y + 1, T2 reads it and branches. Events: 0 writes y, 1 reads y, 2 writes z, 3 reads z, 4 and 5
  // access x.
  const Case c({{0, 1, 0},
                0,
                {{store(kY, 2)},
                 {load(0, kY), compute(1, 0, '*', 3), compute(2, 1, '+', 1), store_register(2, 2)},
                 {load(0, 2), branch(0, 3, {store(kX, 1)}, {})},
                 {store(kX, 2)}}});
  // With y == 1 still, z is 4 and the branch is taken as recorded.
  ValueWitness witness = witness_of({1, 2, 3}, 4, 5, c);
  witness.reads = {{EventId{1}, 1}, {EventId{3}, 4}};
  EXPECT_EQ(c.verdict(witness), "");
  // Before z is written it is 0.
  expect_contains(c.verdict(witness_of({3}, 4, 5, c)), "goes another way");
}

TEST(Judge, RejectsOtherArgumentsOfCallsThatAreNotExecuted) {
  // Events: 0 writes y, 1 reads y, 2 and 3 write x.
  const Case c({{0, 0}, 0, {{store(kY, 1)}, {load(0, kY), print(0), store(kX, 1)}, {store(kX, 2)}}});
  EXPECT_EQ(c.verdict(witness_of({0, 1}, 2, 3, c)), "");
  EXPECT_EQ(
      c.verdict(witness_of({1}, 2, 3, c)),
      "event 2 (T1 writes 0x1000) cannot happen: the call of print at t1 has other arguments than in the recorded run");
}

// T1 keeps what it has read of y in memory of its own, and lets code that is not recorded look at it.
struct LookCase {
  explicit LookCase(const std::string& name)
      : program(parse({"@x = global i32 0\n@y = global i32 0\n@own = global i32 0\ndeclare i32 @" + name +
                           "(ptr)\n"
                           "define void @t0() {\n  store i32 5, ptr @y\n  store i32 1, ptr @x\n  ret void\n}\n"
                           "define void @t1() {\n  %y = load i32, ptr @y\n  store i32 %y, ptr @own\n"
                           "  %r = call i32 @" +
                           name + "(ptr @own)\n  store i32 2, ptr @x\n  ret void\n}\n",
                       {{"x", 0x1000}, {"y", 0x1010}, {"own", 0x1020}}})) {
    const auto access = [](std::uint32_t thread, Op op, std::uint64_t object) {
      return Event{.object = object, .thread = ThreadId{thread}, .size = 4, .op = op};
    };
    events = {access(0, Op::kWrite, 0x1010), access(1, Op::kRead, 0x1010), access(1, Op::kWrite, 0x1020),
              access(0, Op::kWrite, 0x1000), access(1, Op::kWrite, 0x1000)};
    values = {{5, 0, 4}, {5, 0, 4}, {5, 0, 4}, {1, 0, 4}, {2, 0, 4}};
    records = {{EventId{0}, ThreadId{0}, DeepKind::kEnter, 0, 0, 0, 0},
               {EventId{1}, ThreadId{1}, DeepKind::kEnter, 0, 1, 0, 0},
               {EventId{3}, ThreadId{1}, DeepKind::kReturn, 0, 1, 2, 1}};
  }

  std::string verdict(std::vector<EventId> order) const {
    ValueWitness witness;
    witness.order = std::move(order);
    witness.next[0] = {ThreadId{0}, EventId{3}, {}, {}};
    witness.next[1] = {ThreadId{1}, EventId{4}, {}, {}};
    return check_value_witness(program, {events, values, {}, nullptr, {}, records}, records, witness).message();
  }

  DeepProgram program;
  std::vector<Event> events;
  std::vector<Value> values;
  std::vector<DeepRecord> records;
};

TEST(Judge, ShowsCodeThatIsNotRecordedNothingElse) {
  const LookCase looks("is_odd");
  EXPECT_EQ(looks.verdict({EventId{0}, EventId{1}, EventId{2}}), "");
  EXPECT_EQ(
      looks.verdict({EventId{1}, EventId{2}, EventId{0}}),
      "event 4 (T1 writes 0x1000) cannot happen: the call of is_odd at t1 may see 0x1020, where something else is "
      "than in the recorded run");
  const LookCase does_not("pthread_mutex_trylock");
  EXPECT_EQ(does_not.verdict({EventId{1}, EventId{2}, EventId{0}}), "");
}

TEST(Judge, KeepsLocks) {
  // Events of T0: 0 acquires, 1 writes x, 2 releases; of T1: 3 acquires, 4 writes x, 5 releases, 6 writes x.
  const Case c({{0}, 1, {{lock(0), store(kX, 1), unlock(0)}, {lock(0), store(kX, 2), unlock(0), store(kX, 3)}}});
  EXPECT_EQ(c.verdict(witness_of({0, 3}, 1, 4, c)), "event 3 (T1 acquires 0x8000) comes while T0 holds the lock");
  EXPECT_EQ(c.verdict(witness_of({3, 4, 5, 0}, 1, 6, c)), "");
  EXPECT_EQ(c.verdict(witness_of({3, 4, 0}, 1, 5, c)), "event 0 (T0 acquires 0x8000) comes while T1 holds the lock");
  EXPECT_EQ(c.verdict(witness_of({0}, 1, 4, c)),
            "event 4 (T1 writes 0x1000) cannot come next: event 3 (T1 acquires 0x8000) comes before it in its thread");
}

// A critical section on a branch that was not taken. Events: 0 writes y, 1 reads y, 2 acquires, 3 writes x, 4 releases.
mini::Program locked_branch() {
  return {{0, 0},
          1,
          {{store(kY, 5)},
           {load(0, kY), branch(0, 2, {}, {store(2, 1), lock(0), store(kX, 1), unlock(0), store(kX, 2)})},
           {lock(0), store(kX, 3), unlock(0)}}};
}

TEST(Judge, KeepsLocksBesideTheRecordedPath) {
  mini::Program source = locked_branch();
  source.initial.push_back(0);
  const Case c(source);
  const std::vector<mini::Statement>& other = c.program.threads[1][1].otherwise;
  ValueWitness witness = witness_of({1, 2}, 3, 3, c);
  witness.next[1] = beside(1, other[4].instruction, Op::kWrite, kX, 2);
  const auto lock_step = [&](std::uint32_t statement, Op op, std::uint64_t after) {
    return DetourEvent{ThreadId{1}, {0, 1, other[statement].instruction}, op, mini::address_of_lock(0), 0, after, {}};
  };
  // Not beside a section that is open.
  witness.detour = {lock_step(1, Op::kAcquire, 2), lock_step(3, Op::kRelease, 2)};
  expect_contains(c.verdict(witness), "comes while T2 holds the lock");
  // In front of it, all is well; the steps on private memory need not be named.
  witness.detour = {lock_step(1, Op::kAcquire, 1), lock_step(3, Op::kRelease, 1)};
  EXPECT_EQ(c.verdict(witness), "");
  // Locks must be named.
  witness.detour.clear();
  expect_contains(c.verdict(witness), "which the witness does not name");
  // A section of its own that is still open.
  witness.detour = {lock_step(1, Op::kAcquire, 1)};
  witness.next[1] = beside(1, other[2].instruction, Op::kWrite, kX, 2);
  EXPECT_EQ(c.verdict(witness), "event 2 (T2 acquires 0x8000) comes while T1 holds the lock");
}

TEST(Judge, DependsOnNothingThatIsNotKnown) {
  // The file of the program does not say what is in @y at first, and nobody has read it then.
  const DeepModuleText module{
      "@x = global i32 0\n@y = external global i32\n"
      "define void @t0() {\n  store i32 5, ptr @y\n  store i32 1, ptr @x\n  ret void\n}\n"
      "define void @t1() {\n  %y = load i32, ptr @y\n  %c = icmp sgt i32 %y, 2\n"
      "  br i1 %c, label %a, label %b\na:\n  store i32 2, ptr @x\n  ret void\nb:\n  ret void\n}\n",
      {{"x", 0x1000}, {"y", 0x1010}}};
  const DeepProgram program = parse(module);
  const auto access = [](std::uint32_t thread, Op op, std::uint64_t object) {
    return Event{.object = object, .thread = ThreadId{thread}, .size = 4, .op = op};
  };
  const std::vector<Event> events = {access(0, Op::kWrite, 0x1010), access(0, Op::kWrite, 0x1000),
                                     access(1, Op::kRead, 0x1010), access(1, Op::kWrite, 0x1000)};
  const std::vector<Value> values = {{5, 0, 4}, {1, 0, 4}, {5, 0, 4}, {2, 0, 4}};
  const std::vector<DeepRecord> records = {{EventId{0}, ThreadId{0}, DeepKind::kEnter, 0, 0, 0, 0},
                                           {EventId{2}, ThreadId{1}, DeepKind::kEnter, 0, 1, 0, 0},
                                           {EventId{3}, ThreadId{1}, DeepKind::kBranch, 0, 0, 0, 0}};
  const TraceView view{events, values, {}, nullptr, {}, records};
  ValueWitness witness;
  witness.order = {EventId{0}, EventId{2}};
  witness.next[0] = {ThreadId{0}, EventId{1}, {}, {}};
  witness.next[1] = {ThreadId{1}, EventId{3}, {}, {}};
  EXPECT_EQ(check_value_witness(program, view, records, witness).message(), "");
  witness.order = {EventId{2}, EventId{0}};
  expect_contains(check_value_witness(program, view, records, witness).message(),
                  "depends on something that is not known");
}

TEST(Judge, EntersFunctionsBesideTheRecordedPath) {
  // T1 calls @set, which never ran: it has a local variable, and writes x if that is 3.
  const DeepProgram program =
      parse({"@x = global i32 0\n@y = global i32 0\n"
             "define void @t0() {\n  store i32 5, ptr @y\n  store i32 1, ptr @x\n  ret void\n}\n"
             "define void @t1() {\n  %y = load i32, ptr @y\n  %c = icmp sgt i32 %y, 2\n"
             "  br i1 %c, label %a, label %b\na:\n  ret void\nb:\n  call void @set(i32 3)\n  ret void\n}\n"
             "define internal void @set(i32 %value) {\n  %own = alloca i32\n  store i32 %value, ptr %own\n"
             "  %again = load i32, ptr %own\n  %d = icmp eq i32 %again, 3\n  br i1 %d, label %e, label %f\n"
             "e:\n  store i32 %again, ptr @x\n  ret void\nf:\n  ret void\n}\n",
             {{"x", 0x1000}, {"y", 0x1010}}});
  const std::vector<Event> events = {{.object = 0x1010, .thread = ThreadId{0}, .size = 4, .op = Op::kWrite},
                                     {.object = 0x1000, .thread = ThreadId{0}, .size = 4, .op = Op::kWrite},
                                     {.object = 0x1010, .thread = ThreadId{1}, .size = 4, .op = Op::kRead}};
  const std::vector<Value> values = {{5, 0, 4}, {1, 0, 4}, {5, 0, 4}};
  const std::vector<DeepRecord> records = {{EventId{0}, ThreadId{0}, DeepKind::kEnter, 0, 0, 0, 0},
                                           {EventId{2}, ThreadId{1}, DeepKind::kEnter, 0, 1, 0, 0},
                                           {EventId{3}, ThreadId{1}, DeepKind::kBranch, 0, 0, 0, 0}};
  ValueWitness witness;
  witness.order = {EventId{2}, EventId{0}};
  witness.next[0] = {ThreadId{0}, EventId{1}, {}, {}};
  witness.next[1] = {ThreadId{1}, {}, DetourEvent{ThreadId{1}, {0, 2, 5}, Op::kWrite, 0x1000, 4, 2, {}}, {}};
  const TraceView view{events, values, {}, nullptr, {}, records};
  EXPECT_EQ(check_value_witness(program, view, records, witness).message(), "");
  witness.order = {EventId{0}, EventId{2}};
  expect_contains(check_value_witness(program, view, records, witness).message(), "does not leave its recorded path");
}

TEST(Judge, HoldsCodeThatIsNotDeepToItsRecord) {
  // T1 has no records: it must read what it read.
  Case c(figure1());
  std::erase_if(c.recording.trace.deep, [](const DeepRecord& r) { return r.thread == ThreadId{1}; });
  const auto verdict = [&](std::vector<std::uint64_t> order, std::uint64_t a, std::uint64_t b) {
    return check_value_witness(c.code, c.recording.view(), c.recording.trace.deep,
                               witness_of(std::move(order), a, b, c))
        .message();
  };
  EXPECT_EQ(
      verdict({0, 3}, 1, 4),
      "event 3 (T1 reads 0x1010) cannot happen: its code is not executed, so it must read what it read, and it sees "
      "the write of event 0");
  EXPECT_EQ(verdict({0, 1, 2, 3}, 1, 4),
            "event 1 (T0 writes 0x1000) stands in the order, though it is what comes next");
}

TEST(Judge, FollowsCodeOnlyAsFarAsItExplainsTheEvents) {
  // The trace says that T1 wrote something else than its code does: the rest is taken as recorded.
  Case c(
      {{0, 0, 0}, 0, {{store(kY, 3), store(kX, 1), store(kY, 5)}, {load(0, kY), store_register(2, 0), store(kX, 2)}}},
      first_come());
  EXPECT_EQ(c.verdict(witness_of({0, 3, 4}, 1, 5, c)), "");
  c.recording.trace.values[4].low = 6;
  const std::string message =
      check_value_witness(c.code, c.recording.view(), c.recording.trace.deep, witness_of({0, 3, 4}, 1, 5, c)).message();
  EXPECT_EQ(
      message,
      "event 4 (T1 writes 0x1020) cannot happen: the code of its thread cannot be executed so far (the code writes "
      "another value at t1), and it has read something else before");
}

TEST(Judge, LetsUnseenWritesKeepTheirPlace) {
  // Event 3 found 9 in y, which nobody wrote: code that is not recorded did, behind the write of event 2.
  Case c(figure1());
  c.recording.trace.values[3].low = 9;
  const auto verdict = [&](std::vector<std::uint64_t> order) {
    return check_value_witness(c.code, c.recording.view(), c.recording.trace.deep,
                               witness_of(std::move(order), 1, 4, c))
        .message();
  };
  expect_contains(verdict({0, 3}), "depends on something that is not known");
}

TEST(Judge, RefusesThreadsThatDoNotExist) {
  const Case c(figure1());
  ValueWitness witness = witness_of({3, 0}, 1, 1, c);
  witness.next[1] = beside(77, 3, Op::kRead, kX, 2);
  EXPECT_FALSE(check_value_witness(c.code, c.recording.view(), c.recording.trace.deep, witness).ok());
  witness = witness_of({0, 3}, 1, 4, c);
  witness.next[1].thread = ThreadId{0};
  EXPECT_FALSE(check_value_witness(c.code, c.recording.view(), c.recording.trace.deep, witness).ok());
}

TEST(Judge, TellsHowFarCodeExplainsEvents) {
  const Case c(figure1(), last_come());
  const Result<ValueJudge> judge = ValueJudge::make(c.code, c.recording.view());
  ASSERT_TRUE(judge.ok());
  for (std::uint32_t t = 0; t < 2; ++t) {
    EXPECT_EQ(judge->recorded_run().extent(t).events, c.recording.events[t].size());
    EXPECT_EQ(judge->recorded_run().extent(t).why, "");
  }
}

}  // namespace
}  // namespace sooth
