#include "race/witness.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "trace/text/std_testing.h"

namespace sooth {
namespace {

std::vector<EventId> ids(std::initializer_list<std::uint64_t> numbers) {
  std::vector<EventId> events;
  for (const std::uint64_t number : numbers) {
    events.push_back(EventId{number});
  }
  return events;
}

// A trace in STD text, one event per word, and what the checker says of witnesses for it.
class Checked {
 public:
  explicit Checked(std::string text) {
    for (char& c : text) {
      c = c == ' ' ? '\n' : c;
    }
    trace_ = must_read(text);
  }

  // "" when it is accepted.
  std::string race(std::initializer_list<std::uint64_t> order, std::initializer_list<std::uint64_t> next) const {
    return check({FindingKind::kRace, ids(order), ids(next)});
  }
  std::string deadlock(std::initializer_list<std::uint64_t> order, std::initializer_list<std::uint64_t> next) const {
    return check({FindingKind::kDeadlock, ids(order), ids(next)});
  }
  std::string check(const Witness& witness) const {
    const Status status = check_witness({trace_.events, trace_.values, trace_.branches, &trace_.tables}, witness);
    EXPECT_EQ(status.code(), status.ok() ? ExitCode::kOk : ExitCode::kBadInput);
    return status.message();
  }
  const WholeTrace& trace() const { return trace_; }

 private:
  WholeTrace trace_;
};

TEST(WitnessTest, ThreadsContributePrefixes) {
  const Checked t("A|r(y)|1 A|r(z)|2 A|w(x)|3 B|r(z)|4 B|w(x)|5");
  EXPECT_EQ(t.race({0, 1, 3}, {2, 4}), "");
  EXPECT_EQ(t.race({3, 0, 1}, {4, 2}), "");
  EXPECT_EQ(t.race({1, 0, 3}, {2, 4}),
            "event 1 (A reads z) stands before event 0 (A reads y), which comes before it in its thread");
  EXPECT_EQ(t.race({1, 3}, {2, 4}),
            "event 1 (A reads z) stands there without event 0 (A reads y), which comes before it in its thread");
  EXPECT_EQ(t.race({0, 3}, {2, 4}),
            "event 2 (A writes x) cannot come next: event 1 (A reads z) comes before it in its thread");
  EXPECT_EQ(t.race({0, 1, 0, 3}, {2, 4}), "event 0 (A reads y) stands twice in the order");
  EXPECT_EQ(t.race({0, 1, 2, 3}, {2, 4}), "event 2 (A writes x) stands in the order, though it is what comes next");
  EXPECT_EQ(t.race({0, 1, 3}, {2, 2}), "event 2 (A writes x) comes next twice");
  EXPECT_EQ(t.race({0, 1, 3, 5}, {2, 4}), "event 5 is not in the trace, which has 5 events");
  EXPECT_EQ(t.race({0, 1, 3}, {2, 99}), "event 99 is not in the trace, which has 5 events");
}

TEST(WitnessTest, TwoConflictingAccessesComeNext) {
  const Checked t(
      "A|w(x)|1 B|r(x)|2 C|r(x)|3 D|acq(m)|4 E|astore.relaxed(x)|5 F|aload.relaxed(x)|6 G|w(y)|7 G|free(x)|8 A|w(x)|9");
  EXPECT_EQ(t.race({}, {0, 1}), "");
  EXPECT_EQ(t.race({}, {1, 4}), "");
  EXPECT_EQ(t.race({6}, {7, 0}), "");  // a free is a write
  EXPECT_EQ(t.race({}, {1, 2}), "event 1 (B reads x) and event 2 (C reads x) do not conflict: neither writes");
  EXPECT_EQ(t.race({}, {4, 5}), "event 4 (E stores x) and event 5 (F loads x) do not conflict: both are atomic");
  EXPECT_EQ(
      t.race({}, {0, 6}),
      "event 0 (A writes x) and event 6 (G writes y) do not conflict: no byte of the same generation belongs to both");
  EXPECT_EQ(t.race({}, {0, 3}), "event 3 (D acquires m) is no access, so it races with nothing");
  EXPECT_EQ(t.race({}, {0}), "a race has 2 accesses that come next, this one has 1");
  EXPECT_EQ(t.race({}, {0, 8}),
            "event 8 (A writes x) cannot come next: event 0 (A writes x) comes before it in its thread");
}

TEST(WitnessTest, NamesAreNotNeeded) {
  const Checked t("A|w(0x1000:4)|1 A|acq(m)|2 B|r(0x1000:4)|3");
  const TraceView nameless{t.trace().events, {}, {}, nullptr};
  EXPECT_EQ(check_witness(nameless, {FindingKind::kRace, ids({2}), ids({0, 1})}).message(),
            "event 1 (T0 acquires 0x1) cannot come next: event 0 (T0 writes 0x1000) comes before it in its thread");
  EXPECT_TRUE(check_witness(nameless, {FindingKind::kRace, {}, ids({0, 2})}).ok());
}

// Each row: a trace in which events 0 to 3 are w(x), an event, another, r(x); the edge from 1 to 2, or none.
struct EdgeCase {
  const char* what;
  const char* trace;
  std::string missing;  // what stands in front of event 3; empty: nothing does
};
void PrintTo(const EdgeCase& c, std::ostream* out) { *out << c.what; }

class WitnessEdge : public testing::TestWithParam<EdgeCase> {};

// With the edge, the accesses on its two sides do not meet: event 2 needs event 1.
TEST_P(WitnessEdge, IsKept) {
  const Checked t(GetParam().trace);
  EXPECT_EQ(t.race({2}, {0, 3}), GetParam().missing);
}

INSTANTIATE_TEST_SUITE_P(
    Must, WitnessEdge,
    testing::Values(
        EdgeCase{"fork", "A|w(x)|1 A|fork(B)|2 B|begin|3 B|r(x)|4",
                 "event 2 (B begins) stands there without event 1 (A forks B), which must come before it"},
        EdgeCase{"join", "A|w(x)|1 A|end|2 B|join(A)|3 B|r(x)|4",
                 "event 2 (B joins A) stands there without event 1 (A ends), which must come before it"},
        EdgeCase{"fork_join_of_nobody", "A|w(x)|1 A|fork(C)|2 B|join(C)|3 B|r(x)|4",
                 "event 2 (B joins C) stands there without event 1 (A forks C), which must come before it"},
        EdgeCase{"signal", "A|w(x)|1 A|notify(s)|2 B|wait(s)|3 B|r(x)|4",
                 "event 2 (B waits for s) stands there without event 1 (A notifies s), which must come before it"},
        EdgeCase{"other_signal", "A|w(x)|1 A|notify(s)|2 B|wait(t)|3 B|r(x)|4", ""},
        EdgeCase{"barrier", "A|w(x)|1 A|arrive(b)|2 B|leave(b)|3 B|r(x)|4",
                 "event 2 (B leaves b) stands there without event 1 (A arrives at b), which must come before it"},
        EdgeCase{"semaphore", "A|w(x)|1 A|post(s)|2 B|sem_wait(s)|3 B|r(x)|4",
                 "event 2 (B waits for s) comes while the semaphore is at 0"},
        EdgeCase{"message", "A|w(x)|1 A|hb(m)|2 B|ha(m)|3 B|r(x)|4",
                 "event 2 (B receives m) stands there without event 1 (A sends m), which must come before it"},
        EdgeCase{"other_message", "A|w(x)|1 A|hb(m)|2 B|ha(n)|3 B|r(x)|4", ""},
        EdgeCase{"lock", "A|w(x)|1 A|acq(m)|2 B|racq(n)|3 B|r(x)|4", ""}),
    [](const auto& test) { return std::string(test.param.what); });

TEST(WitnessTest, OnlyTheLatestNotifyWakes) {
  const Checked t("A|w(x)|1 A|notify(s)|2 C|notify(s)|3 B|wait(s)|4 B|r(x)|5");
  EXPECT_EQ(t.race({2, 3}, {0, 4}), "");
  EXPECT_EQ(t.race({3}, {0, 4}),
            "event 3 (B waits for s) stands there without event 2 (C notifies s), which must come before it");
  EXPECT_EQ(t.race({3, 2}, {0, 4}),
            "event 3 (B waits for s) stands before event 2 (C notifies s), which must come before it");
  EXPECT_EQ(Checked("A|wait(s)|1 A|w(x)|2 B|notify(s)|3 B|w(x)|4").race({0, 2}, {1, 3}), "");  // a spurious wake-up
}

constexpr char kNotWoken[] = " comes without a notify since its wait began that wakes it";

TEST(WitnessTest, AConditionWaitNeedsANotifySinceItBegan) {
  const Checked t("C|w(x)|1 C|notifyone(c)|2 B|acq(m)|3 B|rel(m)|4 A|notifyone(c)|5 B|condwait(c)|6 B|r(x)|7");
  EXPECT_EQ(t.race({2, 3, 4, 5}, {0, 6}), "");
  EXPECT_EQ(t.race({2, 3, 5}, {0, 6}), "event 5 (B has waited for c)" + std::string(kNotWoken));
  EXPECT_EQ(t.race({4, 2, 3, 5}, {0, 6}), "event 5 (B has waited for c)" + std::string(kNotWoken));
  // That of C would do as well, behind the begin.
  const Checked other("C|notifyone(c)|1 B|acq(m)|2 B|rel(m)|3 A|w(x)|4 A|notifyone(c)|5 B|condwait(c)|6 B|r(x)|7");
  EXPECT_EQ(other.race({1, 2, 0, 5}, {3, 6}), "");
  EXPECT_EQ(other.race({0, 1, 2, 5}, {3, 6}), "event 5 (B has waited for c)" + std::string(kNotWoken));
}

TEST(WitnessTest, ANotifyToOneWakesOne) {
  const std::string waits = "B|acq(m)|1 B|rel(m)|2 C|acq(m)|3 C|rel(m)|4 ";
  const std::string woken = " B|condwait(c)|8 C|condwait(c)|9 C|join(B)|10 C|r(x)|11";
  const Checked one(waits + "A|notifyone(c)|5 A|w(x)|6 A|notifyone(c)|7" + woken);
  EXPECT_EQ(one.race({0, 1, 2, 3, 4, 7, 8, 9}, {5, 10}), "event 8 (C has waited for c)" + std::string(kNotWoken));
  const Checked all(waits + "A|notifyall(c)|5 A|w(x)|6 A|notifyone(c)|7" + woken);
  EXPECT_EQ(all.race({0, 1, 2, 3, 4, 7, 8, 9}, {5, 10}), "");
  const Checked late(waits + "A|notifyall(c)|5 A|w(x)|6 A|notifyone(c)|7" + woken);
  EXPECT_EQ(late.race({0, 1, 4, 2, 3, 7, 8, 9}, {5, 10}), "event 8 (C has waited for c)" + std::string(kNotWoken));
}

TEST(WitnessTest, AWaitThatNobodyEndedNeedsNobody) {
  EXPECT_EQ(
      Checked("B|acq(m)|1 B|rel(m)|2 A|w(x)|3 A|notifyone(c)|4 B|condtimeout(c)|5 B|r(x)|6").race({0, 1, 4}, {2, 5}),
      "");
  // Woken, but the trace has no notify for it, or only one that another has taken.
  EXPECT_EQ(Checked("B|acq(m)|1 A|w(x)|2 A|notifyone(c)|3 B|rel(m)|4 B|condwait(c)|5 B|r(x)|6").race({0, 3, 4}, {1, 5}),
            "");
  EXPECT_EQ(Checked("B|acq(m)|1 B|rel(m)|2 C|acq(m)|3 C|rel(m)|4 A|w(x)|5 A|notifyone(c)|6 C|condwait(c)|7 "
                    "B|condwait(c)|8 B|r(x)|9")
                .race({0, 1, 7}, {4, 8}),
            "");
}

TEST(WitnessTest, SemaphoresAreCounters) {
  const Checked t(
      "A|post(s)|1 B|w(x)|2 B|post(s)|3 C|sem_wait(s)|4 C|w(x)|5 D|sem_wait(s)|6 D|w(x)|7 E|sem_wait(s)|8 E|w(x)|9");
  EXPECT_EQ(t.race({0, 3}, {1, 4}), "");
  EXPECT_EQ(t.race({0, 5}, {1, 6}), "");  // by A's post, which C's wait took in the trace
  EXPECT_EQ(t.race({7}, {1, 8}), "");     // one of the three used the initial value
  EXPECT_EQ(t.race({3, 0, 5}, {1, 6}), "");
  EXPECT_EQ(t.race({3, 5}, {1, 6}), "event 5 (D waits for s) comes while the semaphore is at 0");
  EXPECT_EQ(t.race({3, 0, 5, 7}, {1, 8}), "event 7 (E waits for s) comes while the semaphore is at 0");
  // What lies there after the alloc may be another semaphore: those keep their order.
  const Checked renewed(
      "A|w(x)|1 A|post(0x1000)|2 C|sem_wait(0x1000)|3 D|w(x)|4 D|post(0x1000)|5 A|alloc(0x1000:16)|6 "
      "C|sem_wait(0x1000)|7 C|w(x)|8");
  EXPECT_EQ(renewed.race({0, 1, 2, 5, 6}, {3, 7}),
            "event 6 (C waits for 0x1000) stands there without event 4 (D posts 0x1000), which must come before it");
}

TEST(WitnessTest, BarriersHaveRounds) {
  const Checked t(
      "A|arrive(b)|1 B|arrive(b)|2 A|leave(b)|3 A|w(x)|4 A|arrive(b)|5 B|leave(b)|6 B|w(x)|7 C|leave(b)|8 C|w(x)|9");
  EXPECT_EQ(t.race({0, 1, 2, 5}, {3, 6}), "");  // B leaves the first round, for which A's second arrival is too late
  EXPECT_EQ(t.race({0, 2, 1, 5}, {3, 6}),
            "event 2 (A leaves b) stands before event 1 (B arrives at b), which must come before it");
  EXPECT_EQ(t.race({0, 1, 2, 5, 7}, {6, 8}),
            "event 7 (C leaves b) stands there without event 4 (A arrives at b), which must come before it");
  EXPECT_EQ(Checked("A|leave(b)|1 A|w(x)|2 B|arrive(b)|3 B|w(x)|4").race({0, 2}, {1, 3}), "");
}

TEST(WitnessTest, AMessageComesAfterAllEarlierOnes) {
  const Checked t("A|w(x)|1 A|hb(m)|2 C|hb(m)|3 B|ha(m)|4 B|r(x)|5 D|hb(m)|6 D|r(y)|7");
  EXPECT_EQ(t.race({2, 3}, {0, 4}),
            "event 3 (B receives m) stands there without event 1 (A sends m), which must come before it");
  EXPECT_EQ(Checked("A|w(x)|1 B|ha(m)|2 B|r(x)|3 A|hb(m)|4").race({1}, {0, 2}), "");
}

// Whatever their order: an acquire that saw a release is a read that saw a write.
TEST(WitnessTest, AtomicsAreMemory) {
  const char* const kSeen = "event 2 (B loads f) sees no write, in the trace it saw event 1";
  EXPECT_EQ(Checked("A|w(x)|1 A|astore.relaxed(f)|2 B|aload.acquire(f)|3 B|r(x)|4").race({2}, {0, 3}), kSeen);
  EXPECT_EQ(Checked("A|w(x)|1 A|astore.release(f)|2 B|aload.relaxed(f)|3 B|r(x)|4").race({2}, {0, 3}), kSeen);
  EXPECT_EQ(Checked("A|w(x)|1 A|astore.release(f)|2 B|aload.acquire(f)|3 B|r(x)|4").race({2}, {0, 3}), kSeen);
  EXPECT_EQ(Checked("A|w(x)|1 A|astore.seq_cst(f)|2 B|aload.consume(f)|3 B|r(x)|4").race({2}, {0, 3}), kSeen);
}

// A lock of one atomic: B takes it first, because it may see another 0.
TEST(WitnessTest, LocksOfAtomicsMayBeTakenInAnotherOrder) {
  const std::string text =
      "A|w(x)|1 A|armw.acquire(f)|2|=0 A|astore.release(f)|3|=0 B|armw.acquire(f)|4|=0 B|w(y)|5 "
      "B|astore.release(f)|6|=0 B|w(x)|7 A|w(y)|8";
  EXPECT_EQ(Checked(text).race({3, 4, 5}, {0, 6}), "");
  // Both inside: nobody has left a 0 for the second.
  const Checked inside(
      "A|armw.acquire(f)|1|=0 A|w(x)|2 A|astore.release(f)|3|=0 B|armw.acquire(f)|4|=0 B|w(x)|5 "
      "B|astore.release(f)|6|=0");
  EXPECT_EQ(inside.race({0, 3}, {1, 4}),
            "event 3 (B updates f) sees the write of event 0, in the trace it saw event 2");
}

// Loads that no branch follows bind nothing, release sequences and fences or not.
TEST(WitnessTest, LoadsThatDecideNothingOrderNothing) {
  const std::string far = " Z|branch|99";
  const Checked sequence("A|w(x)|1 A|astore.release(f)|2 C|armw.relaxed(f)|3 B|aload.acquire(f)|4 B|r(x)|5" + far);
  EXPECT_EQ(sequence.race({2, 3}, {0, 4}), "");
  EXPECT_EQ(sequence.race({3}, {0, 4}), "");
  const Checked fences(
      "A|w(x)|1 A|fence.release|2 A|astore.relaxed(f)|3 B|aload.relaxed(f)|4 B|fence.acquire|5 B|r(x)|6" + far);
  EXPECT_EQ(fences.race({3, 4}, {0, 5}), "");
  // With a branch behind it, the rmw in between binds as well: what it left may depend on what it found.
  const Checked decides("A|w(x)|1 A|astore.release(f)|2 C|armw.relaxed(f)|3 B|aload.acquire(f)|4 B|branch|5 B|r(x)|6");
  EXPECT_EQ(decides.race({3}, {0, 4}), "event 3 (B loads f) sees no write, in the trace it saw event 2");
  EXPECT_EQ(decides.race({2, 3}, {0, 4}), "event 2 (C updates f) sees no write, in the trace it saw event 1");
}

TEST(WitnessTest, SectionsDoNotOverlap) {
  const Checked t("A|acq(m)|1 A|w(x)|2 A|rel(m)|3 B|acq(m)|4 B|rel(m)|5 B|w(x)|6");
  EXPECT_EQ(t.race({3, 4, 0}, {1, 5}), "");
  EXPECT_EQ(t.race({0, 3, 4}, {1, 5}), "event 3 (B acquires m) comes while A holds the lock since event 0");
  EXPECT_EQ(t.race({3, 0, 4}, {1, 5}), "event 0 (A acquires m) comes while B holds the lock since event 3");
}

TEST(WitnessTest, AMalformedTraceProvesNothing) {
  EXPECT_EQ(Checked("A|rel(m)|1 A|w(x)|2 B|w(x)|3").race({0}, {1, 2}),
            "event 0 (A releases m) comes without an acquire of the lock");
}

TEST(WitnessTest, ReadersShareALock) {
  const Checked t("A|racq(m)|1 A|w(x)|2 A|rrel(m)|3 B|racq(m)|4 B|w(x)|5 B|rrel(m)|6 C|acq(m)|7 C|w(x)|8");
  EXPECT_EQ(t.race({0, 3}, {1, 4}), "");
  EXPECT_EQ(t.race({0, 6}, {1, 7}), "event 6 (C acquires m) comes while A holds the lock in reader mode since event 0");
  EXPECT_EQ(t.race({6, 0}, {1, 7}), "event 0 (A acquires m) comes while C holds the lock since event 6");
}

TEST(WitnessTest, ReentrantAcquiresCountOnce) {
  const Checked t("A|acq(m)|1 A|racq(m)|2 A|rrel(m)|3 A|w(x)|4 A|rel(m)|5 B|racq(m)|6 B|w(x)|7");
  EXPECT_EQ(t.race({0, 1, 2, 5}, {3, 6}), "event 5 (B acquires m) comes while A holds the lock since event 0");
  const Checked left("A|acq(m)|1 A|acq(m)|2 A|rel(m)|3 A|rel(m)|4 A|w(x)|5 B|acq(m)|6 B|w(x)|7");
  EXPECT_EQ(left.race({0, 1, 2, 3, 5}, {4, 6}), "");
  EXPECT_EQ(left.race({0, 1, 2, 5, 3}, {4, 6}), "event 5 (B acquires m) comes while A holds the lock since event 0");
}

TEST(WitnessTest, ReadsSeeTheSameWrite) {
  const Checked t("A|w(x)|1 B|w(x)|2 C|r(x)|3 C|w(y)|4 A|w(y)|5");
  EXPECT_EQ(t.race({0, 1, 2}, {3, 4}), "");
  EXPECT_EQ(t.race({1, 0, 2}, {3, 4}), "event 2 (C reads x) sees the write of event 0, in the trace it saw event 1");
  EXPECT_EQ(t.race({0, 2}, {3, 4}), "event 2 (C reads x) sees the write of event 0, in the trace it saw event 1");
  const Checked fresh("A|r(x)|1 A|w(y)|2 B|w(x)|3 B|w(y)|4");
  EXPECT_EQ(fresh.race({0, 2}, {1, 3}), "");
  EXPECT_EQ(fresh.race({2, 0}, {1, 3}), "event 0 (A reads x) sees the write of event 2, in the trace it saw none");
  // What comes next may see anything.
  EXPECT_EQ(Checked("A|w(x)|1 B|r(x)|2").race({}, {0, 1}), "");
  EXPECT_EQ(Checked("A|w(x)|1 B|armw(x)|2").race({}, {0, 1}), "");
}

TEST(WitnessTest, EveryByteCounts) {
  const Checked t("A|w(0x10:4)|1 B|w(0x12:1)|2 C|r(0x10:4)|3 C|w(y)|4 D|w(y)|5");
  EXPECT_EQ(t.race({0, 1, 2}, {3, 4}), "");
  EXPECT_EQ(t.race({1, 0, 2}, {3, 4}),
            "event 2 (C reads 0x10) sees the write of event 0 in byte 2, in the trace it saw event 1");
  EXPECT_EQ(t.race({1, 2}, {3, 4}), "event 2 (C reads 0x10) sees no write in byte 0, in the trace it saw event 0");
  const Checked next("A|w(0x10:4)|1 B|r(0x13:2)|2 C|r(0x14:1)|3");
  EXPECT_EQ(next.race({}, {0, 1}), "");
  EXPECT_EQ(next.race({}, {0, 2}),
            "event 0 (A writes 0x10) and event 2 (C reads 0x14) do not conflict: no byte of the same generation "
            "belongs to both");
}

TEST(WitnessTest, LongWritesAreSeenInEachByte) {
  const Checked t("A|w(0x1000:4096)|1 B|w(0x1800:1)|2 C|r(0x1800:1)|3 C|r(0x1ffe:4)|4 C|w(y)|5 D|w(y)|6");
  EXPECT_EQ(t.race({0, 1, 2, 3}, {4, 5}), "");
  EXPECT_EQ(t.race({1, 0, 2, 3}, {4, 5}),
            "event 2 (C reads 0x1800) sees the write of event 0, in the trace it saw event 1");
  const Checked gone("A|w(0x1800:8)|1 B|free(0x1000:4096)|2 C|r(0x1804:8)|3 C|w(y)|4 D|w(y)|5");
  EXPECT_EQ(gone.race({0, 1, 2}, {3, 4}), "");
  EXPECT_EQ(gone.race({1, 0, 2}, {3, 4}),
            "event 2 (C reads 0x1804) sees the write of event 0 in byte 0, in the trace it saw event 1");
  EXPECT_EQ(gone.race({0, 2}, {3, 4}),
            "event 2 (C reads 0x1804) sees the write of event 0 in byte 0, in the trace it saw event 1");
}

TEST(WitnessTest, AllocatedMemoryIsNew) {
  const Checked t(
      "A|w(0x10:4)|1 B|alloc(0x10:8)|2 B|w(0x10:4)|3 C|r(0x10:4)|4 C|w(y)|5 D|w(y)|6 B|free(0x10:8)|7 E|r(0x12:1)|8 "
      "F|alloc(0x0:64)|9 F|r(0x12:1)|10");
  EXPECT_EQ(t.race({1, 2, 0, 3}, {4, 5}), "");  // event 0 wrote another variable
  EXPECT_EQ(t.race({1, 0, 3}, {4, 5}), "event 3 (C reads 0x10) sees no write in byte 0, in the trace it saw event 2");
  EXPECT_EQ(t.race({1, 2}, {6, 7}), "");  // use after free
  EXPECT_EQ(t.race({1, 2, 8}, {6, 9}),
            "event 6 (B frees 0x10) and event 9 (F reads 0x12) do not conflict: no byte of the same generation belongs "
            "to both");
  EXPECT_EQ(t.race({1}, {0, 2}),
            "event 0 (A writes 0x10) and event 2 (B writes 0x10) do not conflict: no byte of the same generation "
            "belongs to both");
}

TEST(WitnessTest, WithBranchesOnlyReadsInFrontOfOneBind) {
  const std::string accesses = "A|w(x)|1 B|w(x)|2 C|r(x)|3 ";
  // The branch stands behind what comes next, or belongs to another thread.
  EXPECT_EQ(Checked(accesses + "C|w(y)|4 C|branch|9 D|w(y)|5").race({0, 2}, {3, 4}), "");
  EXPECT_EQ(Checked(accesses + "A|branch|9 C|w(y)|4 D|w(y)|5").race({0, 2}, {3, 4}), "");
  // In front of what comes next, or of something in the order.
  const char* const kOther = "event 2 (C reads x) sees the write of event 0, in the trace it saw event 1";
  EXPECT_EQ(Checked(accesses + "C|branch|9 C|w(y)|4 D|w(y)|5").race({0, 2}, {3, 4}), kOther);
  EXPECT_EQ(Checked(accesses + "C|branch|9 C|w(z)|4 A|w(y)|5 D|w(y)|6").race({0, 2, 3}, {4, 5}), kOther);
  // A thread of which nothing comes next stops in front of its branch.
  EXPECT_EQ(Checked(accesses + "C|branch|9 C|w(z)|4 A|w(y)|5 D|w(y)|6").race({0, 2}, {4, 5}), "");
}

TEST(WitnessTest, WhatABindingReadSeesDependsOnEarlierReads) {
  const std::string start = "A|w(x)|1 B|w(x)|2 C|r(x)|3 ";
  const Checked passed(start + "C|w(y)|4 D|r(y)|5 D|branch|9 D|w(z)|6 E|w(z)|7");
  EXPECT_EQ(passed.race({0, 2, 3, 4}, {5, 6}),
            "event 2 (C reads x) sees the write of event 0, in the trace it saw event 1");
  EXPECT_EQ(passed.race({0, 1, 2, 3, 4}, {5, 6}), "");
  const Checked not_passed(start + "C|w(y)|4 D|r(u)|5 D|branch|9 D|w(z)|6 E|w(z)|7");
  EXPECT_EQ(not_passed.race({0, 2, 3, 4}, {5, 6}), "");
  const Checked later("A|w(x)|1 B|w(x)|2 C|w(y)|3 C|r(x)|4 D|r(y)|5 D|branch|9 D|w(z)|6 E|w(z)|7");
  EXPECT_EQ(later.race({0, 2, 3, 4}, {5, 6}), "");
  // From thread to thread, also to those that come earlier in the trace.
  const Checked far(
      "E|r(q)|1 D|r(q)|2 C|r(q)|3 A|w(x)|4 B|w(x)|5 C|r(x)|6 C|w(y)|7 D|r(y)|8 D|w(u)|9 E|r(u)|10 E|branch|99 "
      "E|w(z)|11 F|w(z)|12");
  EXPECT_EQ(far.race({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {10, 11}), "");
  EXPECT_EQ(far.race({0, 1, 2, 3, 5, 6, 7, 8, 9}, {10, 11}),
            "event 5 (C reads x) sees the write of event 3, in the trace it saw event 4");
  // An rmw stores what it makes of what it read.
  const Checked rmw("A|w(x)|1 C|armw.relaxed(x)|2 D|r(x)|3 D|branch|9 D|w(z)|4 E|w(z)|5");
  EXPECT_EQ(rmw.race({1, 2}, {3, 4}), "event 1 (C updates x) sees no write, in the trace it saw event 0");
}

TEST(WitnessTest, DeadlocksAreCycles) {
  const Checked t(
      "A|acq(a)|1 A|acq(b)|2 A|rel(b)|3 A|rel(a)|4 B|acq(b)|5 B|acq(a)|6 B|rel(a)|7 B|rel(b)|8 C|acq(c)|9 C|acq(a)|10");
  EXPECT_EQ(t.deadlock({0, 4}, {1, 5}), "");
  EXPECT_EQ(t.deadlock({4, 0}, {5, 1}), "");
  EXPECT_EQ(t.deadlock({0}, {1, 4}), "event 1 (A acquires b) does not wait for B, which does not hold the lock");
  EXPECT_EQ(t.deadlock({0, 4, 8}, {1, 5, 9}),
            "event 5 (B acquires a) does not wait for C, which does not hold the lock");
  EXPECT_EQ(t.deadlock({0, 4}, {1}), "a deadlock has at least 2 acquires that come next, this one has 1");
  EXPECT_EQ(t.deadlock({0, 1, 4}, {2, 5}), "event 4 (B acquires b) comes while A holds the lock since event 1");
  EXPECT_EQ(t.deadlock({0, 1}, {2, 4}), "event 2 (A releases b) is no acquire, so it waits for nobody");
}

TEST(WitnessTest, WhoTriesIsInNoDeadlock) {
  const Checked t("A|tryacq(a)|1 A|acq(b)|2 A|rel(b)|3 A|rel(a)|4 B|acq(b)|5 B|acq(a)|6 B|rel(a)|7 B|rel(b)|8");
  EXPECT_EQ(t.deadlock({0, 4}, {1, 5}), "");
  const Checked tries(
      "A|acq(a)|1 A|tryacq(b)|2 A|rel(b)|3 A|rel(a)|4 B|acq(b)|5 B|timedacq(a)|6 B|rel(a)|7 B|rel(b)|8");
  EXPECT_EQ(tries.deadlock({0, 4}, {1, 5}), "event 1 (A acquires b) does not wait for ever: it only tries");
  EXPECT_EQ(tries.deadlock({0, 4}, {5, 1}), "event 5 (B acquires a) does not wait for ever: it has a time limit");
}

TEST(WitnessTest, AFailedAcquireFindsTheLockTaken) {
  const Checked t("A|w(x)|1 A|acq(a)|2 B|tryfail(a)|3 B|w(y)|4 A|rel(a)|5 A|w(y)|6 C|racq(a)|7 C|rrel(a)|8");
  EXPECT_EQ(t.race({0, 1, 2, 4}, {3, 5}), "");
  EXPECT_EQ(t.race({0, 1, 4, 2}, {3, 5}), "event 2 (B fails to acquire a) comes while nobody holds the lock");
  EXPECT_EQ(t.race({0, 1, 4, 6, 2}, {3, 5}), "");  // a reader keeps it out as well
  const Checked readers("A|acq(a)|1 B|rtimeout(a)|2 B|w(y)|3 A|rel(a)|4 A|w(y)|5 C|racq(a)|6 C|rrel(a)|7");
  EXPECT_EQ(readers.race({0, 1, 3}, {2, 4}), "");
  EXPECT_EQ(readers.race({0, 3, 5, 1}, {2, 4}), "event 1 (B fails to acquire a) comes while nobody holds the lock");
  // Who has the lock is the thread itself, or not in the trace.
  const Checked own("A|acq(a)|1 A|tryfail(a)|2 A|w(y)|3 A|rel(a)|4 B|w(y)|5");
  EXPECT_EQ(own.race({0, 1}, {2, 4}), "");
  const Checked unknown("A|tryfail(a)|1 A|w(y)|2 B|w(y)|3");
  EXPECT_EQ(unknown.race({0}, {1, 2}), "");
}

TEST(WitnessTest, DeadlocksRespectModes) {
  const Checked readers("A|racq(a)|1 A|racq(b)|2 A|rrel(b)|3 A|rrel(a)|4 B|racq(b)|5 B|racq(a)|6");
  EXPECT_EQ(readers.deadlock({0, 4}, {1, 5}),
            "event 1 (A acquires b) does not wait for B, which holds the lock in reader mode as well");
  const Checked mixed("A|racq(a)|1 A|acq(b)|2 A|rel(b)|3 A|rrel(a)|4 B|racq(b)|5 B|acq(a)|6");
  EXPECT_EQ(mixed.deadlock({0, 4}, {1, 5}), "");
  const Checked again("A|acq(a)|1 A|acq(a)|2 A|rel(a)|3 A|rel(a)|4 B|acq(b)|5 B|acq(a)|6");
  EXPECT_EQ(again.deadlock({0, 4}, {1, 5}),
            "event 1 (A acquires a) waits for nobody: the thread holds the lock already");
}

TEST(WitnessTest, DeadlocksKeepMustOrder) {
  const Checked t("A|acq(a)|1 A|notify(s)|2 A|acq(b)|3 A|rel(b)|4 A|rel(a)|5 B|acq(b)|6 B|wait(s)|7 B|acq(a)|8");
  EXPECT_EQ(t.deadlock({0, 1, 5, 6}, {2, 7}), "");
  EXPECT_EQ(t.deadlock({0, 5, 6}, {1, 7}),
            "event 6 (B waits for s) stands there without event 1 (A notifies s), which must come before it");
  const Checked forked("A|acq(a)|1 A|acq(b)|2 A|fork(B)|3 A|rel(b)|4 A|rel(a)|5 B|acq(b)|6 B|acq(a)|7");
  EXPECT_EQ(forked.deadlock({0}, {1, 5}),
            "event 5 (B acquires b) cannot come next: event 2 (A forks B) must come before it");
}

}  // namespace
}  // namespace sooth
