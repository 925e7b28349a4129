#include "oracle/must_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "oracle/trace_text.h"

namespace sooth::oracle {
namespace {

// Edges between threads as "from>to" by label, sorted.
std::string edges_of(const char* text, bool locks) {
  const TextTrace trace = parse_trace(text);
  std::vector<std::string> found;
  for (const Edge& edge : locks ? lock_edges(trace.events) : must_edges(trace.events)) {
    const Event& from = trace.events[edge.from];
    const Event& to = trace.events[edge.to];
    if (from.thread != to.thread) {
      found.push_back(trace.labels[raw(from.site)] + ">" + trace.labels[raw(to.site)]);
    }
  }
  std::sort(found.begin(), found.end());
  std::ostringstream out;
  for (const std::string& edge : found) {
    out << (&edge == &found.front() ? "" : " ") << edge;
  }
  return out.str();
}

struct Case {
  const char* name;
  const char* trace;
  const char* edges;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.trace; }

class MustEdges : public testing::TestWithParam<Case> {};
TEST_P(MustEdges, AreThoseOfTheDefinition) { EXPECT_EQ(edges_of(GetParam().trace, false), GetParam().edges); }

INSTANTIATE_TEST_SUITE_P(
    Semantics, MustEdges,
    testing::Values(
        Case{"Fork", "A|w(x)|1 A|fork(B)|2 B|r(x)|3 B|r(x)|4", "2>3"},
        Case{"Join", "B|r(x)|1 B|r(x)|2 A|join(B)|3", "2>3"},
        Case{"JoinOfASilentThread", "A|fork(B)|1 A|join(B)|2", ""},
        Case{"LatestNotify", "A|notify(s)|1 C|notify(s)|2 B|wait(s)|3 D|wait(s)|4", "2>3 2>4"},
        Case{"ConditionsOrderNothing", "A|notifyone(c)|1 C|notifyall(c)|2 B|condwait(c)|3 D|condtimeout(c)|4", ""},
        Case{"WaitWithoutNotify", "B|wait(s)|1 A|notify(s)|2 C|wait(t)|3", ""},
        Case{"BarrierRound", "A|arrive(b)|1 B|arrive(b)|2 A|leave(b)|3 B|leave(b)|4", "1>4 2>3"},
        Case{"ReArrivalOpensTheNextRound",
             "A|arrive(b)|1 B|arrive(b)|2 A|leave(b)|3 A|arrive(b)|4 B|leave(b)|5 B|arrive(b)|6 B|leave(b)|7",
             "1>5 2>3 4>7"},
        Case{"Latch", "A|arrive(b)|1 B|arrive(b)|2 C|leave(b)|3 D|leave(b)|4", "1>3 1>4 2>3 2>4"},
        Case{"LatchWaiterClosesTheRound", "A|arrive(b)|1 C|leave(b)|2 B|arrive(b)|3 D|leave(b)|4", "1>2 3>4"},
        Case{"SecondLeaveGoesToTheNewestRound",
             "A|arrive(b)|1 A|leave(b)|2 B|arrive(b)|3 A|leave(b)|4 C|arrive(b)|5 B|leave(b)|6 A|leave(b)|7",
             "3>4 5>7"},
        Case{"LeaveWithoutArrival", "A|leave(b)|1 B|arrive(b)|2", ""},
        Case{"SemaphoreFifo", "A|post(s)|1 B|post(s)|2 C|sem_wait(s)|3 D|sem_wait(s)|4 C|sem_wait(s)|5", "1>3 2>4"},
        Case{"AllEarlierMessages", "A|hb(m)|1 B|hb(m)|2 C|ha(m)|3 A|hb(m)|4 D|ha(m)|5", "1>3 1>5 2>3 2>5 4>5"},
        Case{"ReleaseAcquire", "A|astore.release(x)|1 B|aload.acquire(x)|2 C|aload.relaxed(x)|3", "1>2"},
        Case{"ConsumeAndSeqCst", "A|astore.seq_cst(x)|1 B|aload.consume(x)|2 C|aload.seq_cst(x)|3", "1>2 1>3"},
        Case{"RelaxedStoreEndsTheSequence", "A|astore.release(x)|1 B|astore.relaxed(x)|2 C|aload.acquire(x)|3", ""},
        Case{"RmwsContinueIt", "A|astore.release(x)|1 B|armw.relaxed(x)|2 C|armw.release(x)|3 D|aload.acquire(x)|4",
             "1>4 3>4"},
        Case{"PlainStoreDoesNotEndIt", "A|astore.release(x)|1 B|w(x)|2 C|aload.acquire(x)|3", "1>3"},
        Case{"ReleaseFence", "A|fence.release()|1 A|astore.relaxed(x)|2 B|aload.acquire(x)|3", "1>3"},
        Case{"FenceBeforeAnAcquireRmw", "A|fence.release()|1 A|armw.acquire(x)|2 B|aload.acquire(x)|3", "1>3"},
        Case{"AcquireFence", "A|astore.release(x)|1 B|aload.relaxed(x)|2 B|fence.acquire()|3 B|fence.acquire()|4",
             "1>3"},
        Case{"BothFences", "A|fence.seq_cst()|1 A|astore.relaxed(x)|2 B|aload.relaxed(x)|3 B|fence.acq_rel()|4", "1>4"},
        Case{"WeakFences", "A|fence.acquire()|1 A|astore.relaxed(x)|2 B|aload.relaxed(x)|3 B|fence.release()|4", ""},
        Case{"FenceAfterTheStoreIsTooLate", "A|astore.relaxed(x)|1 A|fence.release()|2 B|aload.acquire(x)|3", ""},
        Case{"OtherAddress", "A|astore.release(0x10:4)|1 B|aload.acquire(0x11:1)|2 C|aload.acquire(0x10:1)|3", "1>3"},
        Case{"AllocEndsIt", "A|astore.release(x)|1 A|alloc(x)|2 B|aload.acquire(x)|3", ""},
        Case{"FreeDoesNot", "A|astore.release(x)|1 A|free(x)|2 B|aload.acquire(x)|3", "1>3"},
        Case{"LockIsNoMustOrder", "A|acq(l)|1 A|rel(l)|2 B|acq(l)|3", ""}),
    [](const auto& test) { return std::string(test.param.name); });

class LockEdges : public testing::TestWithParam<Case> {};
TEST_P(LockEdges, AreThoseOfTheDefinition) { EXPECT_EQ(edges_of(GetParam().trace, true), GetParam().edges); }

INSTANTIATE_TEST_SUITE_P(
    Semantics, LockEdges,
    testing::Values(Case{"Exclusive", "A|acq(l)|1 A|rel(l)|2 B|acq(l)|3 B|rel(l)|4 C|acq(l)|5", "2>3 2>5 4>5"},
                    Case{"ReadersDoNotOrderReaders", "A|racq(l)|1 A|rrel(l)|2 B|racq(l)|3 B|rrel(l)|4 C|acq(l)|5",
                         "2>5 4>5"},
                    Case{"WriterOrdersReaders", "A|acq(l)|1 A|rel(l)|2 B|racq(l)|3 C|racq(l)|4", "2>3 2>4"},
                    Case{"OutermostOnly", "A|acq(l)|1 A|acq(l)|2 A|rel(l)|3 A|rel(l)|4 B|acq(l)|5 B|racq(l)|6", "4>5"},
                    Case{"OtherLock", "A|acq(l)|1 A|rel(l)|2 B|acq(m)|3", ""}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(RelationTest, ClosesOverMoreThanOneWord) {
  Relation relation(130);
  for (Index i = 0; i + 1 < 130; ++i) {
    relation.add(i, i + 1);
  }
  EXPECT_FALSE(relation.ordered(0, 129));
  relation.close();
  EXPECT_TRUE(relation.ordered(0, 129));
  EXPECT_TRUE(relation.ordered(63, 64));
  EXPECT_FALSE(relation.ordered(129, 0));
  EXPECT_FALSE(relation.ordered(64, 64));
}

}  // namespace
}  // namespace sooth::oracle
