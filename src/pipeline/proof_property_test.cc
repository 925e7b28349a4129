// The whole pipeline on tiny random traces: what it calls predicted by a witness is exactly what an exhaustive search
// of all correct reorderings can reach.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <iterator>
#include <set>

#include "base/test_environment.h"
#include "oracle/explorer.h"
#include "oracle/oracle.h"
#include "oracle/random.h"
#include "oracle/random_columns.h"
#include "oracle/random_trace.h"
#include "oracle/trace_text.h"
#include "pipeline/analysis.h"
#include "trace/memory_trace.h"

namespace sooth::oracle {
namespace {

using Sites = std::multiset<std::string>;

// Small enough to explore, with sites that name one event each as often as not.
RandomTrace tiny_trace(std::uint64_t seed) {
  RandomTraceOptions options = random_options(kProfiles[seed % kProfiles.size()], seed);
  options.events = 6 + static_cast<std::uint32_t>(seed % 9);
  options.threads = 2 + static_cast<std::uint32_t>(seed % 2);
  options.sites = seed % 4 < 2 ? 40 : 4;
  if (seed % 5 == 0) {  // mostly locks within locks, or deadlocks would be too rare to matter
    options.locks = 2;
    options.events = 10;
    options.weights = {};
    options.weights[static_cast<std::size_t>(Action::kAccess)] = 2;
    options.weights[static_cast<std::size_t>(Action::kAcquire)] = 8;
    options.weights[static_cast<std::size_t>(Action::kRelease)] = 5;
    options.try_percent = 0;  // see below
  }
  return random_trace(options, seed);
}

MemoryTrace in_memory(const RandomTrace& trace) {
  MemoryTrace memory;
  memory.tables = trace.tables;
  memory.events = trace.events;
  return memory;
}

Sites sites_of(const RandomTrace& trace, const std::vector<EventId>& events) {
  Sites sites;
  for (const EventId id : events) {
    sites.insert(trace.tables.site(trace.events[raw(id)].site).label);
  }
  return sites;
}

// One section after the other, each of two locks or three in any order and of both modes, with accesses between: dense in
// deadlocks. Some of the acquires are tries or have a time limit, and while one thread is inside others try in vain.
RandomTrace deadlock_trace(std::uint64_t seed) {
  Random random(seed);
  const std::uint32_t threads = random.between(2, 3);
  const std::uint32_t locks = random.between(2, 3);
  const std::uint32_t shared_percent = std::array{0u, 0u, 40u}[random.below(3)];
  const std::uint32_t try_percent = std::array{0u, 15u, 40u}[random.below(3)];
  const std::uint32_t sites = random.percent(30) ? 5 : 40;
  RandomTrace trace;
  for (std::uint32_t t = 0; t < threads; ++t) {
    trace.tables.add_thread("T" + std::to_string(t));
  }
  for (std::uint32_t s = 0; s < sites; ++s) {
    Site site;
    site.label = std::to_string(s);
    trace.tables.add_site(site);
  }
  const auto add = [&](std::uint32_t thread, Op op, std::uint64_t object, std::uint8_t flags = 0) {
    const SiteId site{sites == 5 ? random.below(5) : static_cast<std::uint32_t>(trace.events.size()) % sites};
    trace.events.push_back({.object = object, .thread = ThreadId{thread}, .site = site, .op = op, .flags = flags});
  };
  const auto access = [&](std::uint32_t thread) {
    if (random.percent(30)) {
      add(thread, random.percent(60) ? Op::kRead : Op::kWrite, 0x1000 + 16 * random.below(2));
      trace.events.back().size = 4;
    }
  };
  const auto how = [&] { return random.percent(50) ? kTry : kTimed; };
  for (std::uint32_t rounds = random.between(2, 4); rounds > 0; --rounds) {
    const std::uint32_t thread = random.below(threads);
    std::vector<std::pair<std::uint64_t, std::uint8_t>> held;
    for (std::uint32_t n = random.percent(20) ? 3 : 2; n > 0; --n) {
      const std::uint64_t lock = random.below(locks);
      if (std::none_of(held.begin(), held.end(), [&](const auto& h) { return h.first == lock; })) {
        held.emplace_back(lock, random.percent(shared_percent) ? kShared : std::uint8_t{0});
        const std::uint8_t flags = random.percent(try_percent) ? how() : std::uint8_t{0};
        add(thread, Op::kAcquire, lock, static_cast<std::uint8_t>(flags | held.back().second));
        access(thread);
      }
    }
    if (random.percent(try_percent)) {
      const std::uint32_t other = (thread + 1) % threads;
      add(other, Op::kAcquireFailed, held.back().first, how());
      access(other);
    }
    for (; !held.empty(); held.pop_back()) {
      add(thread, Op::kRelease, held.back().first, held.back().second);
    }
  }
  return trace;
}

// No false deadlock, whoever tries or gives up, and none is left out: each one that can be reached contains a cycle of
// sites that is proven.
TEST(Proof, ProvesEveryDeadlockAndNoOther) {
  const std::uint64_t cases = from_environment("SOOTH_CASES", 2'000);
  auto chosen = parse_detectors("ipa,deadlock");
  ASSERT_TRUE(chosen.ok());
  AnalysisOptions options;
  options.detectors = *chosen;
  std::uint64_t deadlocks = 0, with_tries = 0, not_proven = 0;
  for (std::uint64_t seed = from_environment("SOOTH_SEED", 1), i = 0; i < cases; ++i, ++seed) {
    const RandomTrace trace = deadlock_trace(seed);
    const Exploration truth = explore(trace.events);
    ASSERT_TRUE(truth.complete);
    const MemoryTrace memory = in_memory(trace);
    MemoryTraceReader reader(memory, 1 + seed % 7);
    const Result<Report> report = analyze_trace(reader, options);
    const std::string where = "SOOTH_SEED=" + std::to_string(seed) + " SOOTH_CASES=1\n" + print_trace(trace.events);
    ASSERT_TRUE(report.ok()) << where << report.status().message();
    std::vector<Sites> proven;
    for (const Finding& finding : report->findings) {
      if (finding.kind != FindingKind::kDeadlock || finding.rung < Rung::kPredicted) {
        not_proven += finding.kind == FindingKind::kDeadlock ? 1 : 0;
        continue;
      }
      std::vector<EventId> acquires;
      for (const Access& access : finding.accesses) {
        acquires.push_back(access.event);
      }
      proven.push_back(sites_of(trace, acquires));
      std::sort(acquires.begin(), acquires.end());
      EXPECT_TRUE(truth.deadlocks.contains(acquires)) << where;
    }
    for (const auto& [acquires, order] : truth.deadlocks) {
      const Sites sites = sites_of(trace, acquires);
      EXPECT_TRUE(std::any_of(proven.begin(), proven.end(), [&](const Sites& cycle) {
        return std::ranges::includes(sites, cycle);
      })) << where;
    }
    deadlocks += truth.deadlocks.size();
    with_tries +=
        !truth.deadlocks.empty() && std::any_of(trace.events.begin(), trace.events.end(),
                                                [](const Event& e) {
                                                  return e.op == Op::kAcquireFailed || (e.flags & (kTry | kTimed)) != 0;
                                                })
            ? 1
            : 0;
  }
  std::cout << cases << " traces, " << deadlocks << " deadlocks, " << with_tries << " traces with some and with tries; "
            << not_proven << " cycles that are none stay suspected\n";
  if (cases >= 1'000) {
    EXPECT_GT(deadlocks * 10, cases);
    EXPECT_GT(with_tries * 50, cases);
    EXPECT_GT(not_proven, 0u);
  }
}

// With hybrid and deadlock every predictable deadlock is among the claims, and every predictable race that does not
// reverse atomics or semaphores, which are order to hybrid (mcm names the others: see below). So all of these must be
// proven, and whatever else the analyses believe must be refuted or stay suspected.
TEST(Proof, ProvesExactlyWhatIsPredictable) {
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000);
  auto chosen = parse_detectors("hb,lockset,hybrid,wcp,cp,syncp,ipa,deadlock");
  ASSERT_TRUE(chosen.ok());
  AnalysisOptions options;
  options.detectors = *chosen;
  std::uint64_t races = 0;
  std::uint64_t deadlocks = 0;
  std::uint64_t refuted = 0;
  std::uint64_t reversals = 0;
  for (std::uint64_t seed = from_environment("SOOTH_SEED", 1), i = 0; i < cases; ++i, ++seed) {
    const RandomTrace trace = tiny_trace(seed);
    const Exploration truth = explore(trace.events);
    ASSERT_TRUE(truth.complete);
    std::set<Sites> predictable, claimed, expected;
    for (const auto& [pair, witness] : truth.races) {
      predictable.insert(sites_of(trace, {pair.first, pair.second}));
    }
    for (const Candidate& pair : hybrid_conflicts(trace.events)) {
      claimed.insert(sites_of(trace, {pair.first, pair.second}));
    }
    std::ranges::set_intersection(predictable, claimed, std::inserter(expected, expected.end()));
    reversals += predictable.size() - expected.size();
    const MemoryTrace memory = in_memory(trace);
    MemoryTraceReader reader(memory, 1 + seed % 7);
    const Result<Report> report = analyze_trace(reader, options);
    const std::string where = "SOOTH_SEED=" + std::to_string(seed) + " SOOTH_CASES=1\n" + print_trace(trace.events);
    ASSERT_TRUE(report.ok()) << where << report.status().message();
    std::set<Sites> proven;
    for (const Finding& finding : report->findings) {
      ASSERT_TRUE(finding.witness.has_value()) << where;
      const bool checked = finding.witness->checked;
      refuted += finding.witness->refuted ? 1 : 0;
      EXPECT_FALSE(checked && finding.witness->refuted) << where;
      EXPECT_EQ(finding.rung >= Rung::kPredicted, checked || finding.observed) << where;
      if (finding.kind == FindingKind::kDeadlock) {
        deadlocks += checked ? 1 : 0;
        std::vector<EventId> acquires;
        for (const Access& access : finding.accesses) {
          acquires.push_back(access.event);
        }
        std::sort(acquires.begin(), acquires.end());
        EXPECT_EQ(checked, truth.deadlocks.contains(acquires)) << where;
      } else if (checked) {
        proven.insert(sites_of(trace, {finding.accesses[0].event, finding.accesses[1].event}));
      }
    }
    ASSERT_TRUE(std::ranges::includes(proven, expected)) << where;
    ASSERT_TRUE(std::ranges::includes(predictable, proven)) << where;
    races += proven.size();
    for (const std::string& note : report->notes) {
      ASSERT_EQ(note.find("fault of sooth"), std::string::npos) << where << note;
    }
  }
  std::cout << races << " races and " << deadlocks << " deadlocks proven, " << refuted << " claims refuted in " << cases
            << " traces; " << reversals << " races are no claims, because they reverse atomics or semaphores\n";
  if (cases >= 1'000) {
    EXPECT_GT(races * 10, cases);
    EXPECT_LT(reversals * 10, races);
    EXPECT_GT(refuted * 100, cases);
    EXPECT_GT(deadlocks * 1'000, cases);
  }
}

std::set<Sites> found_by(const Report& report, const RandomTrace& trace, const std::string& name, bool checked) {
  std::set<Sites> found;
  for (const Finding& finding : report.findings) {
    const bool named = std::find(finding.found_by.begin(), finding.found_by.end(), name) != finding.found_by.end();
    if (finding.kind == FindingKind::kRace && named && (!checked || finding.witness->checked)) {
      found.insert(sites_of(trace, {finding.accesses[0].event, finding.accesses[1].event}));
    }
  }
  return found;
}

// Alone and in a chain, where cheaper analyses answer first, mcm names what the explorer finds: so every syncp race,
// and every pair of hb or wcp that has a checked witness.
TEST(Mcm, NamesExactlyWhatIsPredictableAndContainsWhatHasAWitness) {
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000) / 2 + 1;
  std::uint64_t races = 0, beyond = 0, hb_only = 0;
  for (std::uint64_t seed = from_environment("SOOTH_SEED", 1), i = 0; i < cases; ++i, ++seed) {
    const RandomTrace trace = tiny_trace(seed);
    MemoryTrace memory = in_memory(trace);
    memory.values = seed % 3 == 0 ? random_values(trace.events, 2, seed) : std::vector<Value>{};
    memory.branches = seed % 4 == 0 ? random_branches(trace.events, 5, seed) : std::vector<Branch>{};
    const std::string where = "SOOTH_SEED=" + std::to_string(seed) + " SOOTH_CASES=1\n" + print_trace(trace.events);
    std::set<Sites> predictable;
    for (const auto& [pair, order] : explore(TraceView{trace.events, memory.values, memory.branches}).races) {
      predictable.insert(sites_of(trace, {pair.first, pair.second}));
    }
    for (const char* with : {"mcm", "hb,wcp,syncp,mcm"}) {
      AnalysisOptions options;
      options.detectors = *parse_detectors(with);
      options.mcm.jobs = 1 + seed % 2;
      MemoryTraceReader reader(memory, 1 + seed % 7);
      const Result<Report> report = analyze_trace(reader, options);
      ASSERT_TRUE(report.ok()) << where << report.status().message();
      const std::set<Sites> mcm = found_by(*report, trace, "mcm", true);
      ASSERT_EQ(mcm, predictable) << where << with;
      ASSERT_EQ(found_by(*report, trace, "mcm", false), mcm) << where << with;
      for (const char* other : {"hb", "wcp", "syncp"}) {
        const std::set<Sites> proven = found_by(*report, trace, other, std::string(other) != "syncp");
        ASSERT_TRUE(std::includes(mcm.begin(), mcm.end(), proven.begin(), proven.end())) << where << other;
      }
      for (const std::string& note : report->notes) {
        ASSERT_EQ(note.find("fault of sooth"), std::string::npos) << where << note;
      }
      races += mcm.size();
      beyond += options.detectors.size() > 1 ? mcm.size() - found_by(*report, trace, "syncp", true).size() : 0;
      hb_only += found_by(*report, trace, "hb", false).size() - found_by(*report, trace, "hb", true).size();
    }
  }
  std::cout << races << " races, of which syncp does not name " << beyond << "; hb names " << hb_only
            << " that no reordering reaches\n";
  if (cases >= 1'000) {
    EXPECT_GT(races * 10, cases);
    EXPECT_GT(beyond, 0u);
    EXPECT_GT(hb_only, 0u);
  }
}

}  // namespace
}  // namespace sooth::oracle
