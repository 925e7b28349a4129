// What the property test of all detectors does not reach: forgetting, and resumed closures on longer traces.
#include "detect/syncp.h"
#include "base/test_environment.h"

#include <gtest/gtest.h>

#include <iostream>
#include <set>

#include "oracle/minimise.h"
#include "oracle/oracle.h"
#include "oracle/random_trace.h"
#include "oracle/sync_preserving.h"
#include "oracle/trace_text.h"

namespace sooth::oracle {
namespace {

// In batches of three events: the detector forgets between batches.
std::vector<SitePair> run(std::span<const Event> trace, const SyncpLimits& limits) {
  const std::unique_ptr<Detector> detector = make_syncp_detector(limits);
  for (std::size_t done = 0; done < trace.size(); done += 3) {
    Batch batch;
    batch.first = EventId{done};
    batch.events = trace.subspan(done, std::min<std::size_t>(3, trace.size() - done));
    detector->consume(batch);
  }
  detector->finish();
  return sorted(detector->races().pairs());
}

// Puts a first event of every unforked thread in front, so that none starts late.
std::vector<Event> with_early_threads(std::span<const Event> trace) {
  std::set<ThreadId> forked;
  std::set<ThreadId> seen;
  std::vector<Event> result;
  for (const Event& e : trace) {
    if (e.op == Op::kFork) {
      forked.insert(ThreadId(e.object));
    }
  }
  for (const Event& e : trace) {
    if (e.op != Op::kBegin && !forked.contains(e.thread) && seen.insert(e.thread).second) {
      Event notify;
      notify.op = Op::kNotify;
      notify.object = 1'000'000;
      notify.thread = e.thread;
      result.push_back(notify);
    }
  }
  for (const Event& e : trace) {
    if (e.op != Op::kBegin) {
      result.push_back(e);
    }
  }
  return result;
}

RandomTrace long_trace(std::uint64_t seed) {
  RandomTraceOptions options = random_options(kProfiles[seed % kProfiles.size()], seed);
  options.events = 40 + static_cast<std::uint32_t>(seed % 60);
  options.locks = 3;
  options.threads = std::min(options.threads, 4u);
  return random_trace(options, seed);
}

TEST(SyncpTest, ReportsTheSameHoweverOftenItForgetsWhenNoThreadStartsLate) {
  const std::uint64_t first_seed = from_environment("SOOTH_SEED", 1);
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000) / 10;
  const auto differs = [](std::span<const Event> trace) {
    const std::vector<SitePair> expected = site_pairs(trace, syncp_conflicts(trace));
    return !same_pairs(run(trace, {.remember = 1}), expected) || !same_pairs(run(trace, {.remember = 20}), expected);
  };
  for (std::uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    const std::vector<Event> trace = with_early_threads(long_trace(seed).events);
    if (differs(trace)) {
      // A shrunk trace may have lost the early events, so the whole one is shown.
      FAIL() << "SOOTH_SEED=" << seed << "\n" << print_trace(trace);
    }
  }
}

// One or two variables that many threads access, mostly without locks: what was found out is forgotten before each
// access, and lists are looked at by group or by thread.
TEST(SyncpTest, ReportsTheSameOfHotVariablesHoweverItSearches) {
  const std::uint64_t first_seed = from_environment("SOOTH_SEED", 1);
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000) / 10;
  const auto differs = [](std::span<const Event> trace) {
    const std::vector<SitePair> expected = site_pairs(trace, syncp_conflicts(trace));
    return !same_pairs(run(trace, {}), expected) || !same_pairs(run(trace, {.searches = 0}), expected) ||
           !same_pairs(run(trace, {.few_groups = 0}), expected);
  };
  for (std::uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    RandomTraceOptions options = random_options(kProfiles[seed % kProfiles.size()], seed);
    options.events = 30 + static_cast<std::uint32_t>(seed % 50);
    options.threads = 2 + static_cast<std::uint32_t>(seed % 9);
    options.variables = 1 + static_cast<std::uint32_t>(seed % 2);
    const RandomTrace trace = random_trace(options, seed);
    if (differs(trace.events)) {
      FAIL() << "SOOTH_SEED=" << seed << ", shrunk:\n" << print_trace(minimise(trace.events, differs));
    }
  }
}

// Threads that start late and unforked, or are idle, are taken to know what was forgotten: pairs may be missing, none
// is added.
class Forgetting : public testing::TestWithParam<bool> {};

TEST_P(Forgetting, AddsNoPair) {
  const bool skip_idle = GetParam();
  const std::uint64_t first_seed = from_environment("SOOTH_SEED", 1);
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000) / 10;
  std::uint64_t missing = 0;
  const auto adds_a_pair = [&](std::span<const Event> trace) {
    std::set<std::pair<SiteId, SiteId>> expected;
    for (const SitePair& pair : site_pairs(trace, syncp_conflicts(trace))) {
      expected.emplace(pair.low_site, pair.high_site);
    }
    const std::vector<SitePair> found = run(trace, {.remember = 1, .remember_for_idle = skip_idle ? 1u : 1'000u});
    missing += found.size() < expected.size() ? 1 : 0;
    return std::any_of(found.begin(), found.end(), [&](const SitePair& pair) {
      return !expected.contains({pair.low_site, pair.high_site});
    });
  };
  for (std::uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    const RandomTrace trace = long_trace(seed);
    if (adds_a_pair(trace.events)) {
      FAIL() << "SOOTH_SEED=" << seed << ", shrunk:\n" << print_trace(minimise(trace.events, adds_a_pair));
    }
  }
  std::cout << cases << " traces, " << missing << " with a pair missing\n";
  EXPECT_TRUE(cases < 500 || missing > 0) << "nothing was forgotten";
}

INSTANTIATE_TEST_SUITE_P(Limits, Forgetting, testing::Bool(),
                         [](const auto& test) { return test.param ? "skipping_idle_threads" : "of_all_threads"; });

TEST(SyncpTest, ForgetsWhatAllRunningThreadsKnow) {
  // The write of x is forgotten once B knows it, and C comes too late for it.
  const TextTrace late = parse_trace("B|notify(s)|0 A|w(x)|1 A|w(y)|2 B|r(y)|3 B|r(y)|3 B|r(y)|3 C|w(x)|4");
  EXPECT_EQ(run(late.events, {}).size(), 2u);
  EXPECT_EQ(run(late.events, {.remember = 1}).size(), 1u);
  // C is there from the beginning, but idle.
  const TextTrace idle = parse_trace(
      "B|notify(s)|0 C|notify(s)|0 A|w(x)|1 A|w(y)|2 A|w(y)|2 A|w(y)|2 B|r(y)|3 B|r(y)|3 B|r(y)|3 "
      "A|r(z)|5 B|r(y)|3 B|r(y)|3 C|w(x)|4");
  EXPECT_EQ(run(idle.events, {.remember = 1}).size(), 2u);
  EXPECT_EQ(run(idle.events, {.remember = 1, .remember_for_idle = 1}).size(), 1u);
}

// A variable on which all threads race: each access asks few of the lists there are, and what is remembered of searches
// does not grow with the cube of the threads.
TEST(SyncpTest, TakesNoTimeForManyThreadsOnOneVariable) {
  constexpr int kThreads = 500;
  std::string text;
  for (int i = 0; i < 40'000; ++i) {
    const std::string thread = "T" + std::to_string(i * 7 % kThreads);
    text += thread + "|w(x)|1 " + thread + "|r(x)|2 ";
  }
  const TextTrace trace = parse_trace(text);
  const std::vector<SitePair> pairs = run(trace.events, {});
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].second_accesses, 39'999u);      // writes
  EXPECT_EQ(pairs[1].second_accesses, 2 * 39'999u);  // writes after reads, and reads
}

// Loops: a list keeps one access of a segment and answers are kept with it, so this takes no time.
TEST(SyncpTest, CountsSecondAccessesOfLoops) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) {
    text += "A|w(x)|1 B|r(y)|2 B|w(x)|3 A|acq(l)|4 A|rel(l)|5 B|acq(m)|6 B|rel(m)|7 ";
  }
  const TextTrace trace = parse_trace(text);
  const std::vector<SitePair> pairs = run(trace.events, {});
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0].second_accesses, 39'999u);
  EXPECT_EQ(pairs[0].distance, 2u);
}

}  // namespace
}  // namespace sooth::oracle
