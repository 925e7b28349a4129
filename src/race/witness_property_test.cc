// The witness checker against the definition, on the witnesses of the explorer and on mutations of them, for
// thousands of random traces. SOOTH_CASES sets the number of traces, SOOTH_SEED the first seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <optional>
#include <sstream>

#include "base/test_environment.h"
#include "oracle/explorer.h"
#include "oracle/minimise.h"
#include "oracle/random.h"
#include "oracle/random_columns.h"
#include "oracle/random_trace.h"
#include "oracle/trace_text.h"
#include "oracle/witness_judge.h"
#include "race/witness.h"
#include "race/witness_summary.h"

namespace sooth::oracle {
namespace {

std::string show(const std::vector<EventId>& events) {
  std::string text;
  for (EventId id : events) {
    text += " " + std::to_string(raw(id));
  }
  return text;
}

// What is compared: a trace, and the seed of all that is drawn for it.
struct Case {
  std::uint64_t seed = 0;
  std::vector<Event> events;
  std::vector<Branch> branches;
  std::vector<Value> values;
  std::vector<Reach> reaches = {};

  TraceView view() const { return {events, values, branches, nullptr, reaches}; }
};

// Small traces of locks alone reach deadlocks, which others rarely do.
std::vector<Event> draw_events(std::uint64_t seed, Random& random) {
  if (random.percent(80)) {
    return random_trace(kProfiles[seed % kProfiles.size()], seed).events;
  }
  RandomTraceOptions options;
  options.events = random.between(10, 20);
  options.threads = random.between(2, 3);
  options.locks = 2;
  options.shared_percent = 15;
  options.forked_percent = 0;
  options.weights[static_cast<std::size_t>(Action::kAcquire)] = 8;
  options.weights[static_cast<std::size_t>(Action::kRelease)] = 6;
  options.weights[static_cast<std::size_t>(Action::kAccess)] = 1;
  return random_trace(options, seed).events;
}

bool has_values(std::uint64_t seed) { return seed / 2 % 3 == 0; }
bool has_calls(std::uint64_t seed) { return seed % 5 == 4; }

// Every second case has branches: anywhere, of any thread. Every third has values, every fifth calls with their
// reaches.
Case draw_case(std::uint64_t seed) {
  Random random(seed ^ 0x7769746e657373);
  Case c{seed, has_calls(seed) ? random_trace(Profile::kCalls, seed).events : draw_events(seed, random), {}, {}};
  if (has_calls(seed)) {
    c.reaches = random_reaches(c.events, seed);
  }
  const bool with_branches = random.percent(50);
  for (std::uint64_t before = 0; with_branches && before <= c.events.size(); before += random.between(1, 20)) {
    c.branches.push_back({EventId{before}, ThreadId{random.below(5)}, SiteId{0}, 0});
  }
  if (has_values(seed)) {
    c.values = random_values(c.events, 2, seed);
  }
  return c;
}

// A cycle needs its order; the explorer gives the acquires of a deadlock sorted.
std::optional<Witness> deadlock_witness(const TraceView& view, std::vector<EventId> acquires,
                                        std::vector<EventId> order) {
  Witness witness{FindingKind::kDeadlock, std::move(order), std::move(acquires)};
  do {
    if (why_no_witness(view, witness).empty()) {
      return witness;
    }
  } while (std::next_permutation(witness.next.begin(), witness.next.end()));
  return std::nullopt;
}

enum class Mutation : std::uint8_t {
  kDrop,
  kSwap,
  kMove,
  kOpenAcquire,
  kDuplicate,
  kOtherWrite,
  kExtend,
  kNext,
  kDeadlock
};
constexpr std::array kMutations = {Mutation::kDrop,        Mutation::kSwap,      Mutation::kMove,
                                   Mutation::kOpenAcquire, Mutation::kDuplicate, Mutation::kOtherWrite,
                                   Mutation::kExtend,      Mutation::kNext,      Mutation::kDeadlock};
constexpr std::array kMutationNames = {"drop an event",      "swap two neighbours",      "move an event",
                                       "open a section",     "repeat an event",          "put a write in between",
                                       "let a thread go on", "name something else next", "claim a deadlock"};

class Mutator {
 public:
  Mutator(const TraceView& trace, Random& random) : trace_(trace), random_(random) {}

  // Nothing when the witness has nothing to change in this way.
  std::optional<Witness> mutate(Witness witness, Mutation mutation) {
    std::vector<EventId>& order = witness.order;
    if (order.empty() && mutation < Mutation::kExtend) {
      return std::nullopt;
    }
    switch (mutation) {
      case Mutation::kDrop: order.erase(some(order)); return witness;
      case Mutation::kSwap: return swap_neighbours(std::move(witness));
      case Mutation::kMove: {
        const auto from = some(order);
        const EventId id = *from;
        order.erase(from);
        order.insert(gap(order, 0), id);
        return witness;
      }
      case Mutation::kOpenAcquire: return insert(std::move(witness), [](Op op) { return op == Op::kAcquire; });
      case Mutation::kDuplicate: {
        const EventId id = *some(order);
        order.insert(gap(order, 0), id);
        return witness;
      }
      case Mutation::kOtherWrite: return other_write(std::move(witness));
      case Mutation::kExtend: return insert(std::move(witness), [](Op) { return true; });
      case Mutation::kNext:
        witness.next[random_.below(witness.next.size())] = EventId{random_.below(trace_.events.size() + 1)};
        return witness;
      case Mutation::kDeadlock: return claim_deadlock(std::move(witness));
    }
    return std::nullopt;
  }

 private:
  using Iterator = std::vector<EventId>::iterator;

  Iterator some(std::vector<EventId>& order) { return order.begin() + random_.below(order.size()); }
  // A place to insert at, not before `from`.
  Iterator gap(std::vector<EventId>& order, std::size_t from) {
    return order.begin() + static_cast<std::ptrdiff_t>(from + random_.below(order.size() - from + 1));
  }
  ThreadId thread(EventId id) const { return trace_.events[raw(id)].thread; }

  std::optional<Witness> swap_neighbours(Witness witness) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i + 1 < witness.order.size(); ++i) {
      if (thread(witness.order[i]) != thread(witness.order[i + 1])) {
        places.push_back(i);
      }
    }
    if (places.empty()) {
      return std::nullopt;
    }
    const std::size_t at = random_.pick(places);
    std::swap(witness.order[at], witness.order[at + 1]);
    return witness;
  }

  // Somewhere behind the rest of its thread, an event that its thread would do next and that `fits`. Should that be
  // what comes next in the witness, then what the thread does after it comes next.
  template <typename Fits>
  std::optional<Witness> insert(Witness witness, Fits fits) {
    std::vector<EventId> candidates;
    for (std::size_t id = 0; id < trace_.events.size(); ++id) {
      if (fits(trace_.events[id].op) && first_left_out(witness, trace_.events[id].thread) == EventId{id}) {
        candidates.push_back(EventId{id});
      }
    }
    if (candidates.empty()) {
      return std::nullopt;
    }
    const EventId chosen = random_.pick(candidates);
    std::size_t from = 0;
    for (std::size_t i = 0; i < witness.order.size(); ++i) {
      from = thread(witness.order[i]) == thread(chosen) ? i + 1 : from;
    }
    witness.order.insert(gap(witness.order, from), chosen);
    const auto next = std::find(witness.next.begin(), witness.next.end(), chosen);
    if (next != witness.next.end()) {
      *next = first_left_out(witness, thread(chosen)).value_or(chosen);
    }
    return witness;
  }

  std::optional<EventId> first_left_out(const Witness& witness, ThreadId thread_id) const {
    for (std::size_t id = 0; id < trace_.events.size(); ++id) {
      if (trace_.events[id].thread == thread_id &&
          std::find(witness.order.begin(), witness.order.end(), EventId{id}) == witness.order.end()) {
        return EventId{id};
      }
    }
    return std::nullopt;
  }

  // Of two threads that would go on with an acquire, or failing that with anything.
  std::optional<Witness> claim_deadlock(Witness witness) {
    std::vector<EventId> acquires;
    std::vector<EventId> others;
    for (std::uint32_t t = 0; t < 5; ++t) {
      if (const std::optional<EventId> next = first_left_out(witness, ThreadId{t})) {
        (trace_.events[raw(*next)].op == Op::kAcquire ? acquires : others).push_back(*next);
      }
    }
    std::vector<EventId>& from = acquires.size() >= 2 ? acquires : others;
    if (from.size() < 2) {
      return std::nullopt;
    }
    witness.kind = FindingKind::kDeadlock;
    const std::size_t first = random_.below(from.size() - 1);
    witness.next = {from[first], from[first + 1]};
    return witness;
  }

  // A write moves, within what its thread allows, so that a read of another thread may see it or lose it.
  std::optional<Witness> other_write(Witness witness) {
    std::vector<std::size_t> writes;
    for (std::size_t i = 0; i < witness.order.size(); ++i) {
      if (is_write(trace_.events[raw(witness.order[i])].op)) {
        writes.push_back(i);
      }
    }
    if (writes.empty()) {
      return insert(std::move(witness), [](Op op) { return is_write(op); });
    }
    const std::size_t at = random_.pick(writes);
    const EventId write = witness.order[at];
    std::size_t low = at;
    while (low > 0 && thread(witness.order[low - 1]) != thread(write)) {
      --low;
    }
    std::size_t high = at;
    while (high + 1 < witness.order.size() && thread(witness.order[high + 1]) != thread(write)) {
      ++high;
    }
    const std::size_t to = low + random_.below(high - low + 1);
    witness.order.erase(witness.order.begin() + static_cast<std::ptrdiff_t>(at));
    witness.order.insert(witness.order.begin() + static_cast<std::ptrdiff_t>(to), write);
    return witness;
  }

  const TraceView trace_;
  Random& random_;
};

struct Tally {
  std::uint64_t accepted = 0;
  std::uint64_t rejected = 0;
};

struct Tallies {
  std::array<Tally, kMutations.size()> by_mutation;
  std::uint64_t races = 0;
  std::uint64_t deadlocks = 0;
  std::uint64_t broke_call_order = 0;  // mutants of which nothing else is wrong
};

// Empty when checker and definition agree on the witness, else what both say.
std::string difference(const Case& c, const Witness& witness, const std::string& what) {
  const Status status = check_witness(c.view(), witness);
  const std::string verdict = why_no_witness(c.view(), witness);
  if (status.ok() == verdict.empty()) {
    return "";
  }
  std::ostringstream text;
  text << what << ":\n" << print_trace(c.events, c.reaches) << "branches";
  for (const Branch& b : c.branches) {
    text << " T" << raw(b.thread) << "@" << raw(b.before);
  }
  text << "\norder" << show(witness.order) << "\nnext" << show(witness.next)
       << "\nthe checker says: " << (status.ok() ? "fine" : status.message())
       << "\nthe definition: " << (verdict.empty() ? "fine" : verdict) << '\n';
  return text.str();
}

// The witnesses that the explorer finds, those of deadlocks last.
std::vector<Witness> explorer_witnesses(const Case& c, Tallies& tallies, std::string& complaint) {
  constexpr std::size_t kMostStates = 600;  // enough to see different witnesses
  const Exploration found = explore(c.view(), kMostStates);
  std::vector<Witness> witnesses;
  for (const auto& [pair, order] : found.races) {
    witnesses.push_back({FindingKind::kRace, order, {pair.first, pair.second}});
  }
  tallies.races += found.races.size();
  tallies.deadlocks += found.deadlocks.size();
  for (const auto& [acquires, order] : found.deadlocks) {
    if (const std::optional<Witness> witness = deadlock_witness(c.view(), acquires, order)) {
      witnesses.push_back(*witness);
    } else {
      complaint = "no cycle of" + show(acquires) + " after" + show(order) + "\n" + print_trace(c.events);
    }
  }
  return witnesses;
}

// What is wrong with the checker in this case; empty: nothing.
std::string compare(const Case& c, Tallies& tallies) {
  constexpr std::size_t kMostMutated = 3;
  std::string complaint;
  std::vector<Witness> witnesses = explorer_witnesses(c, tallies, complaint);
  for (const Witness& witness : witnesses) {
    if (const Status status = check_witness(c.view(), witness); !status.ok()) {
      return "a witness of the explorer is rejected: " + status.message() + "\n" + difference(c, witness, "unchanged");
    }
    const Result<std::vector<EventId>> again = expand(summarise(witness, c.view()), c.view());
    if (!again.ok() || *again != witness.order) {
      return "the order does not survive the report:" + show(witness.order) + "\n" + print_trace(c.events);
    }
  }
  Random random(c.seed ^ 0x6d757461746564);
  Mutator mutator(c.view(), random);
  while (witnesses.size() > kMostMutated) {
    witnesses.erase(witnesses.begin() + random.below(witnesses.size() - 1));
  }
  for (const Witness& witness : witnesses) {
    for (std::size_t m = 0; m < kMutations.size() && complaint.empty(); ++m) {
      if (const std::optional<Witness> mutant = mutator.mutate(witness, kMutations[m])) {
        complaint = difference(c, *mutant, kMutationNames[m]);
        Tally& tally = tallies.by_mutation[m];
        const bool fine = check_witness(c.view(), *mutant).ok();
        ++(fine ? tally.accepted : tally.rejected);
        TraceView without_calls = c.view();
        without_calls.reaches = {};
        tallies.broke_call_order += !fine && check_witness(without_calls, *mutant).ok() ? 1 : 0;
      }
    }
  }
  return complaint;
}

// The complaint about a smaller trace that fails as well.
std::string shrunk(const Case& c) {
  const auto complain = [&](const CallTrace& trace) {
    Case smaller{c.seed, trace.events, c.branches, {}, trace.reaches};
    smaller.values = has_values(c.seed) ? random_values(trace.events, 2, c.seed) : std::vector<Value>{};
    std::erase_if(smaller.branches, [&](const Branch& b) { return raw(b.before) > trace.events.size(); });
    Tallies unused;
    return compare(smaller, unused);
  };
  return complain(minimise({c.events, c.reaches}, [&](const CallTrace& trace) { return !complain(trace).empty(); }));
}

TEST(WitnessProperty, TheCheckerAgreesWithTheDefinition) {
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000);
  const std::uint64_t first_seed = from_environment("SOOTH_SEED", 1);
  Tallies tallies;
  for (std::uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    const Case c = draw_case(seed);
    if (!compare(c, tallies).empty()) {
      FAIL() << "again with SOOTH_SEED=" << seed << " SOOTH_CASES=1. Shrunk, events from 0:\n" << shrunk(c);
    }
  }
  Tally all;
  for (std::size_t m = 0; m < kMutations.size(); ++m) {
    const Tally& tally = tallies.by_mutation[m];
    std::cout << kMutationNames[m] << ": " << tally.accepted << " accepted, " << tally.rejected << " rejected\n";
    all.accepted += tally.accepted;
    all.rejected += tally.rejected;
    EXPECT_TRUE(cases < 10'000 || tally.rejected >= 100) << kMutationNames[m];
  }
  std::cout << cases << " traces, " << tallies.races << " witnesses of races, " << tallies.deadlocks
            << " of deadlocks, " << tallies.broke_call_order << " mutants rejected because of calls alone\n";
  if (cases >= 10'000) {  // both answers must occur, or nothing was compared
    EXPECT_GE(all.accepted + all.rejected, 10'000u);
    EXPECT_GE(all.accepted, 1'000u);
    EXPECT_GE(all.rejected, 1'000u);
    EXPECT_GE(tallies.races, 10'000u);
    EXPECT_GE(tallies.deadlocks, 100u);
    EXPECT_GE(tallies.broke_call_order, 100u);
  }
}

}  // namespace
}  // namespace sooth::oracle
