// Locks that programs make of atomics and semaphores, on thousands of runs of small random programs, against the explorer
// of all correct reorderings. SOOTH_CASES sets the number of runs, SOOTH_SEED the first seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <set>

#include "base/test_environment.h"
#include "oracle/explorer.h"
#include "oracle/made_lock_programs.h"
#include "oracle/oracle.h"
#include "oracle/trace_text.h"
#include "order/lock_view.h"
#include "pipeline/registry.h"

namespace sooth::oracle {
namespace {

using Pairs = std::set<std::pair<std::uint32_t, std::uint32_t>>;  // of events, the earlier first

// What the detector reports of the run when it sees those locks. Every event has a site of its own.
Pairs pairs_of(const char* detector, const MadeLockRun& run, std::span<const MadeLock> locks, bool with_locks) {
  const DetectorInfo* const info = find_detector(detector);
  LockView view(locks, info->sees_locks == SeesLocks::kMeant ? LockView::Of::kMeant : LockView::Of::kReversible);
  Batch batch;
  batch.events = run.events;
  const std::unique_ptr<Detector> made = info->make({});
  made->consume(with_locks ? view.show(batch) : batch);
  made->finish();
  Pairs pairs;
  for (const SitePair& pair : made->races().pairs()) {
    pairs.emplace(raw(pair.low_site), raw(pair.high_site));
  }
  return pairs;
}

Pairs explored_races(const MadeLockRun& run) {
  TraceView view;
  view.events = run.events;
  view.values = run.values;
  const Exploration truth = explore(view);
  EXPECT_TRUE(truth.complete);
  Pairs pairs;
  for (const auto& [pair, order] : truth.races) {
    pairs.emplace(static_cast<std::uint32_t>(raw(pair.first)), static_cast<std::uint32_t>(raw(pair.second)));
  }
  return pairs;
}

std::size_t count_without(const Pairs& pairs, const Pairs& others) {
  return static_cast<std::size_t>(
      std::count_if(pairs.begin(), pairs.end(), [&](const auto& pair) { return !others.contains(pair); }));
}

struct Row {
  std::size_t pairs = 0, refuted = 0, before = 0;  // before: without seeing the locks
};

TEST(MadeLockProperty, RecognisedLocksHideNoRaceAndMakeUpNone) {
  const std::uint64_t cases = from_environment("SOOTH_CASES", 2'000);
  const std::uint64_t first = from_environment("SOOTH_SEED", 1);
  std::map<std::string, Row> rows;
  std::size_t races = 0, locks_found = 0, reversible = 0, hidden = 0;
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    const MadeLockRun run = made_lock_run(seed);
    const std::vector<MadeLock> locks = find_made_locks(run.events, run.values);
    const Pairs truth = explored_races(run);
    races += truth.size();
    locks_found += locks.size();
    reversible += static_cast<std::size_t>(
        std::count_if(locks.begin(), locks.end(), [](const MadeLock& lock) { return lock.reversible; }));
    for (const char* name : {"wcp", "syncp", "hybrid", "hybrid:hard"}) {
      const Pairs found = pairs_of(name, run, locks, true);
      Row& row = rows[name];
      row.pairs += found.size();
      row.refuted += count_without(found, truth);
      row.before += count_without(truth, pairs_of(name, run, locks, false));
      const std::string again =
          "again with SOOTH_SEED=" + std::to_string(seed) + " SOOTH_CASES=1\n" + print_trace(run.events);
      if (name == std::string("syncp")) {
        ASSERT_EQ(count_without(found, truth), 0u) << "syncp claims what no reordering reaches; " << again;
      }
      if (name == std::string("hybrid:hard")) {
        ASSERT_EQ(count_without(truth, found), 0u) << "hybrid:hard lacks a race; " << again;
      }
      hidden += name == std::string("syncp") ? count_without(found, pairs_of(name, run, locks, false)) : 0;
    }
  }
  std::cout << cases << " runs, " << locks_found << " locks, " << reversible << " reversible, " << races
            << " races by exploration\n";
  for (const auto& [name, row] : rows) {
    std::cout << name << ": " << row.pairs << " pairs before the checker, " << row.refuted
              << " refuted by exploration; without the locks it lacks " << row.before << " races\n";
  }
  if (cases >= 1'000) {  // or nothing was asked
    EXPECT_GE(reversible * 4, cases);
    EXPECT_GE(hidden * 20, cases) << "races that syncp finds because it sees the locks";
  }
}

TEST(MadeLockProperty, WhatExcludesIsWhatTheDefinitionSays) {
  const std::uint64_t cases = from_environment("SOOTH_CASES", 2'000);
  const std::uint64_t first = from_environment("SOOTH_SEED", 1);
  std::size_t yes = 0, no = 0;
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    const MadeLockRun run = made_lock_run(seed);
    std::set<std::uint64_t> words, found;
    for (const Event& e : run.events) {
      if (is_atomic(e.op)) {
        words.insert(e.object);
      }
    }
    for (const MadeLock& lock : find_made_locks(run.events, run.values)) {
      if (lock.excludes && !lock.semaphore) {
        found.insert(lock.object);
      }
    }
    for (const std::uint64_t word : words) {
      ASSERT_EQ(found.contains(word), excludes(run, word))
          << "word " << word << ", again with SOOTH_SEED=" << seed << " SOOTH_CASES=1\n"
          << print_trace(run.events);
      ++(found.contains(word) ? yes : no);
    }
  }
  std::cout << yes << " words exclude, " << no << " do not\n";
  if (cases >= 1'000) {
    EXPECT_GE(yes * 10, cases);
    EXPECT_GE(no * 10, cases);
  }
}

}  // namespace
}  // namespace sooth::oracle
