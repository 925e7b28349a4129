#include "predict/search.h"

#include <gtest/gtest.h>

#include "oracle/trace_text.h"
#include "oracle/witness_judge.h"

namespace sooth {
namespace {

Prediction race(std::span<const Event> trace, std::span<const Branch> branches, std::uint64_t a, std::uint64_t b,
                const Budget& budget = {}, const SearchStages& stages = {}) {
  const TraceIndex index(TraceView{trace, {}, branches});
  return find_race(index, {EventId{a}, EventId{b}}, budget, nullptr, stages);
}

// B's section must run before A's, which stays open at the racing write, although the trace has them the other way.
constexpr const char* kReversed = "A|acq(l)|0 A|w(x)|1 A|rel(l)|2 B|acq(l)|3 B|rel(l)|4 B|w(x)|5";

TEST(SearchTest, ReversesSectionsWhenItMust) {
  const oracle::TextTrace trace = oracle::parse_trace(kReversed);
  Effort effort;
  const TraceIndex index(TraceView{trace.events, {}, {}});
  const Prediction prediction = find_race(index, {EventId{1}, EventId{5}}, Budget{}, &effort);
  ASSERT_TRUE(std::holds_alternative<Witness>(prediction));
  EXPECT_EQ(effort.decided_by, DecidedBy::kSearch);
  EXPECT_EQ(std::get<Witness>(prediction).order, (std::vector<EventId>{EventId{3}, EventId{4}, EventId{0}}));
  EXPECT_EQ(oracle::why_no_witness({trace.events, {}, {}}, std::get<Witness>(prediction)), "");
}

TEST(SearchTest, RunsAThreadBeyondWhatIsNeededToGetALock) {
  // C's section is needed up to its write only, but somebody else needs the lock: it goes on to the release.
  const oracle::TextTrace trace =
      oracle::parse_trace("A|acq(l)|0 A|w(x)|1 A|rel(l)|2 C|acq(l)|3 C|w(y)|4 C|w(z)|5 C|rel(l)|6 B|r(y)|7 B|w(x)|8");
  const Prediction prediction = race(trace.events, {}, 1, 8);
  ASSERT_TRUE(std::holds_alternative<Witness>(prediction));
  EXPECT_EQ(oracle::why_no_witness({trace.events, {}, {}}, std::get<Witness>(prediction)), "");
}

TEST(SearchTest, DoesNotOverwriteWhatAnOptionalReadWaitsFor) {
  // The race needs the writes to y and z, so C or D must release the lock, and read x or u before A writes them.
  const oracle::TextTrace trace = oracle::parse_trace(
      "A|w(q)|0 C|acq(l)|1 C|w(y)|2 C|r(x)|3 C|rel(l)|4 D|acq(l)|5 D|w(z)|6 D|r(u)|7 D|rel(l)|8 A|w(x)|9 A|w(u)|10 "
      "A|w(t)|11 B|r(y)|12 B|r(z)|13 B|w(t)|14");
  for (const bool inference : {false, true}) {
    const Prediction prediction = race(trace.events, {}, 11, 14, Budget{}, {.closure = false, .inference = inference});
    ASSERT_TRUE(std::holds_alternative<Witness>(prediction));
    EXPECT_EQ(oracle::why_no_witness({trace.events, {}, {}}, std::get<Witness>(prediction)), "");
  }
}

TEST(SearchTest, SaysWhenItGaveUp) {
  // Both threads write x and read it back: without inference somebody has to choose who is first.
  const oracle::TextTrace trace = oracle::parse_trace("B|w(x)|0 B|r(x)|1 B|w(z)|2 A|w(x)|3 A|r(x)|4 A|r(z)|5");
  const SearchStages search_only{.closure = false, .inference = false};
  const Prediction stopped = race(trace.events, {}, 2, 5, Budget{.states = 0}, search_only);
  ASSERT_TRUE(std::holds_alternative<Unknown>(stopped));
  EXPECT_EQ(std::get<Unknown>(stopped).reason, "the search gave up after 0 states");
  EXPECT_TRUE(std::holds_alternative<Witness>(race(trace.events, {}, 2, 5, Budget{.states = 1}, search_only)));
}

TEST(SearchTest, AReadBindsWhenABranchFollowsIt) {
  const oracle::TextTrace reads = oracle::parse_trace("A|w(x)|0 A|w(y)|1 B|r(y)|2 B|w(x)|3");
  const Branch branch{EventId{0}, ThreadId{0}, SiteId{0}, 1};
  const Branch behind{EventId{3}, ThreadId{1}, SiteId{0}, 1};
  EXPECT_TRUE(std::holds_alternative<Infeasible>(race(reads.events, {}, 0, 3)));
  EXPECT_TRUE(std::holds_alternative<Infeasible>(race(reads.events, {&behind, 1}, 0, 3)));
  const Prediction free = race(reads.events, {&branch, 1}, 0, 3);
  ASSERT_TRUE(std::holds_alternative<Witness>(free));
  EXPECT_EQ(oracle::why_no_witness({reads.events, {}, {&branch, 1}}, std::get<Witness>(free)), "");
  const oracle::TextTrace must = oracle::parse_trace("A|w(x)|0 A|notify(y)|1 B|wait(y)|2 B|w(x)|3");
  EXPECT_TRUE(std::holds_alternative<Infeasible>(race(must.events, {&branch, 1}, 0, 3)));
  const oracle::TextTrace lock = oracle::parse_trace("A|acq(l)|0 A|w(x)|1 A|rel(l)|2 B|acq(l)|3 B|w(x)|4");
  EXPECT_TRUE(std::holds_alternative<Infeasible>(race(lock.events, {&branch, 1}, 1, 4)));
}

TEST(SearchTest, DeadlocksNeedACycleOfDifferentThreads) {
  const oracle::TextTrace trace =
      oracle::parse_trace("A|acq(l)|0 A|acq(m)|1 A|rel(m)|2 A|rel(l)|3 B|acq(m)|4 B|acq(l)|5 B|acq(l)|6");
  const TraceIndex index(TraceView{trace.events, {}, {}});
  const auto ask = [&](std::vector<EventId> acquires) { return find_deadlock(index, acquires, Budget{}).index(); };
  EXPECT_EQ(ask({EventId{1}, EventId{5}}), 0u);
  EXPECT_EQ(ask({EventId{5}, EventId{1}}), 0u);
  EXPECT_EQ(ask({EventId{1}}), 1u);
  EXPECT_EQ(ask({EventId{0}, EventId{1}}), 1u);
  EXPECT_EQ(ask({EventId{1}, EventId{6}}), 1u);  // re-entrant: waits for nobody
  EXPECT_EQ(ask({EventId{1}, EventId{4}}), 1u);
}

}  // namespace
}  // namespace sooth
