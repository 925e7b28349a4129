#include "oracle/oracle.h"

#include <gtest/gtest.h>

#include "oracle/trace_text.h"

namespace sooth::oracle {
namespace {

std::string show(const TextTrace& trace, const std::vector<Candidate>& pairs) {
  std::string text;
  for (const Candidate& pair : pairs) {
    text += (text.empty() ? "" : " ") + trace.labels[raw(trace.events[raw(pair.first)].site)] + "," +
            trace.labels[raw(trace.events[raw(pair.second)].site)];
  }
  return text;
}

TEST(OracleTest, ConflictsNeedACommonByteOfOneGeneration) {
  const auto hb = [](const char* text) {
    const TextTrace trace = parse_trace(text);
    return show(trace, hb_conflicts(trace.events));
  };
  EXPECT_EQ(hb("A|w(0x10:8)|1 B|w(0x17:1)|2 B|w(0x18:8)|3"), "1,2");
  EXPECT_EQ(hb("A|r(x)|1 B|r(x)|2"), "");
  EXPECT_EQ(hb("A|w(x)|1 A|w(x)|2"), "");
  EXPECT_EQ(hb("A|armw(x)|1 B|aload(x)|2 C|r(x)|3"), "1,3");
  EXPECT_EQ(hb("A|w(0x10:8)|1 B|alloc(0x10:4)|2 B|w(0x10:4)|3 B|w(0x12:4)|4"), "1,4");
  EXPECT_EQ(hb("A|r(0x10:1)|1 B|free(0x8:16)|2 C|w(0x17:1)|3"), "1,2 2,3");
}

TEST(OracleTest, HybridIgnoresLockOrderButNotLocks) {
  const auto hybrid = [](const char* text) {
    const TextTrace trace = parse_trace(text);
    return show(trace, hybrid_conflicts(trace.events));
  };
  EXPECT_EQ(hybrid("A|w(x)|1 A|acq(l)|2 A|rel(l)|3 B|acq(l)|4 B|rel(l)|5 B|w(x)|6"), "1,6");
  EXPECT_EQ(hybrid("A|acq(l)|1 A|w(x)|2 A|rel(l)|3 B|racq(l)|4 B|r(x)|5"), "");
  EXPECT_EQ(hybrid("A|racq(l)|1 A|w(x)|2 B|racq(l)|3 B|r(x)|4"), "2,4");
  EXPECT_EQ(hybrid("A|w(x)|1 A|fork(B)|2 B|w(x)|3"), "");
}

TEST(OracleTest, LocksetFollowsEraser) {
  const auto lockset = [](const char* text) {
    const TextTrace trace = parse_trace(text);
    return show(trace, lockset_conflicts(trace.events));
  };
  EXPECT_EQ(lockset("A|w(x)|1 B|r(x)|2 C|r(x)|3"), "");  // never shared-modified
  EXPECT_EQ(lockset("A|w(x)|1 B|r(x)|2 A|w(x)|3"), "2,3");
  EXPECT_EQ(lockset("A|w(x)|1 A|fork(B)|2 B|w(x)|3"), "1,3");                             // must-order is ignored
  EXPECT_EQ(lockset("A|w(x)|1 B|acq(l)|2 B|w(x)|3 B|rel(l)|4 A|acq(l)|5 A|w(x)|6"), "");  // the first owner's is free
  // One empty byte is enough, and only accesses to that byte are reported.
  EXPECT_EQ(lockset("A|w(0x10:1)|1 A|w(0x11:1)|2 B|acq(l)|3 B|w(0x11:1)|4 B|rel(l)|5 B|w(0x10:2)|6"), "1,6 2,6");
  EXPECT_EQ(lockset("A|w(0x10:1)|1 B|acq(l)|2 B|w(0x10:1)|3 A|acq(m)|4 A|w(0x10:1)|5"), "3,5");
  EXPECT_EQ(lockset("A|w(x)|1 B|racq(l)|2 B|w(x)|3"), "1,3");  // reader mode does not protect a write
}

TEST(OracleTest, SitePairsCountSecondAccessesAndPreferTheLatestFirst) {
  const TextTrace trace = parse_trace("A|w(x)|1 B|r(x)|2 C|w(x)|1 B|r(x)|2 B|w(y)|3 A|w(y)|3");
  const std::vector<SitePair> pairs = site_pairs(trace.events, hb_conflicts(trace.events));
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_EQ(pairs[0].high_site, SiteId{0});  // 1 with itself
  EXPECT_EQ(pairs[1].example, (Candidate{EventId{0}, EventId{1}}));
  EXPECT_EQ(pairs[1].second_accesses, 3u);  // events 1, 2 and 3
  EXPECT_EQ(pairs[1].distance, 1u);
  EXPECT_EQ(pairs[2].low_site, SiteId{2});
  EXPECT_EQ(pairs[2].second_accesses, 1u);

  const TextTrace later = parse_trace("A|w(x)|1 C|w(x)|1 D|w(z)|9 B|r(x)|2");
  EXPECT_EQ(site_pairs(later.events, hb_conflicts(later.events))[1].example, (Candidate{EventId{1}, EventId{3}}));
}

}  // namespace
}  // namespace sooth::oracle
