// Maximal causality against the exhaustive explorer, on thousands of random traces: exactly the predictable pairs, with
// and without values and branches, with every stage and with the solver alone. SOOTH_CASES sets the number of traces,
// SOOTH_SEED the first seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <optional>
#include <set>

#include "base/test_environment.h"
#include "oracle/explorer.h"
#include "oracle/minimise.h"
#include "oracle/oracle.h"
#include "oracle/random.h"
#include "oracle/random_columns.h"
#include "oracle/random_trace.h"
#include "oracle/trace_text.h"
#include "oracle/witness_judge.h"
#include "order/made_locks.h"
#include "predict/mcm.h"

namespace sooth::oracle {
namespace {

struct Setting {
  const char* name;
  std::uint32_t values;    // different ones that writes store; 0: none are recorded
  std::uint32_t branches;  // events to a branch; 0: there are none
  McmStages stages;
  std::uint32_t percent;  // of SOOTH_CASES
};

constexpr McmStages kAll{};
constexpr McmStages kSolverAlone{.closure = false, .saturation = false, .search = false, .solver = true};
constexpr McmStages kNoSearch{.closure = true, .saturation = true, .search = false, .solver = true};

constexpr Setting kSettings[] = {
    {"Plain", 0, 0, kAll, 100},
    {"Values", 2, 0, kAll, 100},
    {"ManyValues", 4, 0, kAll, 30},
    {"Branches", 0, 6, kAll, 100},
    {"ValuesAndBranches", 2, 6, kAll, 50},
    {"SolverAlone", 0, 0, kSolverAlone, 5},
    {"SolverAloneValues", 2, 0, kSolverAlone, 5},
    {"SolverAloneBranches", 0, 5, kSolverAlone, 5},
    {"SolverAloneValuesAndBranches", 2, 5, kSolverAlone, 5},
    {"SolverInsteadOfSearch", 2, 8, kNoSearch, 20},
};

struct Tally {
  std::uint64_t by[2][kDecidedByCount] = {};  // [is it a race][DecidedBy]
  std::uint64_t skipped = 0;                  // too large for the explorer
  std::uint64_t locks = 0;                    // that the program made
};

// Whether the atomics of the trace of this seed are locks, mostly: rmws leave 1, and stores 0.
bool is_about_locks(std::uint64_t seed) { return seed % 3 == 0; }

// What such atomics hold, with random values in all else.
std::vector<Value> values_of_locks(std::span<const Event> events, std::uint32_t kinds, std::uint64_t seed) {
  std::vector<Value> values = random_values(events, kinds, seed);
  std::map<std::uint64_t, std::uint64_t> memory;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (is_atomic(events[i].op) && events[i].size == 4) {
      std::uint64_t& now = memory[events[i].object];
      values[i] = Value{};
      values[i].size = 4;
      values[i].low = events[i].op == Op::kAtomicStore ? 0 : now;
      now = events[i].op == Op::kAtomicRmw ? 1 : events[i].op == Op::kAtomicStore ? 0 : now;
    } else if (is_write(events[i].op)) {
      values[i] = Value{};  // it may lie there as well
      memory[events[i].object] = 7;
    } else if (events[i].op == Op::kAlloc || events[i].op == Op::kRead) {
      values[i] = Value{};
    }
  }
  return values;
}

// A trace with its side columns, drawn from the seed for whatever events there are.
struct Columns {
  std::vector<Value> values;
  std::vector<Branch> branches;

  Columns(std::span<const Event> events, const Setting& setting, std::uint64_t seed) {
    if (setting.values != 0) {
      values = is_about_locks(seed) ? values_of_locks(events, setting.values, seed)
                                    : random_values(events, setting.values, seed);
    }
    if (setting.branches != 0) {
      branches = random_branches(events, setting.branches, seed);
    }
  }
};

std::string show(const Columns& columns, std::span<const Event> events) {
  std::string text = print_trace(events);
  for (std::size_t i = 0; i < columns.values.size(); ++i) {
    text +=
        columns.values[i].size == 0 ? "" : " value " + std::to_string(i) + "=" + std::to_string(columns.values[i].low);
  }
  for (const Branch& branch : columns.branches) {
    text += " branch T" + std::to_string(raw(branch.thread)) + "@" + std::to_string(raw(branch.before));
  }
  return text + "\n";
}

std::string check_pair(const TraceIndex& index, const TraceView& view, Candidate pair, bool expected,
                       const Setting& setting, Tally& tally, const Window* window = nullptr) {
  Effort effort;
  McmOptions options;
  options.stages = setting.stages;
  const Prediction prediction = predict_race(index, pair, options, window, &effort);
  const std::string name = "race " + std::to_string(raw(pair.first)) + "," + std::to_string(raw(pair.second)) + ": ";
  if (const Unknown* unknown = std::get_if<Unknown>(&prediction)) {
    return name + "unknown: " + unknown->reason;
  }
  const Witness* witness = std::get_if<Witness>(&prediction);
  ++tally.by[witness != nullptr ? 1 : 0][static_cast<int>(effort.decided_by)];
  if ((witness != nullptr) != expected) {
    return name + (expected ? "infeasible, but the explorer gets there" : "a witness, but the explorer finds none");
  }
  if (witness == nullptr) {
    return "";
  }
  const std::string wrong = why_no_witness(view, *witness);
  const Status checked = check_witness(view, *witness);
  return wrong.empty() && checked.ok() ? "" : name + wrong + " / " + checked.message();
}

// The first wrong answer about the trace; empty when there is none.
std::string disagreement(std::span<const Event> events, const Setting& setting, std::uint64_t seed, Tally& tally) {
  const Columns columns(events, setting, seed);
  const TraceView view{events, columns.values, columns.branches};
  const Exploration truth = explore(view, 100'000);
  if (!truth.complete) {
    ++tally.skipped;
    return "";
  }
  const Memory memory(events);
  const TraceIndex index(view);
  for (Index b = 0; b < events.size(); ++b) {
    for (Index a = 0; a < b; ++a) {
      if (memory.is_access(a) && memory.is_access(b) && memory.conflict(a, b)) {
        const Candidate pair{EventId{a}, EventId{b}};
        const std::string wrong =
            check_pair(index, view, pair, truth.races.contains({pair.first, pair.second}), setting, tally);
        if (!wrong.empty()) {
          return wrong;
        }
      }
    }
  }
  // The pairs of sites, with candidates, windows that cover all, and two threads.
  std::set<std::pair<SiteId, SiteId>> expected, found;
  for (const auto& [pair, order] : truth.races) {
    expected.insert(std::minmax(events[raw(pair.first)].site, events[raw(pair.second)].site));
  }
  const std::vector<MadeLock> locks = find_made_locks(view.events, view.values);
  tally.locks += static_cast<std::uint64_t>(
      std::count_if(locks.begin(), locks.end(), [](const MadeLock& lock) { return lock.excludes; }));
  McmOptions options;
  options.stages = setting.stages;
  options.jobs = seed % 16 == 0 ? 2 : 1;
  for (const McmSitePair& pair : find_mcm_races(index, options).pairs) {
    if (pair.answer == McmSitePair::Answer::kRace) {
      found.emplace(pair.low_site, pair.high_site);
    }
  }
  return found == expected ? ""
                           : "other site pairs than the explorer: " + std::to_string(found.size()) + " instead of " +
                                 std::to_string(expected.size());
}

// Windows from any event on, up to the end: what comes before has happened as recorded.
std::string window_disagreement(std::span<const Event> events, const Setting& setting, std::uint64_t seed,
                                Tally& tally) {
  const Columns columns(events, setting, seed);
  const TraceView view{events, columns.values, columns.branches};
  const TraceIndex index(view);
  const Memory memory(events);
  McmOptions options;
  options.stages = setting.stages;
  const std::size_t past = events.empty() ? 0 : seed % events.size();
  const Window window(index, static_cast<EventIndex>(past), static_cast<EventIndex>(events.size()));
  const Exploration truth = explore(view, 100'000, past);
  tally.skipped += truth.complete ? 0 : 1;
  for (Index b = past; truth.complete && b < events.size(); ++b) {
    for (Index a = past; a < b; ++a) {
      if (!memory.is_access(a) || !memory.is_access(b) || !memory.conflict(a, b)) {
        continue;
      }
      const Candidate pair{EventId{a}, EventId{b}};
      const std::string wrong =
          check_pair(index, view, pair, truth.races.contains({pair.first, pair.second}), setting, tally, &window);
      if (!wrong.empty()) {
        return "after " + std::to_string(past) + " events: " + wrong;
      }
    }
  }
  return "";
}

// Pairs and triples of acquires, of which few can wait for each other.
std::string deadlock_disagreement(std::span<const Event> events, const Setting& setting, std::uint64_t seed,
                                  Tally& tally) {
  const Columns columns(events, setting, seed);
  const TraceView view{events, columns.values, columns.branches};
  const Exploration truth = explore(view, 100'000);
  tally.skipped += truth.complete ? 0 : 1;
  std::vector<std::vector<EventId>> questions;
  std::vector<EventId> acquires;
  for (Index e = 0; truth.complete && e < events.size(); ++e) {
    if (events[e].op == Op::kAcquire) {
      acquires.push_back(EventId{e});
    }
  }
  for (std::size_t a = 0; a < acquires.size(); ++a) {
    for (std::size_t b = a + 1; b < acquires.size(); ++b) {
      questions.push_back({acquires[a], acquires[b]});
      for (std::size_t c = b + 1; c < acquires.size(); ++c) {
        questions.push_back({acquires[a], acquires[b], acquires[c]});
      }
    }
  }
  const TraceIndex index(view);
  McmOptions options;
  options.stages = setting.stages;
  for (const std::vector<EventId>& question : questions) {
    Effort effort;
    const bool expected = truth.deadlocks.contains(question);
    const Prediction prediction = predict_deadlock(index, question, options, nullptr, &effort);
    const Witness* const witness = std::get_if<Witness>(&prediction);
    ++tally.by[witness != nullptr ? 1 : 0][static_cast<int>(effort.decided_by)];
    std::string wrong = std::holds_alternative<Unknown>(prediction) ? "unknown" : "";
    if (wrong.empty() && (witness != nullptr) != expected) {
      wrong = expected ? "infeasible, but the explorer gets there" : "a witness, but the explorer finds none";
    }
    if (wrong.empty() && witness != nullptr) {
      const Status checked = check_witness(view, *witness);
      wrong = why_no_witness(view, *witness) + checked.message();
    }
    if (!wrong.empty()) {
      return "deadlock of acquires from " + std::to_string(raw(question.front())) + " on: " + wrong;
    }
  }
  return "";
}

// One section within another after the other, with accesses between: dense in deadlocks.
RandomTrace locking_trace(std::uint64_t seed) {
  Random random(seed);
  RandomTrace trace;
  const std::uint32_t threads = random.between(2, 3);
  const auto add = [&](std::uint32_t thread, Op op, std::uint64_t object, std::uint32_t size = 0) {
    const SiteId site{static_cast<std::uint32_t>(trace.events.size())};
    trace.events.push_back({.object = object, .thread = ThreadId{thread}, .site = site, .size = size, .op = op});
  };
  const auto access = [&](std::uint32_t thread) {
    if (random.percent(40)) {
      add(thread, random.percent(50) ? Op::kRead : Op::kWrite, 0x1000 + 16 * random.below(2), 4);
    }
  };
  for (std::uint32_t rounds = random.between(2, 4); rounds > 0; --rounds) {
    const std::uint32_t thread = random.below(threads);
    const std::uint64_t outer = random.below(3), inner = (outer + 1 + random.below(2)) % 3;
    access(thread);
    add(thread, Op::kAcquire, outer);
    access(thread);
    add(thread, Op::kAcquire, inner);
    access(thread);
    add(thread, Op::kRelease, inner);
    add(thread, Op::kRelease, outer);
    access(thread);
  }
  return trace;
}

RandomTrace tiny_trace(std::uint64_t seed, Profile profile) {
  RandomTraceOptions options = random_options(profile, seed);
  options.events = 6 + options.events % 16;
  options.threads = std::min(options.threads, 4u);
  return random_trace(options, seed);
}

class McmProperty : public testing::TestWithParam<Setting> {};

RandomTrace any_trace(std::uint64_t seed) { return tiny_trace(seed, kProfiles[seed % kProfiles.size()]); }
RandomTrace trace_with_waits(std::uint64_t seed) { return tiny_trace(seed, Profile::kConditions); }

// Nothing but accesses, atomics of every order, fences and semaphores, and seldom something to allocate where they are.
RandomTrace trace_with_atomics_and_semaphores(std::uint64_t seed) {
  RandomTraceOptions options = random_options(Profile::kAtomics, seed);
  options.events = 6 + options.events % 16;
  options.threads = std::min(options.threads, 4u);
  options.weights[static_cast<std::size_t>(Action::kFence)] = 2;
  options.weights[static_cast<std::size_t>(Action::kPost)] = 6;
  options.weights[static_cast<std::size_t>(Action::kSemWait)] = 6;
  RandomTrace trace = random_trace(options, seed);
  std::map<std::uint64_t, std::optional<ThreadId>> holder;  // by atomic
  for (Event& e : trace.events) {                           // only who has taken gives
    std::optional<ThreadId>& held_by = holder[e.object];
    if (is_about_locks(seed) && e.op == Op::kAtomicStore) {
      e.op = held_by == e.thread ? Op::kAtomicStore : Op::kAtomicLoad;
      e.order = e.op == Op::kAtomicStore ? e.order : MemoryOrder::kAcquire;
      held_by = held_by == e.thread ? std::nullopt : held_by;
    } else if (e.op == Op::kAtomicRmw && !held_by) {
      held_by = e.thread;
    }
  }
  for (Event& e : trace.events) {  // semaphores lie in memory, too
    if (seed % 4 == 0 && (e.op == Op::kSemPost || e.op == Op::kSemWait)) {
      e.object = 0x1000 + 16 * e.object;
    }
  }
  return trace;
}

using Disagreement = std::string (*)(std::span<const Event>, const Setting&, std::uint64_t seed, Tally&);
using Draw = RandomTrace (*)(std::uint64_t seed);

// Empty, or the first trace that is answered wrongly, shrunk.
std::string compare(const Setting& setting, Disagreement disagree, std::uint64_t cases, Tally& tally,
                    Draw draw = any_trace) {
  const std::uint64_t first_seed = from_environment("SOOTH_SEED", 1);
  for (std::uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    const RandomTrace trace = draw(seed);
    if (disagree(trace.events, setting, seed, tally).empty()) {
      continue;
    }
    Tally unused;
    const std::vector<Event> small =
        minimise(trace.events, [&](std::span<const Event> t) { return !disagree(t, setting, seed, unused).empty(); });
    return "again with SOOTH_SEED=" + std::to_string(seed) + " SOOTH_CASES=1. Shrunk, events from 0:\n" +
           show(Columns(small, setting, seed), small) + disagree(small, setting, seed, unused);
  }
  return "";
}

std::uint64_t cases_of(std::uint64_t percent) {
  return std::max<std::uint64_t>(1, from_environment("SOOTH_CASES", 10'000) * percent / 100);
}

TEST_P(McmProperty, WindowsAreAnsweredExactly) {
  Tally tally;
  EXPECT_EQ(compare(GetParam(), window_disagreement, cases_of(GetParam().percent) / 5 + 1, tally), "");
}

// Who may be woken by whom is a question of its own.
TEST_P(McmProperty, WaitsForConditionsAreAnsweredExactly) {
  Tally tally;
  EXPECT_EQ(compare(GetParam(), disagreement, cases_of(GetParam().percent), tally, trace_with_waits), "");
  EXPECT_EQ(compare(GetParam(), window_disagreement, cases_of(GetParam().percent) / 5 + 1, tally, trace_with_waits),
            "");
}

// Which write an atomic sees, and which post lets a wait through, may change.
TEST_P(McmProperty, AtomicsAndSemaphoresAreAnsweredExactly) {
  Tally tally;
  const std::uint64_t cases = cases_of(GetParam().percent) / 4 + 1;
  EXPECT_EQ(compare(GetParam(), disagreement, cases, tally, trace_with_atomics_and_semaphores), "");
  EXPECT_EQ(compare(GetParam(), window_disagreement, cases / 5 + 1, tally, trace_with_atomics_and_semaphores), "");
  std::cout << tally.locks << " locks that the program made were recognised\n";
  if (cases >= 500 && GetParam().branches == 0) {
    EXPECT_GT(tally.locks, cases / 50);
  }
}

TEST_P(McmProperty, FindsExactlyWhatTheExplorerFinds) {
  const Setting& setting = GetParam();
  const std::uint64_t cases = cases_of(setting.percent);
  Tally tally;
  ASSERT_EQ(compare(setting, disagreement, cases, tally), "");
  std::cout << cases << " traces, " << tally.skipped << " too large for the explorer\n";
  for (const int race : {1, 0}) {
    std::cout << (race == 1 ? "races" : "no races") << ": closure " << tally.by[race][0] << ", saturation "
              << tally.by[race][1] << ", search " << tally.by[race][2] << ", solver " << tally.by[race][3] << "\n";
  }
  if (cases >= 500) {
    EXPECT_LT(tally.skipped * 20, cases);
    EXPECT_GT(tally.by[1][setting.stages.closure ? 0 : 3], cases / 10);
    EXPECT_GT(tally.by[0][1], 0u);
    if (setting.values + setting.branches != 0 && !setting.stages.search) {
      EXPECT_GT(tally.by[1][3], 0u);
    }
  }
}

TEST_P(McmProperty, FindsExactlyTheDeadlocksThatTheExplorerFinds) {
  const std::uint64_t cases = cases_of(GetParam().percent) / 10 + 1;
  Tally tally;
  ASSERT_EQ(compare(GetParam(), deadlock_disagreement, cases, tally, locking_trace), "");
  std::uint64_t found = 0;
  for (const std::uint64_t by : tally.by[1]) {
    found += by;
  }
  std::cout << cases << " traces, " << found << " deadlocks, of which the solver found " << tally.by[1][3] << "\n";
  if (cases >= 500) {
    EXPECT_GT(found, cases / 20);
    if (GetParam().values != 0) {
      EXPECT_GT(tally.by[1][3], 0u);
    }
  }
}

// What an analysis knows beyond must-order is kept by every stage.
TEST(McmExtraOrder, IsKept) {
  const TextTrace trace = parse_trace("A|w(x)|0 A|w(z)|1 B|w(q)|2 B|w(x)|3");
  const TraceView view{trace.events, {}, {}};
  const ExtraOrder extra[] = {{.from = 1, .to = 2}};
  for (const McmStages& stages : {kAll, kNoSearch, kSolverAlone}) {
    McmOptions options;
    options.stages = stages;
    const Candidate pair{EventId{0}, EventId{3}};
    EXPECT_TRUE(std::holds_alternative<Witness>(predict_race(TraceIndex(view), pair, options)));
    EXPECT_TRUE(std::holds_alternative<Infeasible>(predict_race(TraceIndex(view, extra), pair, options)));
  }
}

// Running out of time is never a "no".
TEST(McmTimeout, IsUnknown) {
  RandomTraceOptions random = random_options(Profile::kLocks, 1);
  random.events = 150;
  random.threads = 4;
  random.variables = 2;
  McmOptions hurried;
  hurried.stages = kSolverAlone;
  hurried.solver_timeout = std::chrono::milliseconds(1);
  int unknown = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const RandomTrace trace = random_trace(random, seed);
    const std::vector<Value> values = random_values(trace.events, 2, seed);
    const TraceView view{trace.events, values, {}};
    const TraceIndex index(view);
    const Memory memory(trace.events);
    int asked = 0;
    for (Index b = trace.events.size() - 1; b > 0 && asked < 4; --b) {
      for (Index a = b - 1; a > b / 2 && asked < 4; --a) {
        if (!memory.is_access(a) || !memory.is_access(b) || !memory.conflict(a, b)) {
          continue;
        }
        ++asked;
        const Candidate pair{EventId{a}, EventId{b}};
        const Prediction fast = predict_race(index, pair, hurried);
        const Prediction full = predict_race(index, pair, McmOptions{});
        unknown += std::holds_alternative<Unknown>(fast) ? 1 : 0;
        EXPECT_TRUE(std::holds_alternative<Unknown>(fast) || fast.index() == full.index()) << "seed " << seed;
      }
    }
  }
  EXPECT_GT(unknown, 0);
}

INSTANTIATE_TEST_SUITE_P(Settings, McmProperty, testing::ValuesIn(kSettings),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace sooth::oracle
