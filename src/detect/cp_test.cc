#include "detect/cp.h"
#include "base/test_environment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <set>

#include "detect/hb.h"
#include "oracle/oracle.h"
#include "oracle/partial_orders.h"
#include "oracle/random_trace.h"
#include "oracle/trace_text.h"

namespace sooth {
namespace {

using oracle::parse_trace;
using oracle::TextTrace;

using Sites = std::set<std::pair<SiteId, SiteId>>;

Sites sites_of(std::span<const SitePair> pairs) {
  Sites sites;
  for (const SitePair& pair : pairs) {
    sites.emplace(pair.low_site, pair.high_site);
  }
  return sites;
}

Sites run(Detector& detector, std::span<const Event> trace) {
  Batch batch;
  batch.events = trace;
  detector.consume(batch);
  detector.finish();
  return sites_of(detector.races().pairs());
}

Sites cp(std::span<const Event> trace, std::uint64_t window = 2'000) {
  return run(*make_cp_detector({.window = window}), trace);
}

// The labels of the pairs: "1,8 3,4".
std::string labels(const char* text, std::uint64_t window = 2'000) {
  const TextTrace trace = parse_trace(text);
  std::string line;
  for (const auto& [low, high] : cp(trace.events, window)) {
    line += (line.empty() ? "" : " ") + trace.labels[raw(low)] + "," + trace.labels[raw(high)];
  }
  return line;
}

// Figures 1b and 2b of the WCP paper: CP finds the first race and not the second.
TEST(CpTest, FindsRacesThatHappensBeforeHides) {
  EXPECT_EQ(labels("T1|w(y)|1 T1|acq(l)|2 T1|r(x)|3 T1|rel(l)|4 T2|acq(l)|5 T2|r(x)|6 T2|rel(l)|7 T2|r(y)|8"), "1,8");
  EXPECT_EQ(labels("T1|w(y)|1 T1|acq(l)|2 T1|w(x)|3 T1|rel(l)|4 T2|acq(l)|5 T2|r(y)|6 T2|r(x)|7 T2|rel(l)|8"), "");
}

// Rule (b): the sections of m contain events that rule (a) orders through l.
TEST(CpTest, SectionsThatContainOrderedEventsAreOrdered) {
  const char* kTrace =
      "T1|w(y)|1 T1|acq(m)|2 T1|acq(l)|3 T1|w(x)|4 T1|rel(l)|5 T1|rel(m)|6 "
      "T2|acq(m)|7 T2|w(y)|8 T2|acq(l)|9 T2|w(x)|10 T2|rel(l)|11 T2|rel(m)|12";
  EXPECT_EQ(labels(kTrace), "");
}

TEST(CpTest, WindowsAreApart) {
  const char* kTrace = "T1|w(x)|1 T1|w(y)|2 T2|w(y)|3 T2|w(x)|4";
  EXPECT_EQ(labels(kTrace), "1,4 2,3");
  EXPECT_EQ(labels(kTrace, 2), "");     // 1 2 | 3 4
  EXPECT_EQ(labels(kTrace, 3), "2,3");  // 1 2 3 | 4
  EXPECT_EQ(labels(kTrace, 1), "");
}

// The window starts inside T1's section: as if its first event there had acquired the lock.
TEST(CpTest, LocksHeldAtTheStartOfAWindowAreKnown) {
  const char* kSplit = "T1|acq(l)|1 T1|w(x)|2 T1|rel(l)|3 T2|acq(l)|4 T2|w(x)|5 T2|rel(l)|6 T3|r(z)|7 T3|r(z)|8";
  for (std::uint64_t window = 1; window <= 8; ++window) {
    EXPECT_EQ(labels(kSplit, window), "") << window;
  }
}

// Window 2 starts with a post that nobody has taken: T2's wait takes it, not T1's new one.
TEST(CpTest, SemaphoresAreFollowedAcrossWindows) {
  const char* kTrace =
      "T1|post(s)|1 T1|post(s)|2 T3|sem_wait(s)|3 T3|r(z)|4 "
      "T1|w(x)|5 T1|post(s)|6 T2|sem_wait(s)|7 T2|w(x)|8";
  EXPECT_EQ(labels(kTrace, 4), "5,8");
  EXPECT_EQ(labels(kTrace, 8), "5,8");
}

TEST(CpTest, NotesSayWhatWasNotCompared) {
  const TextTrace trace = parse_trace("T1|w(x)|1 T2|w(x)|2 T1|w(x)|3");
  const auto whole = make_cp_detector({.window = 3});
  run(*whole, trace.events);
  EXPECT_TRUE(whole->notes().empty());
  const auto split = make_cp_detector({.window = 2});
  run(*split, trace.events);
  ASSERT_EQ(split->notes().size(), 1u);
  EXPECT_NE(split->notes()[0].find("2 windows of 2 events"), std::string::npos) << split->notes()[0];
}

bool subset(const Sites& small, const Sites& large) {
  return std::includes(large.begin(), large.end(), small.begin(), small.end());
}

// On traces of locks only, happens-before finds the least and WCP the most; smaller windows never find more.
TEST(CpTest, LiesBetweenHappensBeforeAndWcp) {
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000);
  const std::uint64_t first_seed = from_environment("SOOTH_SEED", 1);
  std::uint64_t beyond_hb = 0;
  std::uint64_t beyond_cp = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    const auto profile = seed % 2 == 0 ? oracle::Profile::kLocks : oracle::Profile::kNestedLocks;
    oracle::RandomTraceOptions options = oracle::random_options(profile, seed);
    options.sites = 60;
    const oracle::RandomTrace trace = oracle::random_trace(options, seed);
    const Sites found = cp(trace.events);
    const Sites hb = run(*make_hb_detector(), trace.events);
    const Sites wcp = sites_of(oracle::site_pairs(trace.events, oracle::wcp_conflicts(trace.events)));
    ASSERT_TRUE(subset(hb, found)) << "seed " << seed << "\n" << oracle::print_trace(trace.events);
    ASSERT_TRUE(subset(found, wcp)) << "seed " << seed << "\n" << oracle::print_trace(trace.events);
    beyond_hb += found.size() > hb.size() ? 1 : 0;
    beyond_cp += wcp.size() > found.size() ? 1 : 0;
  }
  std::cout << cases << " traces, CP beyond HB in " << beyond_hb << ", WCP beyond CP in " << beyond_cp << "\n";
  if (cases >= 1'000) {
    EXPECT_GT(beyond_hb, 0u);
    EXPECT_GT(beyond_cp, 0u);
  }
}

}  // namespace
}  // namespace sooth
