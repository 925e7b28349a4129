#include "predict/trace_index.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "oracle/oracle.h"
#include "oracle/random_trace.h"
#include "oracle/trace_text.h"
#include "oracle/witness_judge.h"
#include "predict/mcm.h"

namespace sooth {
namespace {

std::vector<EventIndex> list(std::span<const EventIndex> events) { return {events.begin(), events.end()}; }
using Events = std::vector<EventIndex>;

class Indexed {
 public:
  explicit Indexed(const char* text) : trace_(oracle::parse_trace(text)), index(TraceView{trace_.events, {}, {}}) {}

 private:
  oracle::TextTrace trace_;

 public:
  const TraceIndex index;
};

TEST(TraceIndexTest, KnowsWhatReadsSawByteByByte) {
  const Indexed t("A|w(0x10:4)|0 A|w(0x12:1)|1 B|r(0x10:4)|2 B|r(0x12:1)|3 B|r(0x20:8)|4 B|r(0x13:1)|5");
  EXPECT_EQ(list(t.index.seen(2)), (Events{0, 1, 0}));
  EXPECT_EQ(list(t.index.seen(3)), Events{1});
  EXPECT_EQ(list(t.index.seen(4)), Events{kNoEvent});
  EXPECT_EQ(list(t.index.seen(5)), Events{0});
  EXPECT_EQ(list(t.index.seen(0)), Events{});
  EXPECT_EQ(t.index.variables(0).size(), 3u);
}

TEST(TraceIndexTest, MemoryAllocatedAgainIsAnotherVariable) {
  const Indexed t("A|w(0x10:8)|0 A|free(0x0:64)|1 B|r(0x10:8)|2 B|alloc(0x8:64)|3 B|r(0x10:8)|4 B|w(0x10:8)|5");
  EXPECT_EQ(list(t.index.seen(2)), Events{1});
  EXPECT_EQ(list(t.index.seen(4)), Events{kNoEvent});
  ASSERT_EQ(t.index.variables(1).size(), 2u) << "where the block begins, and what was accessed of it";
  EXPECT_EQ(t.index.variables(0)[0], t.index.variables(1)[1]);
  EXPECT_EQ(t.index.variables(4)[0], t.index.variables(5)[0]);
  EXPECT_NE(t.index.variables(0)[0], t.index.variables(4)[0]);
}

TEST(TraceIndexTest, SectionsAreOutermostAndMayOverlap) {
  const Indexed t("A|acq(l)|0 A|acq(m)|1 A|acq(l)|2 A|rel(l)|3 A|rel(l)|4 A|racq(n)|5 A|rel(m)|6");
  EXPECT_EQ(t.index.section_of(2), kNoSection);
  EXPECT_EQ(t.index.section_of(3), kNoSection);
  EXPECT_EQ(t.index.section_of(0), t.index.section_of(4));
  ASSERT_EQ(t.index.sections().size(), 3u);
  EXPECT_EQ(t.index.section(0).release, 4u);
  EXPECT_EQ(t.index.section(1).release, 6u);
  EXPECT_EQ(t.index.section(2).release, kNoEvent);
  EXPECT_TRUE(t.index.section(2).shared);
  EXPECT_EQ(t.index.held_after(0, 0), Events{});
  EXPECT_EQ(t.index.held_after(0, 4), (Events{0, 1}));
  EXPECT_EQ(t.index.held_after(0, 5), Events{1});
  EXPECT_EQ(t.index.held_after(0, 6), (Events{1, 2}));
  EXPECT_EQ(t.index.held_after(0, 7), Events{2});
}

TEST(TraceIndexTest, AForkStandsForAThreadWithoutEvents) {
  const Indexed t("A|fork(C)|0 B|join(C)|1 A|notify(s)|2 B|wait(s)|3");
  EXPECT_EQ(list(t.index.predecessors(1)), Events{0});
  EXPECT_EQ(list(t.index.predecessors(3)), Events{2});
}

// Notifies that may come between the begin of a wait and it.
std::vector<EventIndex> that_may_wake(std::span<const Event> trace, EventIndex wait) {
  std::vector<EventIndex> notifies;
  const std::optional<oracle::Index> begin = oracle::begin_of_wait(trace, wait);
  for (EventIndex n = 0; n < trace.size(); ++n) {
    const bool in_between = n < wait && (!begin || n > *begin);
    if (trace[n].op == Op::kCondNotify && trace[n].object == trace[wait].object &&
        (trace[n].thread != trace[wait].thread || in_between)) {
      notifies.push_back(n);
    }
  }
  return notifies;
}

// Without the post and those behind it in its thread, the wait finds the semaphore at 0 whatever others do.
bool is_needed(std::span<const Event> trace, EventIndex post, EventIndex wait) {
  const auto about = [&](EventIndex e, Op op) { return trace[e].op == op && trace[e].object == trace[wait].object; };
  if (!about(post, Op::kSemPost) || trace[post].thread == trace[wait].thread) {
    return false;
  }
  const std::map<std::uint64_t, std::size_t> first = oracle::first_counts(trace);
  std::size_t there = first.contains(trace[wait].object) ? first.at(trace[wait].object) : 0, wanted = 0;
  for (EventIndex e = 0; e < trace.size(); ++e) {
    const bool own = trace[e].thread == trace[wait].thread;
    wanted += about(e, Op::kSemWait) && own && e <= wait ? 1 : 0;
    there += about(e, Op::kSemPost) && (own ? e < wait : trace[e].thread != trace[post].thread || e < post) ? 1 : 0;
  }
  return wanted > there;
}

// Direct predecessors and program order generate must-order or its hard part, on traces of every profile; and that a
// wait comes after the only notify that can wake it, and after the posts that it needs.
TEST(TraceIndexProperty, PredecessorsGenerateWhatIsKept) {
  std::uint64_t edges = 0, woken = 0, posted = 0;
  for (std::uint64_t seed = 1; seed <= 3'000; ++seed) {
    const std::vector<Event> trace =
        oracle::random_trace(oracle::kProfiles[seed % oracle::kProfiles.size()], seed).events;
    const bool hard = seed % 16 < 12;
    const TraceIndex index(TraceView{trace, {}, {}}, {}, hard ? KeptOrder::kHard : KeptOrder::kMust);
    oracle::Relation order(trace.size());
    for (EventIndex e = 0; e < trace.size(); ++e) {
      for (const EventIndex before : index.predecessors(e)) {
        order.add(before, e);
        ++edges;
      }
      if (index.position(e) > 0) {
        order.add(index.events_of(index.thread(e))[index.position(e) - 1], e);
      }
    }
    order.close();
    std::vector<oracle::Edge> expected = hard ? oracle::hard_edges(trace) : oracle::must_edges(trace);
    const std::vector<std::optional<oracle::Index>> taken = oracle::notifies_taken(trace);
    for (EventIndex e = 0; e < trace.size(); ++e) {
      if (taken[e] && that_may_wake(trace, e).size() == 1) {
        expected.push_back({*taken[e], e, oracle::EdgeKind::kSignal});
        ++woken;
      }
    }
    const std::vector<bool> counted = oracle::counted_by_semaphores(trace);
    for (EventIndex wait = 0; hard && wait < trace.size(); ++wait) {
      for (EventIndex post = 0; post < trace.size() && counted[wait] && trace[wait].op == Op::kSemWait; ++post) {
        if (is_needed(trace, post, wait)) {
          expected.push_back({post, wait, oracle::EdgeKind::kSemaphore});
          ++posted;
        }
      }
    }
    ASSERT_EQ(order, oracle::closure(trace.size(), expected)) << "seed " << seed << "\n" << oracle::print_trace(trace);
  }
  EXPECT_GT(edges, 3'000u);
  EXPECT_GT(woken, 30u);
  EXPECT_GT(posted, 30u);
}

// B saw what A wrote: 0, which was there at first as well, by what C found. So B may come first, and meet A's w(y).
TEST(TraceIndexTest, MemoryBeforeAllWritesServesReadsThatFoundTheSame) {
  const oracle::TextTrace trace =
      oracle::parse_trace("C|r(x)|0 A|w(y)|1 A|acq(l)|2 A|w(x)|3 A|rel(l)|4 B|acq(l)|5 B|r(x)|6 B|rel(l)|7 B|w(y)|8");
  for (const bool same : {true, false}) {
    std::vector<Value> values(trace.events.size());
    for (const std::size_t e : {0, 3, 6}) {
      values[e].size = static_cast<std::uint8_t>(trace.events[e].size);
    }
    values[0].low = same ? 0 : 1;
    const TraceView view{trace.events, values, {}};
    const TraceIndex index(view);
    EXPECT_EQ(index.reads_are_fixed(), !same);
    const Prediction prediction = predict_race(index, {EventId{1}, EventId{8}}, {});
    ASSERT_EQ(std::holds_alternative<Witness>(prediction), same);
    EXPECT_EQ(std::holds_alternative<Infeasible>(prediction), !same);
    const Witness early{FindingKind::kRace, {EventId{5}, EventId{6}, EventId{7}}, {EventId{1}, EventId{8}}};
    EXPECT_EQ(check_witness(view, early).ok(), same) << check_witness(view, early).message();
    EXPECT_EQ(oracle::why_no_witness(view, early).empty(), same);
    if (same) {
      EXPECT_TRUE(check_witness(view, std::get<Witness>(prediction)).ok());
    }
  }
}

}  // namespace
}  // namespace sooth
