// The explorer and the partial orders against each other and against the theorems about them.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "base/test_environment.h"
#include "oracle/explorer.h"
#include "oracle/minimise.h"
#include "oracle/oracle.h"
#include "oracle/partial_orders.h"
#include "oracle/random_trace.h"
#include "oracle/trace_text.h"

namespace sooth::oracle {
namespace {

std::uint64_t cases() { return from_environment("SOOTH_CASES", 10'000); }

// What the theorems speak about: locks and must-order, no atomics; small enough to explore.
RandomTrace small_trace(std::uint64_t seed, bool nested, std::uint32_t shared_percent) {
  RandomTraceOptions options;
  options.events = 10 + static_cast<std::uint32_t>(seed % 11);
  options.threads = 2 + static_cast<std::uint32_t>(seed / 11 % 3);
  options.locks = 2 + static_cast<std::uint32_t>(seed / 33 % 2);
  options.reentrant_percent = 5;
  options.variables = 1 + static_cast<std::uint32_t>(seed / 66 % 2);
  options.sites = 60;
  options.nested = nested;
  options.shared_percent = shared_percent;
  const std::uint32_t must = seed / 7 % 2 == 0 ? 0 : 1;
  options.forked_percent = 40 * must;
  const auto weigh = [&](Action action, std::uint32_t weight) {
    options.weights[static_cast<std::size_t>(action)] = weight;
  };
  weigh(Action::kAccess, seed / 13 % 2 == 0 ? 3 : 8);  // few accesses: races do not hide what locks do
  weigh(Action::kAcquire, 10);
  weigh(Action::kRelease, 7);
  weigh(Action::kFork, must);
  for (Action action : {Action::kJoin, Action::kNotify, Action::kWait, Action::kBefore, Action::kAfter, Action::kArrive,
                        Action::kLeave, Action::kPost, Action::kSemWait}) {
    weigh(action, must);
  }
  return random_trace(options, seed);
}

bool subset(const std::vector<Candidate>& small, const std::vector<Candidate>& large) {
  return std::all_of(small.begin(), small.end(),
                     [&](const Candidate& c) { return std::find(large.begin(), large.end(), c) != large.end(); });
}

// A second opinion on a witness: thread prefixes, hard order, counts of semaphores, lock modes and the write that each byte read sees.
bool is_correct_reordering(std::span<const Event> trace, const std::vector<EventId>& order) {
  std::vector<Event> events;
  std::vector<Index> ids;
  for (EventId id : order) {
    events.push_back(trace[raw(id)]);
    ids.push_back(raw(id));
  }
  const auto last_write = [](std::span<const Event> t, Index before, std::uint64_t byte) -> std::optional<Index> {
    for (Index w = before; w-- > 0;) {
      if (is_write(t[w].op) && byte >= t[w].object && byte - t[w].object < t[w].size) {
        return w;
      }
    }
    return std::nullopt;
  };
  const Relation must = hard_order(trace);
  for (Index i = 0; i < ids.size(); ++i) {
    const auto here = ids.begin() + static_cast<std::ptrdiff_t>(i);
    for (Index before = 0; before < trace.size(); ++before) {
      if (must.ordered(before, ids[i]) && std::find(ids.begin(), here, before) == here) {
        return false;
      }
    }
    for (std::uint64_t b = 0; is_read(events[i].op) && b < events[i].size; ++b) {
      const std::optional<Index> now = last_write(events, i, events[i].object + b);
      const std::optional<Index> then = last_write(trace, ids[i], events[i].object + b);
      if (now.has_value() != then.has_value() || (now && ids[*now] != *then)) {
        return false;
      }
    }
  }
  std::map<std::uint64_t, std::size_t> counts = first_counts(trace);
  for (const Event& e : events) {  // nothing is allocated in these traces: all semaphores are counters
    if (e.op == Op::kSemPost) {
      ++counts[e.object];
    } else if (e.op == Op::kSemWait && counts[e.object]-- == 0) {
      return false;
    }
  }
  const std::vector<Section> sections = sections_of(events);
  for (const Section& a : sections) {
    for (const Section& b : sections) {
      const bool overlap = a.acquire < b.acquire && (!a.release || *a.release > b.acquire);
      if (a.lock == b.lock && a.thread != b.thread && overlap && (a.exclusive || b.exclusive)) {
        return false;
      }
    }
  }
  return true;
}

TEST(ExplorerTest, RacesAreUnprotectedPairsWithACorrectWitness) {
  std::uint64_t races = 0;
  std::uint64_t deadlocks = 0;
  for (std::uint64_t seed = 0; seed < cases(); ++seed) {
    const RandomTrace trace = small_trace(seed, seed % 2 == 0, 25);
    const Exploration found = explore(trace.events);
    ASSERT_TRUE(found.complete) << print_trace(trace.events);
    ASSERT_TRUE(subset(found.candidates(), unprotected_conflicts(trace.events, hard_order(trace.events))))
        << print_trace(trace.events);
    for (const auto& [pair, witness] : found.races) {
      ASSERT_TRUE(is_correct_reordering(trace.events, witness)) << print_trace(trace.events);
    }
    for (const auto& [acquires, witness] : found.deadlocks) {
      ASSERT_GE(acquires.size(), 2u);
      ASSERT_TRUE(is_correct_reordering(trace.events, witness)) << print_trace(trace.events);
    }
    // The recorded run leaves them unordered: without atomics the first of them can always be reached.
    ASSERT_TRUE(hb_conflicts(trace.events).empty() || !found.races.empty()) << print_trace(trace.events);
    races += found.races.empty() ? 0 : 1;
    deadlocks += found.deadlocks.empty() ? 0 : 1;
  }
  std::cout << cases() << " traces, " << races << " with a predictable race, " << deadlocks << " with a deadlock\n";
  EXPECT_GT(races * 10, cases());
  EXPECT_GT(deadlocks * 100, cases());
}

TEST(ExplorerTest, ReadsSeeTheSameWriteByteByByte) {
  const auto races = [](const char* text) {
    const TextTrace trace = parse_trace(text);
    std::string pairs;
    for (const auto& [pair, witness] : explore(trace.events).races) {
      pairs += std::to_string(raw(pair.first)) + "," + std::to_string(raw(pair.second)) + " ";
    }
    return pairs;
  };
  // The read of the two bytes needs both writes, so what follows it comes after them; next to them it may be.
  EXPECT_EQ(races("A|w(0x10:1)|0 A|w(0x11:1)|1 B|r(0x10:2)|2 B|w(0x10:1)|3"), "0,2 1,2 ");
  EXPECT_EQ(races("A|w(x)|0 B|armw(x)|1 B|r(x)|2"), "0,1 ");
}

TEST(ExplorerTest, ReaderLocksShareAndReentrantOnesDoNotBlock) {
  const auto deadlocks = [](const char* text) { return explore(parse_trace(text).events).deadlocks.size(); };
  EXPECT_EQ(deadlocks("A|acq(l)|1 A|acq(m)|2 A|rel(m)|3 A|rel(l)|4 B|acq(m)|5 B|acq(l)|6"), 1u);
  EXPECT_EQ(deadlocks("A|racq(l)|1 A|racq(m)|2 A|rrel(m)|3 A|rrel(l)|4 B|racq(m)|5 B|racq(l)|6"), 0u);
  EXPECT_EQ(deadlocks("A|racq(l)|1 A|acq(m)|2 A|rel(m)|3 A|rrel(l)|4 B|acq(m)|5 B|acq(l)|6"), 1u);
  EXPECT_EQ(deadlocks("A|acq(l)|1 A|acq(l)|2 A|rel(l)|3 A|rel(l)|4 B|acq(l)|5"), 0u);
}

TEST(PartialOrderTest, EachFindsMoreThanTheOneBefore) {
  std::uint64_t beyond_hb = 0;
  std::uint64_t beyond_cp = 0;
  for (std::uint64_t seed = 0; seed < cases(); ++seed) {
    const RandomTrace trace = small_trace(seed, seed % 2 == 0, 25);
    const std::vector<Candidate> hb = hb_conflicts(trace.events);
    const std::vector<Candidate> cp = cp_conflicts(trace.events);
    const std::vector<Candidate> wcp = wcp_conflicts(trace.events);
    ASSERT_TRUE(subset(hb, cp)) << print_trace(trace.events);
    ASSERT_TRUE(subset(cp, wcp)) << print_trace(trace.events);
    beyond_hb += cp.size() > hb.size() ? 1 : 0;
    beyond_cp += wcp.size() > cp.size() ? 1 : 0;
  }
  std::cout << cases() << " traces, CP beyond HB in " << beyond_hb << ", WCP beyond CP in " << beyond_cp << "\n";
  EXPECT_GT(beyond_hb, 0u);
  EXPECT_GT(beyond_cp, 0u);
}

// The order leaves a conflicting pair unordered, but no reordering has a race or a deadlock.
bool refutes(std::span<const Event> trace, const PartialOrderOptions& options) {
  if (unordered_conflicts(trace, wcp_order(trace, options)).empty()) {
    return false;
  }
  const Exploration found = explore(trace);
  return found.complete && found.races.empty() && found.deadlocks.empty();
}

// Theorem 1 of the paper, for the order as stated in partial_orders.h: nested locks, also reader locks.
TEST(PartialOrderTest, AWcpPairMeansAPredictableRaceOrDeadlockWhenLocksAreNested) {
  const auto refuted = [](std::span<const Event> trace) { return refutes(trace, {}); };
  std::uint64_t pairs = 0;
  for (std::uint64_t seed = 0; seed < cases(); ++seed) {
    const RandomTrace trace = small_trace(seed, true, seed % 2 == 0 ? 0 : 30);
    pairs += wcp_conflicts(trace.events).empty() ? 0 : 1;
    if (refuted(trace.events)) {
      FAIL() << "seed " << seed << "\n" << print_trace(minimise(trace.events, refuted));
    }
  }
  EXPECT_GT(pairs * 10, cases());
}

// Why that test means something: without the rule for edges in sections it fails.
TEST(PartialOrderTest, WithoutTheRuleForEdgesInSectionsThereAreFalsePairs) {
  PartialOrderOptions without;
  without.edges_in_sections = false;
  const TextTrace fork =
      parse_trace("T0|acq(l)|1 T0|r(x)|2 T0|rel(l)|3 T1|acq(l)|4 T1|fork(T2)|5 T2|w(x)|6 T1|join(T2)|7 T1|rel(l)|8");
  EXPECT_FALSE(refutes(fork.events, {}));
  EXPECT_TRUE(refutes(fork.events, without));
  for (std::uint64_t seed = 0; seed < 100'000; ++seed) {
    if (refutes(small_trace(seed, true, seed % 2 == 0 ? 0 : 30).events, without)) {
      std::cout << "refuted at seed " << seed << "\n";
      return;
    }
  }
  FAIL() << "no random trace needs the rule";
}

}  // namespace
}  // namespace sooth::oracle
