// The witness checker against the definition, on the witnesses of the explorer and on mutations of them, for thousands of
// random traces. SOOTH_CASES sets the number of traces, SOOTH_SEED the first seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <sstream>

#include "oracle/explorer.h"
#include "oracle/random.h"
#include "oracle/random_trace.h"
#include "oracle/trace_text.h"
#include "oracle/witness_judge.h"
#include "race/witness.h"
#include "race/witness_summary.h"

namespace sooth::oracle {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::string show(const std::vector<EventId>& events) {
  std::string text;
  for (EventId id : events) {
    text += " " + std::to_string(raw(id));
  }
  return text;
}

// A trace with branches in every second case: after any event, of any thread.
struct Case {
  explicit Case(std::uint64_t case_seed)
      : seed(case_seed), trace(random_trace(kProfiles[seed % kProfiles.size()], seed)), random(seed ^ 0x7769746e657373) {
    const bool with_branches = random.percent(50);
    for (std::uint64_t before = 0; with_branches && before <= trace.events.size(); before += random.between(1, 20)) {
      branches.push_back({EventId{before}, ThreadId{random.below(trace.tables.thread_count())}, SiteId{0}, 0});
    }
  }
  TraceView view() const { return {trace.events, {}, branches, nullptr}; }

  const std::uint64_t seed;
  RandomTrace trace;
  Random random;
  std::vector<Branch> branches;
};

// A cycle needs its order; the explorer gives the acquires of a deadlock sorted.
std::optional<Witness> deadlock_witness(const TraceView& view, std::vector<EventId> acquires, std::vector<EventId> order) {
  Witness witness{FindingKind::kDeadlock, std::move(order), std::move(acquires)};
  do {
    if (why_no_witness(view, witness).empty()) {
      return witness;
    }
  } while (std::next_permutation(witness.next.begin(), witness.next.end()));
  return std::nullopt;
}

enum class Mutation : std::uint8_t { kDrop, kSwap, kMove, kOpenAcquire, kDuplicate, kOtherWrite, kExtend, kNext };
constexpr std::array kMutations = {Mutation::kDrop,      Mutation::kSwap,       Mutation::kMove,   Mutation::kOpenAcquire,
                                   Mutation::kDuplicate, Mutation::kOtherWrite, Mutation::kExtend, Mutation::kNext};
constexpr std::array kMutationNames = {"drop an event",      "swap two neighbours",      "move an event",
                                       "open a section",     "repeat an event",          "put a write in between",
                                       "let a thread go on", "name something else next"};

class Mutator {
 public:
  Mutator(const TraceView& trace, Random& random) : trace_(trace), random_(random) {}

  // Nothing when the witness has nothing to change in this way.
  std::optional<Witness> mutate(Witness witness, Mutation mutation) {
    std::vector<EventId>& order = witness.order;
    if (order.empty() && mutation != Mutation::kExtend && mutation != Mutation::kNext) {
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

  // Somewhere behind the rest of its thread, an event that its thread would do next and that `fits`. Should that be what
  // comes next in the witness, then what the thread does after it comes next.
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

class WitnessProperty : public testing::Test {
 protected:
  // Whether checker and definition agree on the witness; says so when they do not.
  static bool agree(const Case& c, const Witness& witness, const std::string& what) {
    const Status status = check_witness(c.view(), witness);
    const std::string verdict = why_no_witness(c.view(), witness);
    if (status.ok() == verdict.empty()) {
      return true;
    }
    std::string branches;
    for (const Branch& b : c.branches) {
      branches += " T" + std::to_string(raw(b.thread)) + "@" + std::to_string(raw(b.before));
    }
    ADD_FAILURE() << what << ", again with SOOTH_SEED=" << c.seed << " SOOTH_CASES=1\n" << print_trace(c.trace.events)
                  << "branches" << branches << "\norder" << show(witness.order) << "\nnext" << show(witness.next)
                  << "\nthe checker says: " << (status.ok() ? "fine" : status.message())
                  << "\nthe definition: " << (verdict.empty() ? "fine" : verdict);
    return false;
  }
};

TEST_F(WitnessProperty, AgreesWithTheDefinition) {
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000);
  const std::uint64_t first_seed = from_environment("SOOTH_SEED", 1);
  constexpr std::size_t kMostStates = 600;  // of the explorer: enough to see different witnesses
  constexpr std::size_t kMostWitnesses = 3;
  std::array<Tally, kMutations.size()> tallies;
  std::uint64_t races = 0;
  std::uint64_t deadlocks = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    Case c(seed);
    const Exploration found = explore(c.trace.events, kMostStates);
    std::vector<Witness> witnesses;
    for (const auto& [pair, order] : found.races) {
      witnesses.push_back({FindingKind::kRace, order, {pair.first, pair.second}});
    }
    races += witnesses.size();
    for (const auto& [acquires, order] : found.deadlocks) {
      const std::optional<Witness> witness = deadlock_witness(c.view(), acquires, order);
      ASSERT_TRUE(witness.has_value()) << "seed " << seed << ": no cycle of" << show(acquires);
      witnesses.push_back(*witness);
      ++deadlocks;
    }
    for (const Witness& witness : witnesses) {
      const Status status = check_witness(c.view(), witness);
      ASSERT_TRUE(status.ok()) << "seed " << seed << ": " << status.message() << "\n" << print_trace(c.trace.events);
      const Result<std::vector<EventId>> again = expand(summarise(witness, c.view()), c.view());
      ASSERT_TRUE(again.ok() && *again == witness.order) << "seed " << seed;
    }
    while (witnesses.size() > kMostWitnesses) {
      witnesses.erase(witnesses.begin() + c.random.below(witnesses.size()));
    }
    Mutator mutator(c.view(), c.random);
    for (const Witness& witness : witnesses) {
      ASSERT_TRUE(agree(c, witness, "unchanged"));
      for (std::size_t m = 0; m < kMutations.size(); ++m) {
        const std::optional<Witness> mutant = mutator.mutate(witness, kMutations[m]);
        if (mutant) {
          ASSERT_TRUE(agree(c, *mutant, kMutationNames[m]));
          ++(check_witness(c.view(), *mutant).ok() ? tallies[m].accepted : tallies[m].rejected);
        }
      }
    }
  }
  Tally all;
  for (std::size_t m = 0; m < tallies.size(); ++m) {
    std::cout << kMutationNames[m] << ": " << tallies[m].accepted << " accepted, " << tallies[m].rejected << " rejected\n";
    all.accepted += tallies[m].accepted;
    all.rejected += tallies[m].rejected;
  }
  std::cout << cases << " traces, " << races << " witnesses of races, " << deadlocks << " of deadlocks\n";
  if (cases >= 10'000) {  // both answers must occur, or nothing was compared
    EXPECT_GE(all.accepted + all.rejected, 10'000u);
    EXPECT_GE(all.accepted, 1'000u);
    EXPECT_GE(all.rejected, 1'000u);
    EXPECT_GE(races, 10'000u);
    EXPECT_GE(deadlocks, 50u);
    for (std::size_t m = 0; m < tallies.size(); ++m) {
      EXPECT_GE(tallies[m].rejected, 100u) << kMutationNames[m];
    }
  }
}

}  // namespace
}  // namespace sooth::oracle
