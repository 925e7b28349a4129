// Witnesses that were made small: still accepted, by the checker and by the definition, of the same pair, and larger in
// no respect. On the witnesses that an exhaustive search finds in thousands of random traces. SOOTH_CASES sets the
// number of traces, SOOTH_SEED the first seed.
#include "race/witness_size.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <set>

#include "base/test_environment.h"
#include "oracle/explorer.h"
#include "oracle/random.h"
#include "oracle/random_columns.h"
#include "oracle/random_trace.h"
#include "oracle/trace_text.h"
#include "oracle/witness_judge.h"

namespace sooth::oracle {
namespace {

struct ShrinkCase {
  std::vector<Event> events;
  std::vector<Branch> branches;
  std::vector<Value> values;
  std::vector<Reach> reaches;

  TraceView view() const { return {events, values, branches, nullptr, reaches}; }
};

ShrinkCase draw_shrink_case(std::uint64_t seed) {
  Random random(seed ^ 0x736872696e6b);
  ShrinkCase c;
  const bool has_calls = seed % 7 == 6;
  c.events = random_trace(has_calls ? Profile::kCalls : kProfiles[seed % kProfiles.size()], seed).events;
  if (has_calls) {
    c.reaches = random_reaches(c.events, seed);
  }
  const bool with_branches = random.percent(50);
  for (std::uint64_t before = 0; with_branches && before <= c.events.size(); before += random.between(1, 20)) {
    c.branches.push_back({EventId{before}, ThreadId{random.below(5)}, SiteId{0}, 0});
  }
  if (seed % 3 == 0) {
    c.values = random_values(c.events, 2, seed);
  }
  return c;
}

struct ShrinkTally {
  std::uint64_t witnesses = 0;
  std::uint64_t fewer_threads = 0, fewer_switches = 0, fewer_events = 0;
};

// What is wrong with the smaller witness; empty: nothing.
std::string fault_of(const ShrinkCase& c, const Witness& witness, ShrinkTally& tally) {
  const TraceView view = c.view();
  const Witness small = shrink(view, witness);
  const WitnessSize before = size_of(view, witness);
  const WitnessSize after = size_of(view, small);
  ++tally.witnesses;
  tally.fewer_threads += after.threads < before.threads ? 1 : 0;
  tally.fewer_switches += after.switches < before.switches ? 1 : 0;
  tally.fewer_events += after.events < before.events ? 1 : 0;
  if (small.next != witness.next || small.kind != witness.kind) {
    return "it is a witness of something else";
  }
  if (after.threads > before.threads || after.switches > before.switches || after.events > before.events) {
    return "it is larger";
  }
  if (const Status status = check_witness(view, small); !status.ok()) {
    return "the checker rejects it: " + status.message();
  }
  const std::string verdict = why_no_witness(view, small);
  return verdict.empty() ? "" : "the definition rejects it: " + verdict;
}

TEST(WitnessSizeProperty, ASmallerOneIsAWitnessOfTheSame) {
  const std::uint64_t cases = from_environment("SOOTH_CASES", 3'000);
  const std::uint64_t first_seed = from_environment("SOOTH_SEED", 1);
  constexpr std::size_t kMostStates = 300;
  ShrinkTally tally;
  for (std::uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    const ShrinkCase c = draw_shrink_case(seed);
    const Exploration found = explore(c.view(), kMostStates);
    for (const auto& [pair, order] : found.races) {
      const Witness witness{FindingKind::kRace, order, {pair.first, pair.second}};
      ASSERT_EQ(fault_of(c, witness, tally), "") << "again with SOOTH_SEED=" << seed << " SOOTH_CASES=1\n"
                                                 << print_trace(c.events, c.reaches);
    }
    for (const auto& [acquires, order] : found.deadlocks) {
      Witness witness{FindingKind::kDeadlock, order, acquires};
      while (!check_witness(c.view(), witness).ok() &&
             std::next_permutation(witness.next.begin(), witness.next.end())) {
      }
      ASSERT_EQ(fault_of(c, witness, tally), "") << "again with SOOTH_SEED=" << seed << " SOOTH_CASES=1\n"
                                                 << print_trace(c.events, c.reaches);
    }
  }
  std::cout << tally.witnesses << " witnesses: " << tally.fewer_threads << " with fewer threads, "
            << tally.fewer_switches << " with fewer switches, " << tally.fewer_events << " with fewer events\n";
  if (cases >= 3'000) {  // or nothing was compared
    EXPECT_GE(tally.witnesses, 3'000u);
    EXPECT_GE(tally.fewer_threads, 100u);
    EXPECT_GE(tally.fewer_switches, 1'000u);
    EXPECT_GE(tally.fewer_events, 1'000u);
  }
}

// Ten threads take the same lock, one after the other; two of them, which the lock does not protect, race.
TEST(WitnessSize, ShowsOnlyTheThreadsThatMatter) {
  std::vector<Event> events;
  const auto add = [&](std::uint32_t thread, Op op, std::uint64_t object, std::uint32_t size = 0) {
    events.push_back({object, ThreadId{thread}, SiteId{0}, size, op});
    return EventId{events.size() - 1};
  };
  constexpr std::uint32_t kThreads = 10;
  for (std::uint32_t t = 1; t <= kThreads; ++t) {
    add(0, Op::kFork, t);
  }
  std::vector<EventId> writes;
  for (std::uint32_t t = 1; t <= kThreads; ++t) {
    add(t, Op::kAcquire, 77);
    add(t, Op::kWrite, 0x2000 + 8 * t, 8);
    add(t, Op::kRelease, 77);
    writes.push_back(add(t, Op::kWrite, 0x1000, 4));
  }
  Witness witness{FindingKind::kRace, {}, {writes[3], writes[7]}};
  for (std::size_t i = 0; i < events.size(); ++i) {
    const bool is_left_out = std::find(writes.begin(), writes.end(), EventId{i}) != writes.end();
    if (!is_left_out) {
      witness.order.push_back(EventId{i});
    }
  }
  const TraceView view{events, {}, {}, nullptr};
  ASSERT_TRUE(check_witness(view, witness).ok());
  const WitnessSize size = size_of(view, shrink(view, witness));
  EXPECT_EQ(size.threads, 3u);
  EXPECT_EQ(size.switches, 2u);
  EXPECT_EQ(size.events, 8u + 6u);  // the forks up to the eighth, and two sections
}

}  // namespace
}  // namespace sooth::oracle
