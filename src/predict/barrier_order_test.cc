// The sweep against the definition on random traces, and the figures that tell what each rule is for.
#include "predict/barrier_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <set>

#include "base/test_environment.h"
#include "oracle/call_order.h"
#include "oracle/minimise.h"
#include "oracle/random_columns.h"
#include "oracle/random_trace.h"
#include "oracle/trace_text.h"

namespace sooth {
namespace {

using oracle::CallTrace;
using oracle::Index;
using oracle::Relation;

Relation closure_of(const CallTrace& trace, std::span<const ExtraOrder> edges) {
  Relation order(trace.events.size());
  for (const ExtraOrder& edge : edges) {
    order.add(edge.from, edge.to);
  }
  for (Index e = 0; e < trace.events.size(); ++e) {
    for (Index later = e + 1; later < trace.events.size(); ++later) {
      if (trace.events[e].thread == trace.events[later].thread) {
        order.add(e, later);
      }
    }
  }
  order.close();
  return order;
}

// Empty, or which order of two events one side has and the other has not.
std::string difference(const CallTrace& trace) {
  const std::vector<ExtraOrder> edges = barrier_order(trace.events, trace.reaches);
  if (!std::is_sorted(edges.begin(), edges.end(),
                      [](const ExtraOrder& a, const ExtraOrder& b) { return a.to < b.to; })) {
    return "the edges are not sorted";
  }
  const Relation found = closure_of(trace, edges);
  const Relation defined = oracle::call_order(trace.events, trace.reaches);
  for (Index a = 0; a < trace.events.size(); ++a) {
    for (Index b = 0; b < trace.events.size(); ++b) {
      if (found.ordered(a, b) != defined.ordered(a, b)) {
        return std::to_string(a) + " -> " + std::to_string(b) +
               (defined.ordered(a, b) ? " is missing" : " is too much");
      }
    }
  }
  return "";
}

TEST(BarrierOrderProperty, IsTheOneOfTheDefinition) {
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000);
  const std::uint64_t first_seed = from_environment("SOOTH_SEED", 1);
  std::uint64_t with_order = 0, nested = 0, open = 0, everything = 0, overlapping = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    CallTrace trace{oracle::random_trace(oracle::Profile::kCalls, seed).events, {}};
    trace.reaches = oracle::random_reaches(trace.events, seed);
    with_order += barrier_order(trace.events, trace.reaches).empty() ? 0 : 1;
    std::map<ThreadId, int> depth;
    bool deep = false, at_once = false;
    for (const Event& e : trace.events) {
      depth[e.thread] += e.op == Op::kCallBegin ? 1 : e.op == Op::kCallEnd ? -1 : 0;
      deep = deep || depth[e.thread] > 1;
      at_once = at_once || std::count_if(depth.begin(), depth.end(), [](const auto& d) { return d.second > 0; }) > 1;
    }
    nested += deep ? 1 : 0;
    overlapping += at_once ? 1 : 0;
    open += std::any_of(depth.begin(), depth.end(), [](const auto& d) { return d.second > 0; }) ? 1 : 0;
    everything += std::any_of(trace.reaches.begin(), trace.reaches.end(),
                              [](const Reach& r) { return r.begin == 0 && r.length > 1; });
    if (difference(trace).empty()) {
      continue;
    }
    const CallTrace small = oracle::minimise(trace, [](const CallTrace& t) { return !difference(t).empty(); });
    FAIL() << "again with SOOTH_SEED=" << seed << " SOOTH_CASES=1. Shrunk, events from 0:\n"
           << oracle::print_trace(small.events, small.reaches) << difference(small);
  }
  std::cout << cases << " traces: " << with_order << " with order, " << nested << " with nested calls, " << overlapping
            << " with calls at a time, " << open << " open at the end, " << everything << " that reach everything\n";
  if (cases >= 1'000) {
    for (const std::uint64_t count : {with_order, nested, overlapping, open, everything}) {
      EXPECT_GT(count, cases / 50);
    }
  }
}

// Which of two labels comes first in every reordering.
bool ordered(const oracle::TextTrace& trace, const std::string& first, const std::string& second) {
  const auto at = [&](const std::string& label) {
    const auto it = std::find_if(trace.events.begin(), trace.events.end(),
                                 [&](const Event& e) { return trace.labels[raw(e.site)] == label; });
    return static_cast<Index>(it - trace.events.begin());
  };
  const CallTrace calls{trace.events, trace.reaches};
  return closure_of(calls, barrier_order(trace.events, trace.reaches)).ordered(at(first), at(second));
}

TEST(BarrierOrder, HandsOnWhatAnOpenCallHasLearned) {
  // T1 may see in 0x10 that T0 is there, and tell T2 in 0x20: no pair of calls by itself orders 1 and 2.
  const oracle::TextTrace relay = oracle::parse_trace(
      "T1|callbegin(c)|10|=0x10:4,0x20:4 T0|w(x)|1 T0|callbegin(a)|11|=0x10:4 T0|callend(a)|12 "
      "T2|callbegin(b)|13|=0x20:4 T2|callend(b)|14 T2|r(x)|2 T1|callend(c)|15");
  EXPECT_TRUE(ordered(relay, "1", "2"));
  const oracle::TextTrace accesses = oracle::parse_trace(
      "T1|callbegin(c)|10|=0x10:4,0x20:4 T0|w(x)|1 T0|w(0x10:4)|11 T2|r(0x20:4)|12 T2|r(x)|2 T1|callend(c)|15");
  EXPECT_TRUE(ordered(accesses, "1", "2"));
  // It cannot when the one is over before the other begins.
  const oracle::TextTrace too_early = oracle::parse_trace(
      "T2|callbegin(b)|13|=0x20:4 T2|callend(b)|14 T2|r(x)|2 "
      "T1|callbegin(c)|10|=0x20:4 T0|w(x)|1 T0|callbegin(a)|11|=0x10:4 T0|callend(a)|12 T1|callend(c)|15");
  EXPECT_FALSE(ordered(too_early, "2", "1"));
}

TEST(BarrierOrder, LeavesOrdinaryAccessesUnorderedAmongThemselves) {
  const oracle::TextTrace trace =
      oracle::parse_trace("T0|callbegin(a)|10|=0x10:4 T0|callend(a)|11 T1|w(0x10:4)|1 T2|w(0x10:4)|2");
  EXPECT_TRUE(ordered(trace, "11", "1"));
  EXPECT_TRUE(ordered(trace, "11", "2"));
  EXPECT_FALSE(ordered(trace, "1", "2"));
}

TEST(BarrierOrder, LetsWhatTakesTurnsTakeThemAsRecorded) {
  // The call may have taken the first post: then the wait needs the second.
  // `s` is object 1.
  const oracle::TextTrace trace =
      oracle::parse_trace("T3|callbegin(a)|10|=0x1:1 T3|callend(a)|11 T1|post(s)|1 T2|sem_wait(s)|2");
  EXPECT_TRUE(ordered(trace, "1", "2"));
}

TEST(BarrierOrder, GrowsWithTheEventsAndNotWithTheirSquare) {
  // Calls of two threads that all meet, among accesses of a third: quadratic many pairs, few edges.
  constexpr std::uint32_t kCalls = 20'000;
  std::vector<Event> events;
  std::vector<Reach> reaches;
  for (std::uint32_t i = 0; i < kCalls; ++i) {
    const auto add = [&](std::uint32_t thread, Op op, std::uint64_t object, std::uint32_t size) {
      Event e;
      e.thread = ThreadId{thread};
      e.op = op;
      e.object = object;
      e.size = size;
      events.push_back(e);
    };
    reaches.push_back({EventId{events.size()}, 0x1000, 64});
    reaches.push_back({EventId{events.size()}, 0x10'0000 + 64 * i, 64});
    add(i % 2, Op::kCallBegin, i, 0);
    add(2, Op::kWrite, 0x1000, 8);
    add(i % 2, Op::kCallEnd, i, 0);
  }
  EXPECT_LE(barrier_order(events, reaches).size(), 3 * events.size());
}

TEST(BarrierTrace, KeepsNoBranchesAndNoValuesThatCallsMayChange) {
  const oracle::TextTrace text = oracle::parse_trace("T0|w(0x10:4)|1 T0|w(0x20:4)|2 T0|callbegin(c)|3|=0x22:1");
  const std::vector<Value> values{{1, 0, 4}, {2, 0, 4}, {}};
  const std::vector<Branch> branches{{EventId{1}, ThreadId{0}, SiteId{0}, 1}};
  const BarrierTrace with(TraceView{text.events, values, branches, nullptr, text.reaches});
  EXPECT_EQ(with.view().values[0], values[0]);
  EXPECT_EQ(with.view().values[1], Value{});
  EXPECT_TRUE(with.view().branches.empty());
  const BarrierTrace without(TraceView{text.events, values, branches, nullptr});
  EXPECT_EQ(without.view().values[1], values[1]);
  EXPECT_EQ(without.view().branches.size(), 1u);
}

TEST(BarrierGlobals, BelongToEveryCall) {
  Tables tables;
  tables.name_object(ObjectKind::kMemory, 0x10, "x");
  tables.name_range(ObjectKind::kMemory, 0x20, 8, "table");
  const oracle::TextTrace text = oracle::parse_trace("T0|w(0x10:4)|1 T0|callbegin(c)|3|=0x80:1 T0|callbegin(d)|3");
  const std::vector<std::string> names{"x", "table"};
  const Result<std::vector<Reach>> globals = find_globals(tables, text.events, names);
  ASSERT_TRUE(globals.ok());
  EXPECT_EQ(with_globals(text.events, text.reaches, *globals), (std::vector<Reach>{{EventId{1}, 0x80, 1},
                                                                                   {EventId{1}, 0x10, 4},
                                                                                   {EventId{1}, 0x20, 8},
                                                                                   {EventId{2}, 0x10, 4},
                                                                                   {EventId{2}, 0x20, 8}}));
  const std::vector<std::string> unknown{"y"};
  EXPECT_EQ(find_globals(tables, text.events, unknown).status().message(),
            "the trace has no variable `y` (--barrier-global)");
}

}  // namespace
}  // namespace sooth
