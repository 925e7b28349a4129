// The first look at a trace (detect/sharing_scan.h) against detectors that see everything: the same pairs, with counts,
// distances and examples, on random traces with memory of every kind. SOOTH_CASES sets the number of traces per analysis,
// SOOTH_SEED the first seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <string>

#include "base/test_environment.h"
#include "detect/sharing_scan.h"
#include "oracle/made_lock_programs.h"
#include "oracle/minimise.h"
#include "oracle/oracle.h"
#include "oracle/random.h"
#include "oracle/random_trace.h"
#include "oracle/short_threads.h"
#include "oracle/trace_text.h"
#include "order/made_locks.h"
#include "pipeline/analysis.h"
#include "pipeline/filters.h"
#include "pipeline/registry.h"
#include "race/site_key.h"
#include "trace/memory_trace.h"
#include "trace/tools/thread_slots.h"

namespace sooth::oracle {
namespace {

bool is_memory(Op op) { return is_access(op) || op == Op::kAlloc || op == Op::kFree; }

// Random traces in which threads also have memory of their own, and blocks may be of many pages.
std::vector<Event> memory_trace(std::uint64_t seed) {
  Random random(seed ^ 0x73686172);
  std::vector<Event> trace;
  if (random.percent(25)) {
    trace = short_threads(seed);
  } else {
    RandomTraceOptions options = random_options(kProfiles[seed % kProfiles.size()], seed);
    options.events *= random.between(1, 3);
    options.odd_memory = options.odd_memory || random.percent(40);
    if (random.percent(60)) {
      options.weights[raw(Action::kAlloc)] += random.between(1, 6);
      options.weights[raw(Action::kFree)] += random.between(1, 6);
    }
    trace = random_trace(options, seed).events;
  }
  constexpr std::array<std::uint32_t, 8> kScales = {1, 1, 1, 2, 3, 100, 700, 3001};
  const std::uint32_t scale = kScales[random.below(kScales.size())];
  const std::uint32_t own_percent = random.percent(40) ? 0 : random.between(10, 90);
  const std::uint64_t apart = random.percent(30) ? 16 : 0x10'0000;
  for (Event& e : trace) {
    if (is_memory(e.op)) {
      e.object = e.object % 0x1'0000 * scale;
      e.size *= scale;
      e.object += random.percent(own_percent) ? apart * (1 + raw(e.thread)) : 0;
    }
  }
  return trace;
}

// Far apart, so that times differ; or side by side.
std::vector<EventId> ids_for(std::size_t count, std::uint64_t seed) {
  Random random(seed ^ 0x6964);
  const std::uint32_t most = random.percent(50) ? 1 : random.between(1, 100'000);
  std::vector<EventId> ids;
  std::uint64_t next = 0;
  for (std::size_t i = 0; i < count; ++i) {
    ids.push_back(EventId{next});
    next += random.between(1, most);
  }
  return ids;
}

// Calls use(batch) for batches as the seed cuts them.
template <typename Use>
void in_batches(std::span<const Event> trace, std::span<const EventId> ids, std::uint64_t seed, Use&& use) {
  Random random(seed);
  for (std::size_t done = 0; done < trace.size();) {
    const std::size_t count = random.percent(30) ? trace.size() - done : random.between(1, 9);
    Batch batch;
    batch.events = trace.subspan(done, std::min(count, trace.size() - done));
    batch.ids = ids.subspan(done, batch.events.size());
    batch.first = batch.ids.front();
    done += batch.events.size();
    use(batch);
  }
}

std::vector<Event> with_slots(std::span<const Event> trace, std::span<const EventId> ids) {
  Batch batch;
  batch.events = trace;
  batch.ids = ids;
  ThreadSlots slots;
  slots.follow(batch);
  std::vector<Event> buffer;
  const Batch renamed = slots.renamed(batch, buffer);
  return {renamed.events.begin(), renamed.events.end()};
}

// The locks of both accesses of each pair. Numbers of lock sets depend on which accesses were seen.
std::vector<std::vector<LockMode>> locks_of(const Detector& detector, const std::vector<SitePair>& pairs) {
  std::vector<std::vector<LockMode>> locks;
  for (const SitePair& pair : pairs) {
    locks.push_back(detector.lock_sets().locks(pair.first.locks));
    locks.push_back(detector.lock_sets().locks(pair.second.locks));
  }
  return locks;
}

struct Comparison {
  std::vector<SitePair> with;
  std::vector<SitePair> without;
  std::vector<std::vector<LockMode>> locks_with, locks_without;
  bool same_plans = true;
  std::uint64_t hidden = 0;
};

// `tree`: the mode of TREE in front of both; nullptr: none.
Comparison compare(const DetectorInfo& info, std::vector<Event> trace, std::uint64_t seed,
                   const TreeOptions* tree = nullptr) {
  const std::vector<EventId> ids = ids_for(trace.size(), seed);
  const std::vector<Event> slots = with_slots(trace, ids);
  const std::vector<Event>& seen = info.takes_slots ? slots : trace;
  const bool sections = info.sees == Sees::kSections;
  const bool unordered = sections || info.sees == Sees::kUnordered || info.sees == Sees::kReads;
  // Who only needs happens-before, or WCP, may get more.
  const bool reads = info.sees == Sees::kReads || (unordered && tree == nullptr && seed % 5 < 2);
  const bool wcp = sections || (info.sees == Sees::kUnordered && seed % 3 == 0);
  const std::unique_ptr<SharingScan> scan = make_sharing_scan(reads ? ScanOrder::kReads
                                                              : wcp ? ScanOrder::kWcp
                                                                    : ScanOrder::kHb);
  in_batches(info.sees == Sees::kSeveralThreads ? trace : slots, ids, seed, [&](const Batch& b) { scan->consume(b); });
  const SharedTimes times = scan->finish();
  SharedView view(times, unordered ? SharingLevel::kUnordered : SharingLevel::kSeveral, sections);
  const std::unique_ptr<Detector> all = info.make({});
  const std::unique_ptr<Detector> some = info.make({});
  const std::unique_ptr<TreeFilter> filter = tree == nullptr ? nullptr : make_tree_filter(*tree);
  in_batches(seen, ids, seed + 1, [&](const Batch& batch) {
    const Batch left = filter == nullptr ? batch : filter->hide(batch);
    all->consume(left);
    some->consume(view.hide(left));
  });
  all->finish();
  some->finish();
  Comparison result;
  result.with = sorted(some->races().pairs());
  result.without = sorted(all->races().pairs());
  result.locks_with = locks_of(*some, result.with);
  result.locks_without = locks_of(*all, result.without);
  result.same_plans = all->plans() == some->plans();
  result.hidden = view.hidden();
  return result;
}

bool agrees(const Comparison& comparison) {
  return same_pairs(comparison.with, comparison.without) && comparison.same_plans &&
         std::equal(comparison.with.begin(), comparison.with.end(), comparison.without.begin(),
                    [](const SitePair& a, const SitePair& b) {
                      return a.first.event == b.first.event && a.second.event == b.second.event;
                    }) &&
         comparison.locks_with == comparison.locks_without;
}

// Sections that touch different bytes of one granule conflict as far as splits are told; those are lost when one thread
// has each byte to itself. Nothing else is, and nothing is made up.
TEST(SharingOfAtomicity, KeepsSplitsOfBytesThatThreadsShare) {
  const DetectorInfo* info = find_detector("atomicity");
  ASSERT_NE(info, nullptr);
  ASSERT_EQ(info->sees, Sees::kSeveral);
  const auto places = [](const AtomicityCandidate& each) {
    return std::tuple(each.first.event.site, each.other.event.site, each.second.event.site);
  };
  std::uint64_t found = 0, lost = 0;
  for (std::uint64_t seed = 1; seed <= 5'000; ++seed) {
    oracle::RandomTraceOptions options = oracle::random_options(oracle::Profile::kLocks, seed);
    options.odd_memory = false;
    const std::vector<Event> trace = oracle::random_trace(options, seed).events;
    const std::vector<EventId> ids = ids_for(trace.size(), seed);
    const std::unique_ptr<SharingScan> scan = make_sharing_scan(ScanOrder::kHb);
    in_batches(with_slots(trace, ids), ids, seed, [&](const Batch& b) { scan->consume(b); });
    const SharedTimes times = scan->finish();
    SharedView view(times, SharingLevel::kSeveral, false);
    const std::unique_ptr<Detector> all = info->make({}), some = info->make({});
    in_batches(trace, ids, seed + 1, [&](const Batch& batch) {
      all->consume(batch);
      some->consume(view.hide(batch));
    });
    all->finish();
    some->finish();
    const std::vector<AtomicityCandidate> whole = all->atomicity(), part = some->atomicity();
    for (const AtomicityCandidate& each : part) {
      EXPECT_TRUE(
          std::any_of(whole.begin(), whole.end(), [&](const auto& other) { return places(other) == places(each); }))
          << "seed " << seed;
    }
    found += part.size();
    lost += whole.size() - part.size();
  }
  EXPECT_GT(found, 500u);
  EXPECT_LT(lost, found / 10);
}

class SharingProperty : public testing::TestWithParam<const char*> {};

TEST_P(SharingProperty, HidesNothingThatMatters) {
  const DetectorInfo* info = find_detector(GetParam());
  ASSERT_NE(info, nullptr);
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000);
  std::uint64_t with_pairs = 0, events = 0, hidden = 0;
  for (std::uint64_t seed = from_environment("SOOTH_SEED", 1), i = 0; i < cases; ++i, ++seed) {
    const std::vector<Event> trace = memory_trace(seed);
    const Comparison comparison = compare(*info, trace, seed);
    with_pairs += comparison.without.empty() ? 0 : 1;
    events += trace.size();
    hidden += comparison.hidden;
    if (!agrees(comparison)) {
      const std::vector<Event> small = minimise(trace, [&](std::span<const Event> t) {
        return !agrees(compare(*info, {t.begin(), t.end()}, seed));
      });
      FAIL() << GetParam() << ": again with SOOTH_SEED=" << seed << " SOOTH_CASES=1. Shrunk:\n" << print_trace(small);
    }
  }
  std::cout << GetParam() << ": pairs in " << with_pairs << " of " << cases << " traces, "
            << 100 * hidden / std::max<std::uint64_t>(events, 1) << "% of the events hidden\n";
  if (cases >= 1'000) {  // or nothing was compared
    EXPECT_GE(with_pairs * 10, cases);
    EXPECT_GE(hidden * 10, events);
  }
}

INSTANTIATE_TEST_SUITE_P(Detectors, SharingProperty,
                         testing::Values("hb", "lockset", "hybrid", "wcp", "syncp", "ipa", "ipa:1", "ipa:2"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), ':', '_');
                           return name;
                         });

// Behind a filter: the look is at all of the trace, what it hides is hidden from what the filter has left.
TEST(SharingBehindTree, HidesNothingThatMatters) {
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000) / 4;
  for (const auto& [name, mode] : {std::pair("hb", TreeMode::kHb), std::pair("wcp", TreeMode::kStrict)}) {
    const DetectorInfo* info = find_detector(name);
    TreeOptions tree;
    tree.mode = mode;
    for (std::uint64_t seed = from_environment("SOOTH_SEED", 1), i = 0; i < cases; ++i, ++seed) {
      ASSERT_TRUE(agrees(compare(*info, memory_trace(seed), seed, &tree)))
          << name << ": again with SOOTH_SEED=" << seed << " SOOTH_CASES=4";
    }
  }
}

// All of it together: two passes, from memory and from the trace, and detectors that go on in the first. Whatever they
// do, the findings are those of one pass.
TEST(DetectorPasses, FindTheSame) {
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000) / 5;
  std::uint64_t with_findings = 0;
  for (std::uint64_t seed = from_environment("SOOTH_SEED", 1), i = 0; i < cases; ++i, ++seed) {
    Random random(seed ^ 0x7061);
    RandomTrace made = random_trace(kProfiles[seed % kProfiles.size()], seed);
    MemoryTrace trace;
    trace.tables = made.tables;
    trace.events = made.events;
    for (Event& e : trace.events) {
      e.object += is_memory(e.op) && random.percent(60) ? 0x10'0000 * (1 + raw(e.thread)) : 0;
    }
    const std::vector<MadeLock> locks = find_made_locks(trace.events, {});
    if (std::any_of(locks.begin(), locks.end(), [](const MadeLock& lock) { return lock.meant; })) {
      continue;  // semaphores that are locks in two passes only
    }
    AnalysisOptions options;
    options.detectors = *parse_detectors("hb,lockset,hybrid,wcp,syncp,ipa,deadlock,misuse");
    if (random.percent(50)) {  // hb alone often needs no second pass
      options.detectors = *parse_detectors(random.percent(50) ? "hb,misuse" : "hb,wcp");
    }
    options.proof.max_events = 0;
    const auto findings = [&](bool again) {
      options.reopen = {};
      if (again) {
        options.reopen = [&]() -> Result<std::unique_ptr<TraceReader>> {
          return std::unique_ptr<TraceReader>(std::make_unique<MemoryTraceReader>(trace, random.between(1, 9)));
        };
      }
      MemoryTraceReader reader(trace, random.between(1, 9));
      Result<Report> report = analyze_trace(reader, options);
      EXPECT_TRUE(report.ok()) << report.status().message();
      for (Finding& finding : report->findings) {
        finding.context = {};  // which may be told of more when the trace can be read again
      }
      return std::move(report->findings);
    };
    const std::vector<Finding> once = findings(false);
    options.first_look_events = random.percent(50) ? random.between(1, 20) : options.first_look_events;
    ASSERT_EQ(findings(true), once) << "again with SOOTH_SEED=" << seed << " SOOTH_CASES=5\n"
                                    << print_trace(trace.events);
    with_findings += once.empty() ? 0 : 1;
  }
  EXPECT_TRUE(cases < 200 || with_findings * 4 >= cases) << with_findings;
}

// Which sites, in order.
std::vector<std::pair<std::string, std::string>> sites_of(const std::vector<Finding>& findings) {
  std::vector<std::pair<std::string, std::string>> sites;
  for (const Finding& finding : findings) {
    if (finding.kind == FindingKind::kRace) {
      sites.push_back(std::minmax({site_key(finding.accesses[0].site), site_key(finding.accesses[1].site)}));
    }
  }
  std::sort(sites.begin(), sites.end());
  return sites;
}

// With memory of each thread's own; some of them use locks that they made.
MemoryTrace spooled_trace(std::uint64_t seed, Random& random) {
  MemoryTrace trace;
  if (random.percent(25)) {
    MadeLockRun run = made_lock_run(seed);
    trace.events = std::move(run.events);
    trace.values = std::move(run.values);
    for (const Event& e : trace.events) {
      while (trace.tables.thread_count() <= raw(e.thread)) {
        trace.tables.add_thread("T" + std::to_string(trace.tables.thread_count()));
      }
      Site site;
      site.label = std::to_string(trace.tables.site_count());
      trace.tables.add_site(std::move(site));
    }
    return trace;
  }
  RandomTrace made = random_trace(kProfiles[seed % kProfiles.size()], seed);
  trace.tables = std::move(made.tables);
  trace.events = std::move(made.events);
  for (Event& e : trace.events) {
    e.object += is_memory(e.op) && random.percent(60) ? 0x10'0000 * (1 + raw(e.thread)) : 0;
  }
  return trace;
}

// The second pass out of a spool. With one that holds the trace the findings are those of a trace that can be read again. One
// that is too small loses pairs at most, adds none to those of a trace that comes by once, and the report tells of it.
TEST(SpooledPasses, FindTheSameOrTellWhatWasTooEarly) {
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000) / 5;
  std::uint64_t told = 0, lost = 0, complete = 0, with_locks = 0;
  for (std::uint64_t seed = from_environment("SOOTH_SEED", 1), i = 0; i < cases; ++i, ++seed) {
    Random random(seed ^ 0x73706f6f);
    const MemoryTrace trace = spooled_trace(seed, random);
    AnalysisOptions options;
    constexpr std::array<const char*, 7> kSets = {
        "hb", "hb,misuse", "wcp", "hb,wcp", "syncp", "hb,wcp,syncp,deadlock,misuse", "hb,lockset,wcp,syncp,ipa"};
    options.detectors = *parse_detectors(kSets[random.below(kSets.size())]);
    options.proof.max_events = 0;
    options.spool_folder = testing::TempDir();
    const auto analyze = [&](std::uint64_t bytes) {
      options.spool_bytes = bytes;
      MemoryTraceReader reader(trace, random.between(1, 9));
      Result<Report> report = analyze_trace(reader, options);
      EXPECT_TRUE(report.ok()) << report.status().message();
      for (Finding& finding : report->findings) {
        finding.context = {};  // which may be told of more when the trace can be read again
      }
      return std::move(*report);
    };
    const Report once = analyze(0);
    options.reopen = [&]() -> Result<std::unique_ptr<TraceReader>> {
      return std::unique_ptr<TraceReader>(std::make_unique<MemoryTraceReader>(trace));
    };
    const Report stored = analyze(0);
    options.reopen = {};
    options.spool_segment_events = random.between(1, 12);
    const std::string again = "again with SOOTH_SEED=" + std::to_string(seed) + " SOOTH_CASES=5\n";
    ASSERT_EQ(analyze(1'000'000).findings, stored.findings) << again << print_trace(trace.events);
    with_locks += stored.findings != once.findings ? 1 : 0;
    options.first_look_events = random.percent(30) ? random.between(1, 20) : options.first_look_events;
    options.spool_folder = random.percent(10) ? "/does/not/exist" : options.spool_folder;
    const Report small = analyze(random.between(1, 1500));
    if (small.findings == stored.findings) {
      ++complete;
      continue;
    }
    if (small.not_covered.size() == once.not_covered.size()) {
      ASSERT_EQ(small.findings, once.findings) << again << print_trace(trace.events);
      ++complete;
      continue;
    }
    ++told;
    const auto some = sites_of(small.findings);
    const auto all = sites_of(once.findings);
    ASSERT_TRUE(std::includes(all.begin(), all.end(), some.begin(), some.end())) << again << print_trace(trace.events);
    lost += some.size() < all.size() ? 1 : 0;
  }
  std::cout << complete << " complete, " << told << " told, " << lost << " of them with less, " << with_locks
            << " with locks that the program made\n";
  EXPECT_TRUE(cases < 200 || (complete * 10 >= cases && lost * 50 >= cases && with_locks * 50 >= cases));
}

}  // namespace
}  // namespace sooth::oracle
