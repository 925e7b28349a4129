// The ways that IPA finds, judged by the checker: in traces without reads nothing but locks and must-order counts, so
// every one of them must be a witness. SOOTH_CASES sets the number of traces, SOOTH_SEED the first seed.
#include <gtest/gtest.h>

#include <iostream>

#include "base/test_environment.h"
#include "detect/ipa.h"
#include "oracle/minimise.h"
#include "oracle/random_trace.h"
#include "oracle/trace_text.h"
#include "predict/plan.h"
#include "predict/trace_index.h"
#include "race/witness.h"

namespace sooth::oracle {
namespace {

std::vector<RacePlan> plans_of(std::span<const Event> trace, bool ask_the_run) {
  IpaLimits limits;
  limits.ask_the_run = ask_the_run;
  const std::unique_ptr<Detector> detector = make_ipa_detector(IpaStrategy::kLower, limits);
  Batch batch;
  batch.events = trace;
  detector->consume(batch);
  detector->finish();
  return detector->plans();
}

// What the checker says against a plan; empty: nothing.
std::string objection(std::span<const Event> trace, bool ask_the_run) {
  const TraceView view{trace, {}, {}, nullptr};
  const TraceIndex index(view);
  for (const RacePlan& plan : plans_of(trace, ask_the_run)) {
    const Status status = check_witness(view, follow_plan(index, plan));
    if (!status.ok()) {
      return std::to_string(raw(plan.race.first)) + "," + std::to_string(raw(plan.race.second)) + ": " +
             status.message();
    }
  }
  return {};
}

TEST(IpaPlans, AreWitnessesWhereNothingIsRead) {
  static constexpr Profile kMade[] = {Profile::kLocks, Profile::kNestedLocks, Profile::kMustOrder, Profile::kMemory};
  const std::uint64_t first_seed = from_environment("SOOTH_SEED", 1);
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000);
  std::uint64_t plans = 0;
  std::uint64_t searched = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    RandomTraceOptions options = random_options(kMade[seed % std::size(kMade)], seed);
    options.weights[static_cast<std::size_t>(Action::kAtomic)] = 0;  // they read
    options.weights[static_cast<std::size_t>(Action::kAcquire)] *= 2;
    options.weights[static_cast<std::size_t>(Action::kRelease)] *= 2;
    RandomTrace trace = random_trace(options, seed);
    for (std::size_t i = 0; i < trace.events.size(); ++i) {
      trace.events[i].site = SiteId(i);  // a plan for every pair of accesses
      trace.events[i].op = trace.events[i].op == Op::kRead ? Op::kWrite : trace.events[i].op;
    }
    for (const bool ask_the_run : {true, false}) {
      const auto wrong = [&](std::span<const Event> t) { return !objection(t, ask_the_run).empty(); };
      if (wrong(trace.events)) {
        const std::vector<Event> small = minimise(trace.events, wrong);
        FAIL() << "SOOTH_SEED=" << seed << " SOOTH_CASES=1: " << objection(small, ask_the_run) << "\n"
               << print_trace(small);
      }
      for (const RacePlan& plan : plans_of(trace.events, ask_the_run)) {
        ++plans;
        searched += plan.steps.empty() ? 0 : 1;
      }
    }
  }
  std::cout << plans << " plans, " << searched << " with steps of the search\n";
  EXPECT_GT(searched, cases / 100);
}

}  // namespace
}  // namespace sooth::oracle
