#include "trace/check/validator.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "trace/memory_trace.h"
#include "trace/text/std_syntax.h"

namespace sooth {
namespace {

// Thread numbers, so that cases read like traces. T3 exists in the tables.
enum : std::uint32_t { T0, T1, T2, T3 };
constexpr std::uint64_t kM = 0x100;   // the lock named m
constexpr std::uint64_t kX = 0x2000;  // the variable named x
constexpr std::uint64_t kTop = std::numeric_limits<std::uint64_t>::max();

struct Step : Event {
  Step(std::uint32_t t, Op what, std::uint64_t on = 0) {
    thread = ThreadId{t};
    op = what;
    object = on;
    const bool bytes = is_access(what) || what == Op::kAlloc || what == Op::kFree;
    size = bytes ? 8 : 0;
    order = is_atomic(what) || what == Op::kFence ? MemoryOrder::kSeqCst : MemoryOrder::kNotAtomic;
  }
  Step with_size(std::uint32_t bytes) const {
    Step s = *this;
    s.size = bytes;
    return s;
  }
  Step with_order(MemoryOrder o) const {
    Step s = *this;
    s.order = o;
    return s;
  }
  Step with_flags(int f) const {
    Step s = *this;
    s.flags = static_cast<std::uint8_t>(f);
    return s;
  }
  Step with_reserved(int r) const {
    Step s = *this;
    s.reserved = static_cast<std::uint8_t>(r);
    return s;
  }
  Step at(std::uint32_t s) const {
    Step copy = *this;
    copy.site = SiteId{s};
    return copy;
  }
};

Step rd(std::uint32_t t, std::uint64_t a = kX) { return {t, Op::kRead, a}; }
Step wr(std::uint32_t t, std::uint64_t a = kX) { return {t, Op::kWrite, a}; }
Step acq(std::uint32_t t, std::uint64_t l = kM) { return {t, Op::kAcquire, l}; }
Step rel(std::uint32_t t, std::uint64_t l = kM) { return {t, Op::kRelease, l}; }
Step failed(std::uint32_t t, int flags) { return Step(t, Op::kAcquireFailed, kM).with_flags(flags); }
Step acq_shared(std::uint32_t t) { return acq(t).with_flags(kShared); }
Step rel_shared(std::uint32_t t) { return rel(t).with_flags(kShared); }
Step fork(std::uint32_t t, std::uint64_t c) { return {t, Op::kFork, c}; }
Step misuse(std::uint32_t t, MisuseKind kind, std::uint64_t of) {
  return Step(t, Op::kMisuse, of).with_size(raw(kind));
}
Step join(std::uint32_t t, std::uint64_t c) { return {t, Op::kJoin, c}; }

Site site(const char* label) {
  Site s;
  s.label = label;
  return s;
}

MemoryTrace trace_of(const std::vector<Step>& steps) {
  MemoryTrace trace;
  for (const char* name : {"T0", "T1", "T2", "T3"}) {
    trace.tables.add_thread(name);
  }
  trace.tables.add_site(site("a.c:1"));
  trace.tables.add_site(site("a.c:2"));
  trace.tables.name_object(ObjectKind::kLock, kM, "m");
  trace.tables.name_object(ObjectKind::kMemory, kX, "x");
  trace.events.assign(steps.begin(), steps.end());
  return trace;
}

// "" when well-formed. The size of batches must not matter.
std::string verdict(const MemoryTrace& trace, std::size_t batch_events = 1, bool values_explained = false) {
  TraceValidator validator;
  MemoryTraceReader reader(trace, batch_events);
  for (;;) {
    const Result<Batch> batch = reader.next();
    if (const Status status = validator.consume(*batch, reader.tables(), values_explained); !status.ok()) {
      EXPECT_EQ(status.code(), ExitCode::kBadInput);
      return status.message();
    }
    if (batch->empty()) {
      return "";
    }
  }
}

struct Case {
  const char* name;
  std::vector<Step> steps;
  std::string sentence;  // "" is well-formed
};

class ValidatorTest : public ::testing::TestWithParam<Case> {};

TEST_P(ValidatorTest, SaysWhatIsWrong) {
  const MemoryTrace trace = trace_of(GetParam().steps);
  EXPECT_EQ(verdict(trace), GetParam().sentence);
  EXPECT_EQ(verdict(trace, 1000), GetParam().sentence);
}

const std::vector<Case> kLockCases = {
    {"exclusive_section", {acq(T0), wr(T0), rel(T0), acq(T1), rel(T1)}, ""},
    {"held_at_the_end", {acq(T0), wr(T0)}, ""},
    {"held_by_another",
     {wr(T0), acq(T0), acq(T1)},
     "event 2 (T1): acquires lock m, held exclusively by T0 since event 1"},
    {"shared_while_exclusive",
     {acq(T0), acq_shared(T1)},
     "event 1 (T1): acquires lock m in shared mode, held exclusively by T0 since event 0"},
    {"exclusive_while_shared",
     {acq_shared(T2), acq_shared(T0), rel_shared(T2), acq_shared(T2), acq(T1)},
     "event 4 (T1): acquires lock m, held in shared mode by T0 since event 1"},
    {"shared_sections_overlap", {acq_shared(T0), acq_shared(T1), rel_shared(T0), rel_shared(T1), acq(T2)}, ""},
    {"not_held", {rel(T1, 0x77)}, "event 0 (T1): releases lock 0x77 which it does not hold"},
    {"held_by_the_other", {acq(T0), rel(T1)}, "event 1 (T1): releases lock m which it does not hold"},
    {"released_twice", {acq(T0), rel(T0), rel(T0)}, "event 2 (T0): releases lock m which it does not hold"},
    {"reentrant", {acq(T0), acq(T0), rel(T0), rel(T0), acq(T1)}, ""},
    {"reentrant_still_held",
     {acq(T0), acq(T0), rel(T0), acq(T1)},
     "event 3 (T1): acquires lock m, held exclusively by T0 since event 0"},
    {"reentrant_shared", {acq_shared(T0), acq_shared(T0), rel_shared(T0), rel_shared(T0), acq(T1)}, ""},
    {"reentrant_shared_still_held",
     {acq_shared(T0), acq_shared(T0), rel_shared(T0), acq(T1)},
     "event 3 (T1): acquires lock m, held in shared mode by T0 since event 0"},
    {"upgrade",
     {acq_shared(T0), acq(T0)},
     "event 1 (T0): acquires lock m exclusively while it holds it in shared mode (since event 0)"},
    {"shared_inside_exclusive", {acq(T0), acq_shared(T0), rel_shared(T0), rel(T0), acq(T1)}, ""},
    {"ends_in_shared_mode",
     {acq(T0), rel_shared(T0)},
     "event 1 (T0): releases lock m in shared mode, but holds it exclusively since event 0"},
    {"ends_in_exclusive_mode",
     {acq_shared(T0), rel(T0)},
     "event 1 (T0): releases lock m exclusively, but holds it in shared mode since event 0"},
    {"locks_and_memory_are_different_things", {acq(T0, kX), wr(T1, kX), rel(T0, kX)}, ""},
};

const std::vector<Case> kThreadCases = {
    {"fork_and_join", {fork(T0, T1), {T1, Op::kBegin}, wr(T1), {T1, Op::kEnd}, join(T0, T1)}, ""},
    {"nobody_forked_it", {wr(T0), {T1, Op::kBegin}, wr(T1)}, ""},
    {"forked_and_never_seen", {fork(T0, T1), join(T0, T1)}, ""},
    {"joined_by_two", {fork(T0, T1), join(T0, T1), join(T2, T1)}, ""},
    {"forked_twice",
     {wr(T0), wr(T2), fork(T0, T3), wr(T3), wr(T0), fork(T1, T3)},
     "event 5 (T1): thread T3 is forked a second time (first at event 2)"},
    {"forked_late", {wr(T1), fork(T0, T1)}, "event 1 (T0): thread T1 is forked after its first event (event 0)"},
    {"forked_after_join",
     {join(T0, T1), fork(T0, T1)},
     "event 1 (T0): thread T1 is forked after it was joined (event 0)"},
    {"forks_itself", {fork(T0, T0)}, "event 0 (T0): forks itself"},
    {"joins_itself", {join(T0, T0)}, "event 0 (T0): joins itself"},
    {"forks_the_unknown",
     {fork(T0, 4)},
     "event 0 (T0): forks thread 4, which is not one of the 4 threads of the trace"},
    {"joins_the_unknown",
     {join(T0, kTop)},
     "event 0 (T0): joins thread 18446744073709551615, which is not one of the 4 threads of the trace"},
    {"begins_late", {wr(T1), {T1, Op::kBegin}}, "event 1 (T1): begins, but did something before (event 0)"},
    {"acts_after_end", {{T1, Op::kEnd}, wr(T1)}, "event 1 (T1): a write after the end of its thread (event 0)"},
    {"ends_twice", {{T1, Op::kEnd}, {T1, Op::kEnd}}, "event 1 (T1): an end after the end of its thread (event 0)"},
    {"acts_after_join",
     {fork(T0, T1), wr(T1), join(T0, T1), acq(T1)},
     "event 3 (T1): an acquire after its thread was joined (event 2)"},
    {"acts_after_end_and_join",
     {{T1, Op::kEnd}, join(T0, T1), rd(T1)},
     "event 2 (T1): a read after its thread was joined (event 1)"},
    {"unknown_thread", {wr(T0), wr(4)}, "event 1: thread 4 is not one of the 4 threads of the trace"},
};

const std::vector<Case> kShapeCases = {
    {"every_byte_is_an_address", {wr(T0, kTop).with_size(1), rd(T0, 0).with_size(1), wr(T0, kTop - 7)}, ""},
    {"no_bytes", {wr(T0).with_size(0)}, "event 0 (T0): a write of 0 bytes"},
    {"no_bytes_freed", {wr(T0), Step(T0, Op::kFree, kX).with_size(0)}, "event 1 (T0): a free of 0 bytes"},
    {"wraps",
     {wr(T0), rd(T0, kTop - 6)},
     "event 1 (T0): a read of 8 bytes at 0xfffffffffffffff9 runs over the end of the address space"},
    {"wrapping_block",
     {Step(T0, Op::kAlloc, kTop).with_size(2)},
     "event 0 (T0): an alloc of 2 bytes at 0xffffffffffffffff runs over the end of the address space"},
    {"size_of_a_lock", {acq(T0).with_size(8)}, "event 0 (T0): an acquire has a size"},
    {"ordered_write", {wr(T0), wr(T0).with_order(MemoryOrder::kRelaxed)}, "event 1 (T0): a write has a memory order"},
    {"ordered_lock", {acq(T0).with_order(MemoryOrder::kSeqCst)}, "event 0 (T0): an acquire has a memory order"},
    {"ordered_atomics",
     {{T0, Op::kAtomicLoad, kX}, {T0, Op::kAtomicStore, kX}, {T0, Op::kAtomicRmw, kX}, {T0, Op::kFence}},
     ""},
    {"unordered_atomic",
     {Step(T0, Op::kAtomicLoad, kX).with_order(MemoryOrder::kNotAtomic)},
     "event 0 (T0): an atomic load has no memory order"},
    {"unordered_fence",
     {Step(T0, Op::kFence).with_order(MemoryOrder::kNotAtomic)},
     "event 0 (T0): a fence has no memory order"},
    {"unknown_order", {Step(T0, Op::kFence).with_order(MemoryOrder{7})}, "event 0 (T0): unknown memory order 7"},
    {"unknown_op",
     {wr(T0), Step(T0, Op{kOpCount}).with_size(0)},
     "event 1 (T0): unknown kind of event " + std::to_string(kOpCount)},
    {"misuses",
     {misuse(T0, MisuseKind::kUnlockUnlocked, 5), acq(T0), misuse(T0, MisuseKind::kReadLockBad, 5),
      misuse(T0, MisuseKind::kThreadLeak, 1)},
     ""},
    {"misuse_of_no_kind", {Step(T0, Op::kMisuse, 5).with_size(0)}, "event 0 (T0): a misuse of the unknown kind 0"},
    {"unknown_misuse",
     {Step(T0, Op::kMisuse, 5).with_size(kMisuseKindCount)},
     "event 0 (T0): a misuse of the unknown kind " + std::to_string(kMisuseKindCount)},
    {"shared_misuse",
     {misuse(T0, MisuseKind::kDoubleLock, 5).with_flags(kShared)},
     "event 0 (T0): a misuse has flags that mean nothing there"},
    {"leak_of_no_thread",
     {misuse(T0, MisuseKind::kThreadLeak, 99)},
     "event 0 (T0): a leak of thread 99, which is not one of the 4 threads of the trace"},
    {"shared_write", {wr(T0), wr(T0).with_flags(kShared)}, "event 1 (T0): a write has flags that mean nothing there"},
    {"unknown_flag", {acq(T0).with_flags(8)}, "event 0 (T0): an acquire has flags that mean nothing there"},
    {"try_and_timed",
     {acq(T0).with_flags(kTry | kTimed)},
     "event 0 (T0): an acquire has flags that mean nothing there"},
    {"try_to_release",
     {acq(T0), rel(T0).with_flags(kTry)},
     "event 1 (T0): a release has flags that mean nothing there"},
    {"fails_to_wait_for_ever", {failed(T0, 0)}, "event 0 (T0): a failed acquire has flags that mean nothing there"},
    {"fails",
     {failed(T0, kTry), failed(T0, kTimed | kShared), acq(T0).with_flags(kTry), failed(T1, kTimed), rel(T0)},
     ""},
    {"reserved", {wr(T0), wr(T0).with_reserved(1)}, "event 1 (T0): a write has flags that mean nothing there"},
    {"known_site", {wr(T0).at(1), wr(T0).at(0)}, ""},
    {"unknown_site", {wr(T0), wr(T0).at(2)}, "event 1 (T0): site 2 is not one of the 2 sites of the trace"},
    {"functions", {{T0, Op::kEnter, 1}, {T0, Op::kExit, 1}}, ""},
    {"unknown_function",
     {{T0, Op::kEnter, 2}},
     "event 0 (T0): an enter of function 2, which is not one of the 2 sites of the trace"},
    {"calls",
     {{T0, Op::kCallBegin, 5},
      {T1, Op::kCallBegin, 5},
      {T0, Op::kCallBegin, 5},
      {T0, Op::kCallEnd, 5},
      {T0, Op::kCallEnd, 5},
      {T1, Op::kCallEnd, 5}},
     ""},
    {"call_of_another",
     {{T0, Op::kCallBegin, 5}, {T1, Op::kCallEnd, 5}},
     "event 1 (T1): ends call 0x5 which it did not begin"},
    {"call_ended_twice",
     {{T0, Op::kCallBegin, 5}, {T0, Op::kCallEnd, 5}, {T0, Op::kCallEnd, 5}},
     "event 2 (T0): ends call 0x5 which it did not begin"},
    {"the_rest_is_free",
     {{T0, Op::kNotify, 1},
      {T1, Op::kWait, 2},
      {T0, Op::kCondNotify, 1},
      {T1, Op::kCondWait, 2},
      {T0, Op::kBarrierLeave, 1},
      {T1, Op::kBarrierArrive, 1},
      {T0, Op::kSemWait, 1},
      {T1, Op::kSemPost, 1},
      {T0, Op::kHappensAfter, 1},
      {T1, Op::kHappensBefore, 1},
      {T0, Op::kAlloc, kX},
      {T1, Op::kFree, kX}},
     ""},
};

std::string name_of(const ::testing::TestParamInfo<Case>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Locks, ValidatorTest, ::testing::ValuesIn(kLockCases), name_of);
INSTANTIATE_TEST_SUITE_P(Threads, ValidatorTest, ::testing::ValuesIn(kThreadCases), name_of);
INSTANTIATE_TEST_SUITE_P(Shapes, ValidatorTest, ::testing::ValuesIn(kShapeCases), name_of);

struct ValueCase {
  const char* name;
  std::vector<Step> steps;
  std::vector<Value> values;
  std::string sentence;
};

class ValidatorValueTest : public ::testing::TestWithParam<ValueCase> {};

TEST_P(ValidatorValueTest, ReadsSeeTheLastWrite) {
  MemoryTrace trace = trace_of(GetParam().steps);
  trace.values = GetParam().values;
  EXPECT_EQ(verdict(trace), GetParam().sentence);
  EXPECT_EQ(verdict(trace, 1000), GetParam().sentence);
  const bool about_form = GetParam().sentence.find(" has a value of ") != std::string::npos;
  EXPECT_EQ(verdict(trace, 1000, true), about_form ? GetParam().sentence : "") << "what reads see was checked before";
  trace.values.clear();
  EXPECT_EQ(verdict(trace), "") << "without values nothing can be said";
}

Value v(std::uint64_t low, std::uint8_t size = 8) { return {low, 0, size}; }
const Value kNone{};
constexpr std::uint64_t kNamed = kNamedMemoryBegin + kNamedMemoryStride;

const std::vector<ValueCase> kValueCases = {
    {"same", {wr(T0), rd(T1)}, {v(5), v(5)}, ""},
    {"other", {wr(T0), rd(T1)}, {v(5), v(6)}, "event 1 (T1): reads 0x6 from x, where the last writes left 0x5"},
    {"initial_value_is_unknown", {rd(T0), rd(T0)}, {v(5), v(6)}, ""},
    {"unknown_write", {wr(T0), wr(T0), rd(T1)}, {v(5), kNone, v(6)}, ""},
    {"unknown_read", {wr(T0), rd(T1)}, {v(5), kNone}, ""},
    {"one_byte_of_it", {wr(T0), rd(T1, kX + 1).with_size(1)}, {v(0x1234), v(0x12, 1)}, ""},
    {"one_wrong_byte",
     {wr(T0), rd(T1, kX + 1).with_size(1)},
     {v(0x1234), v(0x34, 1)},
     "event 1 (T1): reads 0x34 from 0x2001, where the last writes left 0x12"},
    {"two_writes_one_read", {wr(T0), wr(T1, kX + 4).with_size(4), rd(T0)}, {v(1), v(2, 4), v(0x200000001)}, ""},
    {"two_writes_one_wrong_read",
     {wr(T0), wr(T1, kX + 4).with_size(4), rd(T0)},
     {v(1), v(2, 4), v(1)},
     "event 2 (T0): reads 0x1 from x, where the last writes left 0x200000001"},
    {"allocated_again", {wr(T0), {T0, Op::kAlloc, kX}, rd(T0)}, {v(5), kNone, v(6)}, ""},
    {"freed", {wr(T0), {T0, Op::kFree, kX}, rd(T0)}, {v(5), kNone, v(6)}, ""},
    {"freed_in_part", {wr(T0), Step(T0, Op::kFree, kX).with_size(4), rd(T0)}, {v(5), kNone, v(6)}, ""},
    {"freed_in_part_and_wrong",
     {wr(T0), Step(T0, Op::kFree, kX).with_size(4), rd(T0)},
     {v(5), kNone, v(0x100000006)},
     "event 2 (T0): reads 0x100000006 from x, where the last writes left 0x6"},
    {"atomics", {{T0, Op::kAtomicStore, kX}, {T1, Op::kAtomicLoad, kX}}, {v(5), v(5)}, ""},
    {"wrong_atomics",
     {{T0, Op::kAtomicStore, kX}, {T1, Op::kAtomicLoad, kX}},
     {v(5), v(4)},
     "event 1 (T1): reads 0x4 from x, where the last writes left 0x5"},
    {"rmw_reads_and_writes_the_unknown", {wr(T0), {T1, Op::kAtomicRmw, kX}, rd(T0)}, {v(5), v(5), v(6)}, ""},
    {"rmw_reads_wrong",
     {wr(T0), {T1, Op::kAtomicRmw, kX}},
     {v(5), v(6)},
     "event 1 (T1): reads 0x6 from x, where the last writes left 0x5"},
    {"value_of_a_lock", {acq(T0)}, {v(1)}, "event 0 (T0): an acquire of 0 bytes has a value of 8 bytes"},
    {"value_too_long", {wr(T0).with_size(4)}, {v(1)}, "event 0 (T0): a write of 4 bytes has a value of 8 bytes"},
    {"named_variables_hold_eight_bytes",
     {wr(T0, kNamed).with_size(1), rd(T1, kNamed).with_size(1)},
     {v(700), v(701)},
     "event 1 (T1): reads 0x2bd from 0x1000000000008, where the last writes left 0x2bc"},
    {"named_variables_are_overwritten_whole",
     {wr(T0, kNamed).with_size(1), wr(T0, kNamed).with_size(1), rd(T1, kNamed).with_size(1)},
     {v(700), kNone, v(300)},
     ""},
    {"named_variables_hold_no_more",
     {wr(T0, kNamed).with_size(1)},
     {v(1, 9)},
     "event 0 (T0): a write of 1 byte has a value of 9 bytes"},
    {"a_byte_inside_a_named_variable",
     {wr(T0, kNamed + 1).with_size(1)},
     {v(1)},
     "event 0 (T0): a write of 1 byte has a value of 8 bytes"},
    {"value_of_17", {wr(T0).with_size(32)}, {v(1, 17)}, "event 0 (T0): a write of 32 bytes has a value of 17 bytes"},
    {"sixteen_bytes",
     {wr(T0).with_size(16), rd(T0).with_size(16)},
     {Value{1, 2, 16}, Value{1, 3, 16}},
     "event 1 (T0): reads 0x30000000000000001 from x, where the last writes left 0x20000000000000001"},
    {"long_access_known_in_part", {wr(T0).with_size(64), rd(T0, kX + 16)}, {Value{1, 2, 16}, v(9)}, ""},
};

std::string value_name_of(const ::testing::TestParamInfo<ValueCase>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Values, ValidatorValueTest, ::testing::ValuesIn(kValueCases), value_name_of);

TEST(ValidatorColumnTest, BytesInReachOfARunningCallAreUnknown) {
  MemoryTrace trace = trace_of(
      {wr(T0), {T1, Op::kCallBegin, 5}, rd(T0), wr(T0), rd(T0), {T1, Op::kCallEnd, 5}, rd(T0), wr(T0), rd(T0)});
  trace.values = {v(1), kNone, v(2), v(3), v(4), kNone, v(5), v(6), v(6)};
  trace.reaches = {{EventId{1}, kX, 8}};
  EXPECT_EQ(verdict(trace), "");
  EXPECT_EQ(verdict(trace, 1000), "");
  trace.values.back() = v(7);
  EXPECT_EQ(verdict(trace), "event 8 (T0): reads 0x7 from x, where the last writes left 0x6");
  trace.values.back() = v(6);
  trace.reaches = {{EventId{1}, kX + 8, 8}};
  EXPECT_EQ(verdict(trace), "event 2 (T0): reads 0x2 from x, where the last writes left 0x1");
}

TEST(ValidatorColumnTest, EntriesBelongToEvents) {
  MemoryTrace trace = trace_of({wr(T0), {T1, Op::kCallBegin, 5}});
  trace.reaches = {{EventId{0}, kX, 8}};
  EXPECT_EQ(verdict(trace), "reach of event 0: no call begins there, or it does not stand in the order of events");
  trace.reaches = {{EventId{1}, kTop, 8}};
  EXPECT_EQ(verdict(trace),
            "reach of event 1: a range of 8 bytes at 0xffffffffffffffff is empty or runs over the address space");
  trace.reaches.clear();
  trace.branches = {{EventId{1}, ThreadId{T0}, SiteId{0}, 1}, {EventId{2}, ThreadId{T0}, SiteId{1}, 1}};
  EXPECT_EQ(verdict(trace), "");
  trace.branches[0].site = SiteId{2};
  EXPECT_EQ(verdict(trace), "branch before event 1: its thread 0 or site 2 is not in the trace");
  trace.branches = {{EventId{3}, ThreadId{T0}, SiteId{0}, 1}};
  EXPECT_EQ(verdict(trace), "branch before event 3: it does not stand in the order of events");
}

TEST(ValidatorColumnTest, StacksAreInTheTable) {
  MemoryTrace trace = trace_of({wr(T0), wr(T0)});
  trace.stacks = {kNoStack, trace.tables.intern_stack(kNoStack, SiteId{0})};
  EXPECT_EQ(verdict(trace), "");
  trace.stacks[1] = StackId{2};
  EXPECT_EQ(verdict(trace), "event 1: stack 2 is not one of the 2 stacks of the trace");
}

TEST(ValidatorLimitsTest, GapsAreOurOwnFault) {
  const MemoryTrace trace = trace_of({wr(T0)});
  TraceValidator validator;
  Batch batch = trace.batch();
  batch.first = EventId{7};
  EXPECT_EQ(validator.consume(batch, trace.tables).code(), ExitCode::kInternal);
}

TEST(ValidatorLimitsTest, ManyThreadsShareALock) {
  constexpr std::uint32_t kThreads = 10'000;
  MemoryTrace trace;
  trace.tables.add_site(site("a.c:1"));
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    trace.tables.add_thread(std::to_string(t));
    trace.events.push_back(acq_shared(t));
  }
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    trace.events.push_back(rel_shared(t));
  }
  trace.events.push_back(acq(T0));
  trace.events.push_back(acq(T1));
  EXPECT_EQ(verdict(trace, 4096), "event 20001 (1): acquires lock 0x100, held exclusively by 0 since event 20000");
}

}  // namespace
}  // namespace sooth
