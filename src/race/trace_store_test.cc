#include "race/trace_store.h"

#include <gtest/gtest.h>

#include "race/witness_summary.h"
#include "trace/memory_trace.h"
#include "trace/text/std_testing.h"

namespace sooth {
namespace {

constexpr char kText[] =
    "A|w(x)|1\nB|w(0x10:4)|2|=7\nB|branch|9\nA|r(x)|3\nA|w(z)|4\nB|branch|9\nB|r(0x10:4)|5|=7\nA|acq(m)|6\n";

Result<TraceStore> load(std::string_view text, std::uint64_t max_events, EventId up_to) {
  auto reader = read_std_text(text, "t.std", {kValues | kBranches});
  EXPECT_TRUE(reader.ok());
  return load_trace(**reader, max_events, up_to);
}

TEST(TraceStoreTest, HoldsTheWholeTrace) {
  const Result<TraceStore> store = load(kText, 6, kWholeTrace);
  ASSERT_TRUE(store.ok()) << store.status().message();
  const TraceView view = store->view();
  EXPECT_EQ(view.events.size(), 6u);
  ASSERT_EQ(view.values.size(), 6u);
  EXPECT_EQ(view.values[0].size, 0);
  EXPECT_EQ(view.values[4].low, 7u);
  ASSERT_EQ(view.branches.size(), 2u);
  EXPECT_EQ(view.branches[1].before, EventId{4});
  EXPECT_EQ(view.tables->thread_name(view.events[1].thread), "B");
  EXPECT_TRUE(store->info().exact);
}

TEST(TraceStoreTest, HoldsAPrefix) {
  const Result<TraceStore> store = load(kText, 4, EventId{4});
  ASSERT_TRUE(store.ok()) << store.status().message();
  EXPECT_EQ(store->view().events.size(), 4u);
  EXPECT_EQ(store->view().values.size(), 4u);
  EXPECT_EQ(store->view().branches.size(), 1u);
  EXPECT_EQ(load(kText, 4, EventId{0})->view().events.size(), 0u);
  EXPECT_EQ(load(kText, 40, EventId{40})->view().events.size(), 6u);
}

TEST(TraceStoreTest, PrefixesEndInsideAndBetweenBatches) {
  MemoryTrace trace;
  trace.tables.add_thread("A");
  trace.tables.add_site({});
  for (std::uint64_t i = 0; i < 10; ++i) {
    trace.events.push_back({.object = 16 * i, .thread = ThreadId{0}, .site = SiteId{0}, .size = 4, .op = Op::kWrite});
    trace.branches.push_back({EventId{i}, ThreadId{0}, SiteId{0}, i});
  }
  trace.info.columns = kBranches;
  for (std::uint64_t up_to = 0; up_to <= 12; ++up_to) {
    MemoryTraceReader reader(trace, 3);
    const Result<TraceStore> store = load_trace(reader, 10, EventId{up_to});
    ASSERT_TRUE(store.ok()) << store.status().message();
    const TraceView view = store->view();
    EXPECT_EQ(view.events.size(), std::min<std::uint64_t>(up_to, 10));
    EXPECT_EQ(view.branches.size(), view.events.size());
    EXPECT_TRUE(std::equal(view.events.begin(), view.events.end(), trace.events.begin()));
  }
}

TEST(TraceStoreTest, RefusesWhatIsTooLongOrMalformed) {
  EXPECT_EQ(load(kText, 5, kWholeTrace).status().message(),
            "the trace has more than 5 events, the most that may be kept in memory");
  EXPECT_EQ(load("A|rel(m)|1\n", 5, kWholeTrace).status().message(),
            "event 0 (A): releases lock m which it does not hold");
}

TEST(TraceStoreTest, ValuesOfInexactTracesProveNothing) {
  const std::string text = "A|w(0x10:4)|1|=7\nB|r(0x10:4)|2|=8\n";
  EXPECT_EQ(load(text, 5, kWholeTrace).status().message(),
            "event 1 (B): reads 0x8 from 0x10, where the last writes left 0x7");
  EXPECT_TRUE(load("# sooth: exact=no\n" + text, 5, kWholeTrace).ok());
}

TEST(WitnessSummaryTest, RunsAreStretchesOfOneThread) {
  const WholeTrace trace = must_read("A|r(x)|1\nB|r(x)|2\nA|r(x)|3\nB|r(x)|4\nA|w(x)|5\nB|w(x)|6\n");
  const TraceView view{trace.events, {}, {}, nullptr};
  const Witness witness{FindingKind::kRace, {EventId{0}, EventId{2}, EventId{1}, EventId{3}}, {EventId{4}, EventId{5}}};
  const WitnessSummary summary = summarise(witness, view);
  EXPECT_TRUE(summary.checked);
  EXPECT_EQ(summary.order, witness.order);
  const std::vector<WitnessSummary::Run> runs = {{ThreadId{0}, EventId{0}, EventId{2}},
                                                 {ThreadId{1}, EventId{1}, EventId{3}}};
  EXPECT_EQ(summary.runs, runs);
  EXPECT_EQ(*expand(summary, view), witness.order);
}

TEST(WitnessSummaryTest, LongOrdersAreRunsOnly) {
  std::vector<Event> events(kMaxListedOrder + 1, Event{.size = 1, .op = Op::kRead});
  Witness witness;
  for (std::size_t i = 0; i < events.size(); ++i) {
    witness.order.push_back(EventId{i});
  }
  const TraceView view{events, {}, {}, nullptr};
  const WitnessSummary summary = summarise(witness, view);
  EXPECT_TRUE(summary.order.empty());
  EXPECT_EQ(summary.runs.size(), 1u);
  EXPECT_EQ(*expand(summary, view), witness.order);
}

TEST(WitnessSummaryTest, ExpandDistrustsItsInput) {
  const WholeTrace trace = must_read("A|r(x)|1\nB|r(x)|2\nA|r(x)|3\n");
  const TraceView view{trace.events, {}, {}, nullptr};
  const auto complaint = [&](std::vector<WitnessSummary::Run> runs, std::vector<EventId> order) {
    const Result<std::vector<EventId>> expanded =
        expand({true, "", false, std::move(order), std::move(runs), {}, {}}, view);
    return expanded.ok() ? "" : expanded.status().message();
  };
  const auto run = [](std::uint32_t thread, std::uint64_t first, std::uint64_t last) {
    return WitnessSummary::Run{ThreadId{thread}, EventId{first}, EventId{last}};
  };
  EXPECT_EQ(complaint({}, {}), "");
  EXPECT_EQ(complaint({run(0, 0, 2)}, {EventId{0}, EventId{2}}), "");
  EXPECT_EQ(complaint({run(0, 0, 2)}, {EventId{0}}), "the order and its runs do not say the same");
  EXPECT_EQ(complaint({run(0, 0, 1)}, {}), "the run [0, 0, 1] is wrong: event 1 is none of thread 0");
  EXPECT_EQ(complaint({run(7, 0, 2)}, {}), "the run [7, 0, 2] is wrong: event 0 is none of thread 7");
  EXPECT_EQ(complaint({run(0, 0, 9)}, {}), "the run [0, 0, 9] is wrong: event 9 is none of thread 0");
  EXPECT_EQ(complaint({run(0, 2, 0)}, {}), "the run [0, 2, 0] ends before it begins");
  EXPECT_EQ(complaint({run(0, 0, 2), run(0, 0, 2)}, {}), "the run [0, 0, 2] makes the order longer than the trace");
}

}  // namespace
}  // namespace sooth
