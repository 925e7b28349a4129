// The definition of sync-preserving races against the explorer: every one of them can be reached.
#include "oracle/sync_preserving.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "base/test_environment.h"
#include "oracle/explorer.h"
#include "oracle/minimise.h"
#include "oracle/oracle.h"
#include "oracle/random_trace.h"
#include "oracle/trace_text.h"

namespace sooth::oracle {
namespace {

bool has_unreachable_pair(std::span<const Event> trace) {
  const std::vector<Candidate> pairs = syncp_conflicts(trace);
  if (pairs.empty()) {
    return false;
  }
  const Exploration found = explore(trace);
  return found.complete && std::any_of(pairs.begin(), pairs.end(), [&](const Candidate& pair) {
           return !found.races.contains({pair.first, pair.second});
         });
}

TEST(SyncPreservingTest, EveryPairIsAPredictableRace) {
  const std::uint64_t first_seed = from_environment("SOOTH_SEED", 1);
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000);
  std::uint64_t with_pairs = 0;
  std::uint64_t beyond_hb = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    RandomTraceOptions options = random_options(kProfiles[seed % kProfiles.size()], seed);
    options.events = std::min(options.events, 16u);
    options.threads = std::min(options.threads, 3u);
    const RandomTrace trace = random_trace(options, seed);
    if (has_unreachable_pair(trace.events)) {
      FAIL() << "SOOTH_SEED=" << seed << ", shrunk:\n" << print_trace(minimise(trace.events, has_unreachable_pair));
    }
    const std::vector<Candidate> pairs = syncp_conflicts(trace.events);
    const std::vector<Candidate> hb = hb_conflicts(trace.events);
    with_pairs += pairs.empty() ? 0 : 1;
    beyond_hb += std::all_of(pairs.begin(), pairs.end(),
                             [&](const Candidate& pair) { return std::find(hb.begin(), hb.end(), pair) != hb.end(); })
                     ? 0
                     : 1;
  }
  std::cout << cases << " traces, " << with_pairs << " with a pair, " << beyond_hb
            << " with one beyond happens-before\n";
  if (cases >= 1'000) {
    EXPECT_GT(with_pairs * 10, cases);
    EXPECT_GT(beyond_hb * 100, cases);
  }
}

std::string pairs_of(const char* text) {
  std::string pairs;
  for (const Candidate& pair : syncp_conflicts(parse_trace(text).events)) {
    pairs += std::to_string(raw(pair.first)) + "," + std::to_string(raw(pair.second)) + " ";
  }
  return pairs;
}

TEST(SyncPreservingTest, FollowsEveryRuleOfTheClosure) {
  // Must-order, not only thread order.
  EXPECT_EQ(pairs_of("A|w(x)|0 A|fork(B)|1 B|r(x)|2"), "");
  // A read needs its write; the racing accesses themselves do not.
  EXPECT_EQ(pairs_of("A|w(x)|0 A|w(y)|1 B|r(y)|2 B|r(x)|3"), "1,2 ");
  // A section before e2 owes nothing to one that is not needed; ...
  EXPECT_EQ(pairs_of("A|acq(l)|0 A|rel(l)|1 A|w(x)|2 B|acq(l)|3 B|rel(l)|4 B|w(x)|5"), "2,5 ");
  EXPECT_EQ(pairs_of("A|w(x)|0 A|acq(l)|1 A|rel(l)|2 B|acq(l)|3 B|rel(l)|4 B|w(x)|5"), "0,5 ");
  // ... one that is open at e1 has to end first, unless both share the lock.
  EXPECT_EQ(pairs_of("A|acq(l)|0 A|w(x)|1 A|rel(l)|2 B|acq(l)|3 B|rel(l)|4 B|w(x)|5"), "");
  EXPECT_EQ(pairs_of("A|racq(l)|0 A|w(x)|1 A|rrel(l)|2 B|racq(l)|3 B|rrel(l)|4 B|w(x)|5"), "1,5 ");
  EXPECT_EQ(pairs_of("A|racq(l)|0 A|w(x)|1 A|rrel(l)|2 B|acq(l)|3 B|rel(l)|4 B|w(x)|5"), "");
}

}  // namespace
}  // namespace sooth::oracle
