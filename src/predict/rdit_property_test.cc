// Maximal causality with calls that were not recorded: against the exhaustive explorer, and against what may have been
// in the calls (docs/semantics.md section 13). SOOTH_CASES sets the number of traces, SOOTH_SEED the first seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <set>

#include "base/test_environment.h"
#include "oracle/completions.h"
#include "oracle/explorer.h"
#include "oracle/minimise.h"
#include "oracle/oracle.h"
#include "oracle/random.h"
#include "oracle/random_columns.h"
#include "oracle/random_trace.h"
#include "oracle/trace_text.h"
#include "oracle/well_formed.h"
#include "oracle/witness_judge.h"
#include "predict/barrier_order.h"
#include "predict/mcm.h"

namespace sooth::oracle {
namespace {

using Pairs = std::set<std::pair<EventId, EventId>>;

struct Tally {
  std::uint64_t skipped = 0;  // too large for the explorer
  std::uint64_t races = 0;
  std::uint64_t prevented = 0;  // pairs that are a race without the calls
};

TraceView view_of(const CallTrace& trace) { return {trace.events, {}, {}, nullptr, trace.reaches}; }

// What the product says of all conflicting pairs; the witnesses are checked.
Pairs predicted(const TraceView& view, std::string& wrong) {
  Pairs races;
  const BarrierTrace calls(view);
  const TraceIndex index(calls.view(), calls.order());
  const Memory memory(view.events);
  for (Index b = 0; b < view.events.size(); ++b) {
    for (Index a = 0; a < b; ++a) {
      if (!memory.is_access(a) || !memory.is_access(b) || !memory.conflict(a, b)) {
        continue;
      }
      const Prediction prediction = predict_race(index, {EventId{a}, EventId{b}}, McmOptions{});
      const Witness* witness = std::get_if<Witness>(&prediction);
      if (witness != nullptr) {
        races.emplace(EventId{a}, EventId{b});
        const Status checked = check_witness(view, *witness);
        wrong += checked.ok() && why_no_witness(view, *witness).empty() ? "" : "witness: " + checked.message();
      } else if (std::holds_alternative<Unknown>(prediction)) {
        wrong += "no answer";
      }
    }
  }
  return races;
}

std::string show(const Pairs& pairs) {
  std::string text;
  for (const auto& [a, b] : pairs) {
    text += " " + std::to_string(raw(a)) + "," + std::to_string(raw(b));
  }
  return text;
}

// Runs `wrong` on `share` percent of SOOTH_CASES traces from `draw`, and shrinks the first that fails.
void compare(const std::function<CallTrace(std::uint64_t seed)>& draw,
             const std::function<std::string(const CallTrace&, std::uint64_t seed, Tally&)>& wrong,
             std::uint64_t share = 100) {
  const std::uint64_t cases = std::max<std::uint64_t>(1, from_environment("SOOTH_CASES", 10'000) * share / 100);
  const std::uint64_t first_seed = from_environment("SOOTH_SEED", 1);
  Tally tally;
  for (std::uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    const CallTrace trace = draw(seed);
    if (wrong(trace, seed, tally).empty()) {
      continue;
    }
    Tally unused;
    const CallTrace small = minimise(trace, [&](const CallTrace& t) { return !wrong(t, seed, unused).empty(); });
    FAIL() << "again with SOOTH_SEED=" << seed << " SOOTH_CASES=1. Shrunk, events from 0:\n"
           << print_trace(small.events, small.reaches) << wrong(small, seed, unused);
  }
  std::cout << cases << " traces, " << tally.skipped << " too large for the explorer; " << tally.races << " races, "
            << tally.prevented << " pairs that only the calls keep apart\n";
  if (cases >= 1'000) {
    EXPECT_LT(tally.skipped * 10, cases);
    EXPECT_GT(tally.races, cases / 10);
    EXPECT_GT(tally.prevented, cases / 10);
  }
}

void count(const CallTrace& trace, const Pairs& races, Tally& tally) {
  tally.races += races.size();
  for (const auto& [pair, order] : explore(trace.events, 50'000).races) {
    tally.prevented += races.contains(pair) ? 0 : 1;
  }
}

CallTrace draw_calls(std::uint64_t seed) {
  RandomTraceOptions options = random_options(Profile::kCalls, seed);
  options.events = 6 + options.events % 14;
  options.threads = std::min(options.threads, 4u);
  CallTrace trace{random_trace(options, seed).events, {}};
  trace.reaches = random_reaches(trace.events, seed);
  return trace;
}

TEST(RditProperty, FindsExactlyWhatTheExplorerFinds) {
  compare(draw_calls, [](const CallTrace& trace, std::uint64_t seed, Tally& tally) -> std::string {
    const std::vector<Value> values = seed % 2 == 0 ? random_values(trace.events, 2, seed) : std::vector<Value>{};
    const std::vector<Branch> branches = seed % 3 == 0 ? random_branches(trace.events, 6, seed) : std::vector<Branch>{};
    const TraceView view{trace.events, values, branches, nullptr, trace.reaches};
    const Exploration truth = explore(view, 50'000);
    if (!truth.complete) {
      ++tally.skipped;
      return "";
    }
    Pairs expected;
    for (const auto& [pair, order] : truth.races) {
      expected.insert(pair);
    }
    std::string wrong;
    const Pairs found = predicted(view, wrong);
    count(trace, found, tally);
    return found == expected ? wrong : "found" + show(found) + ", expected" + show(expected);
  });
}

// What is a race by rdit is one whatever the calls have done.
std::string unsound(const CallTrace& trace, const Completion& completion, Tally& tally) {
  const Exploration truth = explore(completion.events, 100'000);
  if (!truth.complete) {
    ++tally.skipped;
    return "";
  }
  const auto races = completion.observed_races(truth);
  std::string wrong;
  for (const auto& pair : predicted(view_of(trace), wrong)) {
    if (std::find(races.begin(), races.end(), pair) == races.end()) {
      return show({pair}) + " is no race in\n" + print_trace(completion.events);
    }
  }
  return wrong;
}

TEST(RditProperty, ReportsNothingThatTheHiddenPartRulesOut) {
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000);
  const std::uint64_t first_seed = from_environment("SOOTH_SEED", 1);
  Tally tally;
  for (std::uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    RandomTraceOptions options = random_options(kProfiles[seed % kProfiles.size()], seed);
    options.events = 6 + options.events % 12;
    options.threads = std::min(options.threads, 4u);
    options.weights[static_cast<std::size_t>(Action::kCallBegin)] = 0;
    options.weights[static_cast<std::size_t>(Action::kCallEnd)] = 0;
    const std::vector<Event> whole = random_trace(options, seed).events;
    const auto wrong = [seed](std::span<const Event> events, Tally& counts, CallTrace& trace) {
      Completion complete;
      trace = hide(events, seed, complete);
      const std::string why = unsound(trace, complete, counts);
      if (why.empty()) {
        std::string unused;
        count(trace, predicted(view_of(trace), unused), counts);
      }
      return why;
    };
    CallTrace trace;
    ASSERT_EQ(why_malformed(hide(whole, seed, *std::make_unique<Completion>()).events), "") << seed;
    if (wrong(whole, tally, trace).empty()) {
      continue;
    }
    Tally unused;
    const std::vector<Event> small =
        minimise(whole, [&](std::span<const Event> t) { return !wrong(t, unused, trace).empty(); });
    const std::string why = wrong(small, unused, trace);
    FAIL() << "again with SOOTH_SEED=" << seed << " SOOTH_CASES=1. Shrunk, events from 0:\n"
           << print_trace(trace.events, trace.reaches) << why;
  }
  std::cout << cases << " traces, " << tally.skipped << " too large for the explorer; " << tally.races << " races, "
            << tally.prevented << " pairs that only the calls keep apart\n";
  if (cases >= 1'000) {
    EXPECT_LT(tally.skipped * 10, cases);
    EXPECT_GT(tally.races, cases / 10);
    EXPECT_GT(tally.prevented, cases / 20);
  }
}

// Small, so that it can be completed and still explored; nothing that takes turns.
CallTrace draw_tiny(std::uint64_t seed) {
  Random random(seed ^ 0x74696e79);
  RandomTraceOptions options;
  options.events = random.between(5, 9);
  options.threads = random.between(2, 3);
  options.locks = 1;
  options.variables = random.between(1, 2);
  options.forked_percent = 20;
  options.weights[static_cast<std::size_t>(Action::kAccess)] = 10;
  options.weights[static_cast<std::size_t>(Action::kCallBegin)] = 4;
  options.weights[static_cast<std::size_t>(Action::kCallEnd)] = 4;
  options.weights[static_cast<std::size_t>(Action::kAcquire)] = random.below(3);
  options.weights[static_cast<std::size_t>(Action::kRelease)] = 2;
  options.weights[static_cast<std::size_t>(Action::kFork)] = 1;
  CallTrace trace{random_trace(options, seed).events, {}};
  trace.reaches = random_reaches(trace.events, seed);
  return trace;
}

TEST(RditProperty, IsSoundForEveryCompletion) {
  compare(draw_tiny, [](const CallTrace& trace, std::uint64_t seed, Tally& tally) -> std::string {
    for (std::uint64_t i = 0; i < 4; ++i) {
      const std::string wrong = unsound(trace, random_completion(trace, 4 * seed + i), tally);
      if (!wrong.empty()) {
        return wrong;
      }
    }
    std::string unused;
    count(trace, predicted(view_of(trace), unused), tally);
    return "";
  });
}

TEST(RditProperty, FindsAllThatTheFullestCompletionAllows) {
  compare(
      draw_tiny,
      [](const CallTrace& trace, std::uint64_t, Tally& tally) -> std::string {
        const Completion fullest = fullest_completion(trace);
        const Exploration truth = explore(fullest.events, 60'000);
        if (!truth.complete) {
          ++tally.skipped;
          return "";
        }
        const auto races = fullest.observed_races(truth);
        const Pairs expected(races.begin(), races.end());
        std::string wrong;
        const Pairs found = predicted(view_of(trace), wrong);
        count(trace, found, tally);
        return found == expected ? wrong : "found" + show(found) + ", the completion allows" + show(expected);
      },
      50);
}

}  // namespace
}  // namespace sooth::oracle
