// What `sooth record --filter repeat` leaves out, and which analyses find the same pairs without it: random traces in
// the order in which a free-running recording is read, with the repeats and without. SOOTH_CASES sets the number of
// traces per analysis, SOOTH_SEED the first seed.
//
// A repeat has the thread, bytes, site and kind of an earlier access, and the thread did nothing in between but plain
// accesses. A reader puts all of those right behind the thread's last ticketed event, so nothing of another thread
// stands between the two either: what orders one of them with an access of another thread, or protects it, does so with
// the other. But for what the thread itself accessed in between; two analyses look at that, see below.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "base/test_environment.h"
#include "oracle/minimise.h"
#include "oracle/random.h"
#include "oracle/random_trace.h"
#include "oracle/trace_text.h"
#include "pipeline/registry.h"

namespace sooth::oracle {
namespace {

using SitePairSet = std::set<std::pair<std::uint32_t, std::uint32_t>>;

constexpr std::size_t kMaxThreads = 64;  // of a random trace, and more

bool is_plain(const Event& event) { return event.op == Op::kRead || event.op == Op::kWrite; }

// Few variables, and places that threads come back to.
std::vector<Event> repetitive_trace(std::uint64_t seed) {
  Random random(seed ^ 0x6167'6169);
  RandomTraceOptions options = random_options(kProfiles[seed % kProfiles.size()], seed);
  options.variables = random.between(1, 3);
  options.events *= random.between(1, 3);
  std::vector<Event> trace = random_trace(options, seed).events;
  const std::uint32_t sites_per_thread = random.between(1, 4);
  for (Event& event : trace) {
    const std::uint32_t place = random.between(1, sites_per_thread);
    event.site = SiteId((place * 8 + raw(event.thread)) * kOpCount + raw(event.op));
  }
  return trace;
}

// The order of a reader of free-running recordings: plain accesses right behind the last other event of their thread.
// Recorded threads begin with such an event; what stands in front of the first here goes behind the fork or, without
// one, to the start, each thread by itself.
std::vector<Event> as_recorded(std::span<const Event> trace) {
  std::vector<std::vector<Event>> runs(kMaxThreads);  // the first ones are starts
  std::map<ThreadId, std::size_t> run_of;
  for (const Event& event : trace) {
    if (is_plain(event)) {
      runs[run_of.try_emplace(event.thread, raw(event.thread)).first->second].push_back(event);
      continue;
    }
    run_of[event.thread] = runs.size();
    runs.push_back({event});
    if (event.op == Op::kFork) {
      run_of[ThreadId(static_cast<std::uint32_t>(event.object))] = runs.size();
      runs.emplace_back();
    }
  }
  std::vector<Event> ordered;
  for (const std::vector<Event>& run : runs) {
    ordered.insert(ordered.end(), run.begin(), run.end());
  }
  return ordered;
}

// What is recorded of it: the table of the run time library forgets, so some repeats stay.
std::vector<Event> without_repeats(std::span<const Event> trace, std::uint64_t seed) {
  Random random(seed);
  const std::uint32_t forgets = random.percent(50) ? 0 : 30;
  std::map<ThreadId, std::set<std::tuple<std::uint64_t, Op, std::uint32_t, SiteId>>> seen;
  std::vector<Event> left;
  for (const Event& event : trace) {
    auto& of_thread = seen[event.thread];
    if (!is_plain(event)) {
      of_thread.clear();
    } else if (!of_thread.emplace(event.object, event.op, event.size, event.site).second && !random.percent(forgets)) {
      continue;
    }
    left.push_back(event);
  }
  return left;
}

SitePairSet pairs_of(const DetectorInfo& info, const std::vector<Event>& events) {
  const std::unique_ptr<Detector> detector = info.make({});
  Batch batch;
  batch.events = events;
  detector->consume(batch);
  detector->finish();
  SitePairSet pairs;
  for (const SitePair& pair : detector->races().pairs()) {
    pairs.emplace(raw(pair.low_site), raw(pair.high_site));
  }
  return pairs;
}

using Judgement = std::function<bool(const SitePairSet& with, const SitePairSet& without)>;

// `agree` must hold of the pairs with the repeats and without.
void compare(const char* name, const Judgement& agree) {
  const DetectorInfo* detector = find_detector(name);
  ASSERT_NE(detector, nullptr);
  const auto agrees = [&](const std::vector<Event>& trace, std::uint64_t seed) {
    return agree(pairs_of(*detector, trace), pairs_of(*detector, without_repeats(trace, seed)));
  };
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000);
  std::uint64_t with_pairs = 0, events = 0, dropped = 0;
  for (std::uint64_t seed = from_environment("SOOTH_SEED", 1), i = 0; i < cases; ++i, ++seed) {
    const std::vector<Event> trace = as_recorded(repetitive_trace(seed));
    with_pairs += pairs_of(*detector, trace).empty() ? 0 : 1;
    events += trace.size();
    dropped += trace.size() - without_repeats(trace, seed).size();
    if (!agrees(trace, seed)) {
      const std::vector<Event> small =
          minimise(trace, [&](std::span<const Event> t) { return !agrees(as_recorded(t), seed); });
      FAIL() << name << ": again with SOOTH_SEED=" << seed << " SOOTH_CASES=1. Shrunk:\n" << print_trace(small);
    }
  }
  std::cout << name << ": pairs in " << with_pairs << " of " << cases << " traces, "
            << 100 * dropped / std::max<std::uint64_t>(events, 1) << "% of the events left out\n";
  if (cases >= 1'000) {  // or nothing was compared
    EXPECT_GE(with_pairs * 10, cases);
    EXPECT_GE(dropped * 25, events);
  }
}

class RepeatProperty : public testing::TestWithParam<const char*> {};

TEST_P(RepeatProperty, KeepsTheSitePairs) {
  compare(GetParam(), [](const SitePairSet& with, const SitePairSet& without) { return with == without; });
}

INSTANTIATE_TEST_SUITE_P(Detectors, RepeatProperty, testing::Values("hb", "hybrid", "wcp", "cp", "ipa", "ipa:1"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), ':', '_');
                           return name;
                         });

// Of a place that reads a variable before and after its thread writes to it, Eraser reports the second read only. The
// write is reported in any case.
TEST(Lockset, LosesPairsButNoVariable) {
  compare("lockset", [](const SitePairSet& with, const SitePairSet& without) {
    return std::includes(with.begin(), with.end(), without.begin(), without.end()) && with.empty() == without.empty();
  });
  const std::vector<Event> trace = parse_trace("T1|w(x)|1 T0|begin()|9 T0|r(x)|2 T0|w(x)|3 T0|r(x)|2").events;
  EXPECT_EQ(pairs_of(*find_detector("lockset"), trace).size(), 2u);
  EXPECT_EQ(pairs_of(*find_detector("lockset"), {trace.begin(), trace.end() - 1}).size(), 1u);
}

// Which write a read saw decides what syncp may reorder; without the second write of T0 the read of T1 seems to have
// seen the first.
TEST(Syncp, MayMakeUpPairs) {
  const TextTrace trace = parse_trace("T0|w(x)|1 T0|r(x)|2 T0|w(x)|1 T1|r(x)|3 T1|w(x)|4");
  std::vector<Event> left = trace.events;
  left.erase(left.begin() + 2);
  EXPECT_LT(pairs_of(*find_detector("syncp"), trace.events).size(), pairs_of(*find_detector("syncp"), left).size());
}

}  // namespace
}  // namespace sooth::oracle
