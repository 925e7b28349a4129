// Every mode of TREE in front of every chain of detectors that it claims: the same site pairs with and without, on
// thousands of random traces. SOOTH_CASES sets the number of traces per chain, SOOTH_SEED the first seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <set>
#include <sstream>

#include "base/test_environment.h"
#include "oracle/explorer.h"
#include "oracle/minimise.h"
#include "oracle/oracle.h"
#include "oracle/random.h"
#include "oracle/random_trace.h"
#include "oracle/trace_text.h"
#include "pipeline/analysis.h"
#include "pipeline/filters.h"

namespace sooth::oracle {
namespace {

using SitePairSet = std::set<std::pair<std::uint32_t, std::uint32_t>>;

struct Outcome {
  SitePairSet pairs;
  std::uint64_t first_race = ~std::uint64_t{0};  // the smallest second access of any pair
};

// What a filter let through, cut into batches as the seed says: a filter must not care. Without one, everything.
std::vector<AccessRecord> passed(std::span<const Event> trace, Filter* filter, std::uint64_t seed) {
  Random random(seed);
  std::vector<AccessRecord> all;
  for (std::size_t done = 0; done < trace.size();) {
    const std::size_t count = random.percent(30) ? trace.size() - done : random.between(1, 9);
    Batch batch;
    batch.first = EventId{done};
    batch.events = trace.subspan(done, std::min(count, trace.size() - done));
    done += batch.events.size();
    const Batch left = filter == nullptr ? batch : filter->hide(batch);
    for (std::size_t i = 0; i < left.events.size(); ++i) {
      all.push_back({left.events[i], left.id(i), 0, kNoLocks, kNoStack});
    }
  }
  return all;
}

Outcome run_detector(const DetectorInfo& info, const std::vector<AccessRecord>& records) {
  std::vector<Event> events;
  std::vector<EventId> ids;
  for (const AccessRecord& record : records) {
    events.push_back(record.event);
    ids.push_back(record.id);
  }
  const std::unique_ptr<Detector> detector = info.make({});
  Batch batch;
  batch.events = events;
  batch.ids = ids;
  detector->consume(batch);
  detector->finish();
  Outcome outcome;
  for (const SitePair& pair : detector->races().pairs()) {
    outcome.pairs.emplace(raw(pair.low_site), raw(pair.high_site));
    outcome.first_race = std::min(outcome.first_race, raw(pair.example.second));
  }
  return outcome;
}

// A filter that forgets a lot, looks away a lot, or neither.
TreeOptions vary(TreeOptions options, std::uint64_t seed) {
  Random random(seed ^ 0x74726565);
  options.patience = random.percent(30) ? random.between(1, 12) : 0;
  options.locations = random.percent(30) ? random.between(4, 16) : 1000;
  return options;
}

// The traces of the oracles, but with sites as programs have them: a thread comes back to the same place, and what is
// found there does not show up everywhere else too. A hidden access that should have passed then leaves a gap.
std::vector<Event> repetitive_trace(std::uint64_t seed) {
  Random random(seed ^ 0x72657065);
  RandomTraceOptions options = random_options(kProfiles[seed % kProfiles.size()], seed);
  options.variables = random.between(1, 3);
  options.locks = random.percent(30) ? 1 : options.locks;
  options.threads = random.percent(30) ? 2 : options.threads;
  options.shared_percent = random.percent(30) ? 60 : options.shared_percent;
  options.events *= random.between(1, 2);
  std::vector<Event> trace = random_trace(options, seed).events;
  const bool by_thread = random.percent(70);
  const std::size_t block = random.percent(50) ? trace.size() : random.between(4, 20);
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const std::uint32_t thread = by_thread ? raw(trace[i].thread) : 0;
    const std::uint32_t kind = random.percent(90) ? raw(trace[i].op) : 0;
    trace[i].site = SiteId(((i / block) * 8 + thread) * kOpCount + kind);
  }
  return trace;
}

bool same(const TreeModeInfo& mode, const Outcome& with, const Outcome& without) {
  return mode.first_race_only
             ? with.first_race == without.first_race &&
                   std::includes(without.pairs.begin(), without.pairs.end(), with.pairs.begin(), with.pairs.end())
             : with.pairs == without.pairs;
}

struct Chain {
  const char* mode;
  const char* detectors;
};
void PrintTo(const Chain& chain, std::ostream* out) { *out << chain.mode << " " << chain.detectors; }

struct Comparison {
  std::uint64_t with_pairs = 0;  // traces in which a detector finds something
  std::uint64_t accesses = 0;
  std::uint64_t hidden = 0;
  std::string mismatch;  // empty: none; else seed, shrunk trace and both answers
};

// `options` as choose_filter() makes them, or as it would if it did not refuse.
Comparison compare(const TreeModeInfo& mode, const TreeOptions& options,
                   const std::vector<const DetectorInfo*>& detectors, std::uint64_t cases) {
  Comparison result;
  for (std::uint64_t seed = from_environment("SOOTH_SEED", 1), i = 0; i < cases && result.mismatch.empty();
       ++i, ++seed) {
    const std::vector<Event> trace = repetitive_trace(seed);
    const TreeOptions varied = vary(options, seed);
    for (const DetectorInfo* detector : detectors) {
      const auto outcome = [&](std::span<const Event> t, Filter* filter) {
        return run_detector(*detector, passed(t, filter, seed));
      };
      const auto differs = [&](std::span<const Event> t) {
        return !same(mode, outcome(t, make_tree_filter(varied).get()), outcome(t, nullptr));
      };
      const std::unique_ptr<TreeFilter> filter = make_tree_filter(varied);
      const Outcome with = outcome(trace, filter.get());
      const Outcome without = outcome(trace, nullptr);
      result.with_pairs += without.pairs.empty() ? 0 : 1;
      result.accesses += filter->counts().looked_at;
      result.hidden += filter->counts().hidden_intra + filter->counts().hidden_inter;
      if (!same(mode, with, without)) {
        const std::vector<Event> small = minimise(trace, differs);
        std::ostringstream text;
        text << mode.name << " in front of " << detector->name << " differs; again with SOOTH_SEED=" << seed
             << " SOOTH_CASES=1. Shrunk, events from 0:\n"
             << print_trace(small) << "passed:";
        const std::unique_ptr<TreeFilter> again = make_tree_filter(varied);
        for (const AccessRecord& record : passed(small, again.get(), seed)) {
          text << ' ' << raw(record.id);
        }
        result.mismatch = text.str();
        break;
      }
    }
  }
  return result;
}

std::vector<const DetectorInfo*> parsed(const char* names) {
  std::vector<const DetectorInfo*> rows = *parse_detectors(names);
  std::erase(rows, find_detector("deadlock"));
  return rows;
}

class FilterProperty : public testing::TestWithParam<Chain> {};

TEST_P(FilterProperty, KeepsTheSitePairs) {
  const TreeModeInfo* mode = find_tree_mode(GetParam().mode);
  ASSERT_NE(mode, nullptr);
  const std::vector<const DetectorInfo*> detectors = parsed(GetParam().detectors);
  const Result<TreeOptions> options = choose_filter(GetParam().mode, detectors, 1000);
  ASSERT_TRUE(options.ok()) << options.status().message();
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000);
  const Comparison result = compare(*mode, *options, detectors, cases);
  ASSERT_EQ(result.mismatch, "");
  std::cout << mode->name << " " << GetParam().detectors << ": " << cases << " traces, pairs in " << result.with_pairs
            << ", hidden " << 100 * result.hidden / std::max<std::uint64_t>(1, result.accesses)
            << "% of the accesses\n";
  if (cases >= 1'000) {  // or nothing was compared
    EXPECT_GE(result.with_pairs * 10, cases);
    EXPECT_GE(result.hidden * 50, result.accesses);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Chains, FilterProperty,
    testing::Values(Chain{"tree", "lockset"}, Chain{"tree", "hybrid"}, Chain{"tree", "lockset,hybrid"},
                    Chain{"tree:hb", "hb"}, Chain{"tree:hb", "hb,hybrid"}, Chain{"tree:hb", "hb,lockset,hybrid"},
                    Chain{"tree:strict", "hb,hybrid,wcp"}, Chain{"tree:strict", "hb,lockset,hybrid,wcp"},
                    Chain{"tree:strict", "ipa"}, Chain{"tree:data", "ipa:1"}, Chain{"tree:data", "hb,hybrid,wcp,syncp"},
                    Chain{"tree:data", "hb,lockset,hybrid,wcp,syncp"}, Chain{"tree:span", "hb,hybrid,wcp"},
                    Chain{"tree:span", "hb,lockset,hybrid,wcp"}),
    [](const auto& test) {
      std::string name = std::string(test.param.mode) + "_" + test.param.detectors;
      std::replace_if(
          name.begin(), name.end(), [](char c) { return c == ':' || c == ','; }, '_');
      return name;
    });

// Single traces on which a mode goes wrong: the chain is refused, and would have lost the pair or made it up.
struct Refused {
  const char* name;
  const char* trace;
  const char* mode;
  const char* detector;
  const char* pair;  // labels, in order of appearance
  bool lost;         // else made up
  const char* use;   // what the refusal recommends
};
void PrintTo(const Refused& refused, std::ostream* out) { *out << refused.name; }

class RefusedChain : public testing::TestWithParam<Refused> {};

std::set<std::string> labelled_pairs(const TextTrace& trace, const DetectorInfo& detector, Filter* filter) {
  std::set<std::string> labels;
  for (const auto& [low, high] : run_detector(detector, passed(trace.events, filter, 1)).pairs) {
    labels.insert(trace.labels[low] + "," + trace.labels[high]);
  }
  return labels;
}

TEST_P(RefusedChain, WouldHaveChangedThePairs) {
  const DetectorInfo* detector = find_detector(GetParam().detector);
  const Result<TreeOptions> refused = choose_filter(GetParam().mode, {detector}, 1000);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().message(), std::string("--filter ") + GetParam().mode + " would change the pairs that " +
                                            GetParam().detector + " reports; use --filter " + GetParam().use);
  const TextTrace trace = parse_trace(GetParam().trace);
  const std::set<std::string> without = labelled_pairs(trace, *detector, nullptr);
  EXPECT_EQ(without.contains(GetParam().pair), GetParam().lost);
  TreeOptions options;
  options.mode = find_tree_mode(GetParam().mode)->mode;
  EXPECT_EQ(labelled_pairs(trace, *detector, make_tree_filter(options).get()).contains(GetParam().pair),
            !GetParam().lost);
  const Result<TreeOptions> better = choose_filter(GetParam().use, {detector}, 1000);
  ASSERT_TRUE(better.ok());
  EXPECT_EQ(labelled_pairs(trace, *detector, make_tree_filter(*better).get()), without);
}

INSTANTIATE_TEST_SUITE_P(
    Traces, RefusedChain,
    testing::Values(
        // The first w(x) of T0 happens before that of T1, the second does not.
        Refused{"tree_hb",
                "T0|acq(A)|9 T0|w(x)|1 T0|rel(A)|9 T1|acq(A)|9 T1|rel(A)|9 T1|w(x)|2 T0|acq(A)|9 T0|w(x)|1 T0|rel(A)|9",
                "tree", "hb", "1,2", true, "tree:hb"},
        // What is outside the section is ordered before T1 by rule (a) the first time, and not the second time.
        Refused{"tree_wcp", "T0|w(x)|1 T0|acq(A)|9 T0|w(x)|2 T0|rel(A)|9 T0|w(x)|1 T1|acq(A)|9 T1|w(x)|3", "tree",
                "wcp", "1,3", true, "tree:strict"},
        // Without the second w(y) of T0 rule (a) does not order w(x) before r(x).
        Refused{"tree_hb_wcp",
                "T0|acq(A)|9 T0|w(y)|1 T0|rel(A)|9 T0|acq(A)|9 T0|w(y)|1 T0|w(x)|2 T0|rel(A)|9 "
                "T1|acq(A)|9 T1|w(y)|3 T1|rel(A)|9 T1|r(x)|4",
                "tree:hb", "wcp", "2,4", false, "tree:strict"},
        // The second read saw the write, so that whatever comes after it does too.
        Refused{"tree_strict_syncp", "T1|r(x)|1 T2|w(x)|2 T1|r(x)|1 T1|r(x)|3", "tree:strict", "syncp", "2,3", false,
                "tree:data"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(Refusal, NamesOneModeForTheWholeChain) {
  const auto message = [](const char* mode, const char* detectors) {
    return choose_filter(mode, *parse_detectors(detectors), 1000).status().message();
  };
  EXPECT_EQ(message("tree", "hb,wcp"),
            "--filter tree would change the pairs that hb reports; use --filter tree:strict");
  EXPECT_EQ(message("tree:hb", "hb,wcp,syncp"),
            "--filter tree:hb would change the pairs that wcp reports; use --filter tree:data");
  EXPECT_EQ(message("tree:data", "hb,cp"),
            "--filter tree:data would change the pairs that cp reports, as every filter would; "
            "leave out the filter, or cp");
  EXPECT_EQ(message("tree:span", "syncp"),
            "--filter tree:span would change the pairs that syncp reports; use --filter tree:data");
  EXPECT_EQ(
      message("treee", "hb"),
      "there is no filter `treee`; there are: tree, tree:hb, tree:strict, tree:data, tree:span. Did you mean `tree`?");
  EXPECT_EQ(choose_filter("tree", {}, 1).status().message(), "--tree-locations needs at least 2");
  EXPECT_TRUE(choose_filter("tree", *parse_detectors("lockset,hybrid,deadlock"), 4).ok());
}

TEST(RecordedFilter, RefusesWhatItDoesNotKeep) {
  const auto message = [](const char* mode, const char* detectors) {
    return check_recorded_filter(mode, *parse_detectors(detectors)).message();
  };
  EXPECT_EQ(message("", "lockset,hb,wcp,syncp,cp"), "");
  EXPECT_EQ(message("tree", "hybrid,deadlock,misuse"), "");
  EXPECT_EQ(message("tree:strict", "hb,hybrid,wcp,ipa,deadlock"), "");
  EXPECT_EQ(message("tree", "hb,wcp,deadlock"),
            "it was recorded with --filter tree, which changes the pairs that hb reports; record it "
            "with --filter tree:strict, or analyse it --with deadlock");
  EXPECT_EQ(message("tree:hb", "wcp"),
            "it was recorded with --filter tree:hb, which changes the pairs that wcp reports; record it with --filter "
            "tree:strict, or analyse it --with deadlock");
  EXPECT_EQ(message("tree:strict", "hb,lockset"),
            "it was recorded with --filter tree:strict, which changes the pairs that lockset reports; "
            "record it with --filter off, or analyse it --with hb");
  EXPECT_EQ(message("tree:none", "hb"),
            "the recorder filtered the trace by `tree:none`, which this version of sooth does not know");
}

TEST(RecordedFilter, NamesTheAnalysesItIsFor) {
  EXPECT_EQ(analyses_of_recorded("repeat"), "");
  EXPECT_EQ(analyses_of_recorded("tree"), "hybrid,deadlock,misuse");
  EXPECT_EQ(analyses_of_recorded("tree:hb"), "hb,deadlock,misuse");
  EXPECT_EQ(analyses_of_recorded("tree:strict"), "hb,wcp,deadlock,misuse");
}

// Two threads speak for all others only where nothing tells them apart later: here two joins do.
TEST(TwoThreads, SufficeForLocksetOnly) {
  const TextTrace trace = parse_trace(
      "T0|fork(T1)|9 T0|fork(T2)|9 T0|fork(T3)|9 T1|w(x)|1 T2|w(x)|1 T3|w(x)|1 T0|join(T1)|9 T0|join(T2)|9 T0|w(x)|2");
  const DetectorInfo* hybrid = find_detector("hybrid");
  const DetectorInfo* lockset = find_detector("lockset");
  TreeOptions across = *choose_filter("tree", {lockset}, 1000);
  EXPECT_TRUE(across.across_threads);
  EXPECT_FALSE(choose_filter("tree", {lockset, hybrid}, 1000)->across_threads);
  EXPECT_EQ(labelled_pairs(trace, *hybrid, nullptr), (std::set<std::string>{"1,1", "1,2"}));
  across.for_lockset = false;
  EXPECT_EQ(labelled_pairs(trace, *hybrid, make_tree_filter(across).get()), (std::set<std::string>{"1,1"}));
  EXPECT_EQ(labelled_pairs(trace, *hybrid, make_tree_filter(*choose_filter("tree", {hybrid}, 1000)).get()),
            (std::set<std::string>{"1,1", "1,2"}));
}

// The comparison itself: modes that must not stand in front of a detector are caught.
TEST(Harness, CatchesModesThatLosePairs) {
  const auto caught = [](const char* mode_name, const char* detector, bool across_threads, bool for_lockset) {
    const TreeModeInfo& mode = *find_tree_mode(mode_name);
    TreeOptions options;
    options.mode = mode.mode;
    options.across_threads = across_threads;
    options.for_lockset = for_lockset;
    return !compare(mode, options, parsed(detector), 10'000).mismatch.empty();
  };
  EXPECT_TRUE(caught("tree", "hybrid", true, false)) << "two threads speak for all";
  EXPECT_TRUE(caught("tree", "lockset", false, false)) << "without the gates of Eraser";
  EXPECT_TRUE(caught("tree", "lockset", true, false));
  EXPECT_TRUE(caught("tree", "hb", false, false));
  EXPECT_TRUE(caught("tree", "wcp", false, false));
  EXPECT_TRUE(caught("tree:hb", "wcp", false, false));
  EXPECT_TRUE(caught("tree:strict", "syncp", false, false));
}

// Only the second r(x) of T1 can meet the w(x) of T0, which has seen y.
TEST(DataMode, TakesAWriteForAMessage) {
  const TextTrace trace = parse_trace("T1|r(x)|1 T1|w(y)|2 T1|r(x)|1 T0|r(y)|3 T0|w(x)|4");
  const DetectorInfo* syncp = find_detector("syncp");
  EXPECT_TRUE(labelled_pairs(trace, *syncp, nullptr).contains("1,4"));
  const TreeOptions options = *choose_filter("tree:data", {syncp}, 1000);
  EXPECT_TRUE(labelled_pairs(trace, *syncp, make_tree_filter(options).get()).contains("1,4"));
}

// tree:data: all that an exhaustive search of reorderings finds is found in what the filter lets through.
TEST(DataMode, KeepsAllPredictableRaces) {
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000);
  std::uint64_t hidden = 0;
  std::uint64_t with_pairs = 0;
  for (std::uint64_t seed = from_environment("SOOTH_SEED", 1), i = 0; i < cases; ++i, ++seed) {
    std::vector<Event> trace = repetitive_trace(seed);
    trace.resize(std::min<std::size_t>(trace.size(), 18));  // a prefix of a well-formed trace is one
    const auto sites = [&](std::span<const Event> t) {
      SitePairSet all;
      for (const SitePair& pair : site_pairs(t, explore(t).candidates())) {
        all.emplace(raw(pair.low_site), raw(pair.high_site));
      }
      return all;
    };
    const auto left_of = [&](std::span<const Event> t) {
      TreeOptions options;
      options.mode = TreeMode::kData;
      const std::unique_ptr<TreeFilter> filter = make_tree_filter(options);
      std::vector<Event> left;
      for (const AccessRecord& record : passed(t, filter.get(), seed)) {
        left.push_back(record.event);
      }
      return left;
    };
    const std::vector<Event> left = left_of(trace);
    hidden += trace.size() - left.size();
    if (left.size() == trace.size()) {
      continue;
    }
    const SitePairSet all = sites(trace);
    with_pairs += all.empty() ? 0 : 1;
    if (sites(left) != all) {
      const std::vector<Event> small =
          minimise(trace, [&](std::span<const Event> t) { return sites(left_of(t)) != sites(t); });
      FAIL() << "again with SOOTH_SEED=" << seed << " SOOTH_CASES=1. Shrunk:\n" << print_trace(small);
    }
  }
  std::cout << hidden << " accesses hidden in " << cases << " traces, of those with some " << with_pairs
            << " have pairs\n";
  EXPECT_TRUE(cases < 1'000 || with_pairs * 20 >= cases);
}

}  // namespace
}  // namespace sooth::oracle
