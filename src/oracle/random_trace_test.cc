#include "oracle/random_trace.h"

#include <gtest/gtest.h>

#include <iostream>

#include "oracle/minimise.h"
#include "oracle/oracle.h"
#include "oracle/trace_text.h"
#include "oracle/well_formed.h"

namespace sooth::oracle {
namespace {

TEST(RandomTraceTest, EveryTraceIsWellFormedAndDependsOnTheSeedOnly) {
  for (Profile profile : kProfiles) {
    for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
      const RandomTrace trace = random_trace(profile, seed);
      ASSERT_EQ(why_malformed(trace.events), "") << profile_name(profile) << " " << seed << "\n"
                                                 << print_trace(trace.events);
      ASSERT_EQ(trace.events, random_trace(profile, seed).events);
      ASSERT_GE(trace.events.size(), 1u);
      ASSERT_LE(trace.events.size(), 60u);
    }
  }
}

TEST(RandomTraceTest, EverythingHasEveryFeatureInATenthOfItsTraces) {
  Census census;
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    census.count(random_trace(Profile::kEverything, seed).events);
  }
  census.print(std::cout);
  for (const auto& [feature, count] : census.features()) {
    EXPECT_GE(count * 10, census.traces()) << feature;
  }
}

TEST(WellFormedTest, RejectsWhatTheRulesForbid) {
  const auto malformed = [](const char* text) { return !why_malformed(parse_trace(text).events).empty(); };
  EXPECT_TRUE(malformed("A|acq(l)|1 B|acq(l)|2"));
  EXPECT_TRUE(malformed("A|racq(l)|1 B|acq(l)|2"));
  EXPECT_TRUE(malformed("A|racq(l)|1 A|acq(l)|2"));
  EXPECT_TRUE(malformed("A|acq(l)|1 B|rel(l)|2"));
  EXPECT_TRUE(malformed("A|acq(l)|1 A|rrel(l)|2"));
  EXPECT_TRUE(malformed("B|r(x)|1 A|fork(B)|2"));
  EXPECT_TRUE(malformed("A|fork(B)|1 C|fork(B)|2"));
  EXPECT_TRUE(malformed("A|fork(A)|1"));
  EXPECT_TRUE(malformed("B|r(x)|1 A|join(B)|2 B|r(x)|3"));
  EXPECT_TRUE(malformed("A|end()|1 A|r(x)|2"));
  EXPECT_TRUE(malformed("A|r(x)|1 A|begin()|2"));
  EXPECT_TRUE(malformed("A|callbegin(c)|1 B|callend(c)|2"));
  EXPECT_FALSE(malformed("A|racq(l)|1 B|racq(l)|2 A|racq(l)|3 A|rrel(l)|4 A|rrel(l)|5"));
  EXPECT_FALSE(malformed("A|acq(l)|1 A|racq(l)|2 A|rrel(l)|3 A|rel(l)|4 B|acq(l)|5"));
}

// The tests that compare detectors with the oracle are only worth something if an error of a detector changes an
// answer. So: a happens-before that lacks one kind of edge must be told from the real one.
class WrongOrder : public testing::TestWithParam<EdgeKind> {};

TEST_P(WrongOrder, IsCaughtWithinTenThousandTraces) {
  const auto wrong_pairs = [](std::span<const Event> trace) {
    std::vector<Edge> edges = must_edges(trace);
    const std::vector<Edge> locks = lock_edges(trace);
    edges.insert(edges.end(), locks.begin(), locks.end());
    std::erase_if(edges, [](const Edge& edge) { return edge.kind == GetParam(); });
    return site_pairs(trace, unordered_conflicts(trace, closure(trace.size(), edges)));
  };
  const auto differs = [&](std::span<const Event> trace) {
    return !same_pairs(wrong_pairs(trace), site_pairs(trace, hb_conflicts(trace)));
  };
  for (std::uint64_t seed = 0; seed < 10'000; ++seed) {
    const RandomTrace trace = random_trace(Profile::kEverything, seed);
    if (differs(trace.events)) {
      const std::vector<Event> small = minimise(trace.events, differs);
      EXPECT_TRUE(differs(small));
      EXPECT_LE(small.size(), 8u) << print_trace(small);
      std::cout << "caught at seed " << seed << ", shrunk to " << small.size() << " events\n";
      return;
    }
  }
  FAIL() << "no trace tells happens-before from one without " << edge_kind_name(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Edges, WrongOrder,
                         testing::Values(EdgeKind::kProgram, EdgeKind::kFork, EdgeKind::kJoin, EdgeKind::kSignal,
                                         EdgeKind::kBarrier, EdgeKind::kSemaphore, EdgeKind::kMessage,
                                         EdgeKind::kAtomic, EdgeKind::kFence, EdgeKind::kExclusiveRelease,
                                         EdgeKind::kSharedRelease));

}  // namespace
}  // namespace sooth::oracle
