#include "run/schedule_tests.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "confirm/ordered_work.h"
#include "confirm/outcome.h"
#include "confirm/portfolio.h"
#include "confirm/shell_words.h"

namespace sooth {
namespace {

// How many schedules are tested, at most.
constexpr std::uint64_t kTestRuns = 400;
// The same of schedules that are explored first, and how many events a recording of the program has then at most.
constexpr std::uint64_t kExploreRuns = 1000;
constexpr std::uint64_t kTinyEvents = 2000;
// Shares of the budget are time, and time says little on a busy machine or with a small budget: so many schedules are
// tested, and explored, in any case, unless that takes half of what is left.
constexpr std::uint64_t kLeastRuns = 200;

// Schedules in which waits for a condition end for no reason.
constexpr std::uint64_t kSpuriousRuns = 60;
constexpr std::uint64_t kLeastSpuriousRuns = 30;
// ... and in which atomics see old values.
constexpr std::uint64_t kWeakRuns = 400;
constexpr std::uint64_t kLeastWeakRuns = 200;
// Runs for leaving preemptions out of one schedule that fails.
constexpr std::uint64_t kMinimizeRuns = 60;

}  // namespace

// Counts end what time would, if the result is not to depend on that.
bool ScheduleTests::is_over(const StageTime& time, const StageTime& most, std::uint64_t runs,
                            std::uint64_t least) const {
  return job_.deterministic ? limit_.reached() : most.over() || (runs >= least && time.over());
}

std::optional<ExploreStageResult> ScheduleTests::explore(const Known& known) {
  const ControlledProgram& program = *runs_.program();
  if (!program.instrumented() || known.events > kTinyEvents) {
    return std::nullopt;
  }
  const StageTime time(limit_, RunStage::kExplore), most(limit_, RunStage::kHalfOfTheRest);
  const std::uint64_t before = runs_.made();
  ExploreStageJob job;
  job.program = shell_words(job_.words);
  job.path = program.path();
  job.report_name = job_.confirm.options.report_name;
  job.identity = job_.identity;
  job.recorded = known.accesses;
  job.trace = known.trace;
  job.runs = kExploreRuns;
  job.jobs = job_.confirm.options.campaign.jobs;
  // Runs that do not end would take all of the time.
  constexpr std::uint32_t kMostHangs = 2;
  std::atomic<std::uint32_t> hangs{0};
  job.cancelled = [&] { return hangs >= kMostHangs || is_over(time, most, runs_.made() - before, kLeastRuns); };
  job.on_run = [this] { tell_("exploring all schedules"); };
  job.run = [&](const RunPlan& plan) {
    Result<RunOutcome> outcome = runs_.make(plan, runs_.patience());
    if (outcome.ok() && !outcome->cancelled && SearchRuns::has_ended(*outcome)) {
      failures_.add(plan, *outcome);
    }
    hangs += outcome.ok() && !SearchRuns::has_ended(*outcome) ? 1 : 0;
    return outcome;
  };
  Result<ExploreStageResult> explored = explore_stage(job);
  if (!explored.ok()) {
    return std::nullopt;  // `sooth explore` says why
  }
  return std::move(*explored);
}

void ScheduleTests::test(const Known& known) {
  const CampaignOptions& options = job_.confirm.options.campaign;
  const StageTime time(limit_, RunStage::kTest), most(limit_, RunStage::kHalfOfTheRest);
  const std::uint64_t before = runs_.made();
  const auto enough = [&] { return is_over(time, most, runs_.made() - before, kLeastRuns); };
  Portfolio portfolio;
  for (const PairCode& pair : known.pairs) {
    portfolio.add_pair(pair);
  }
  for (const std::vector<SiteCode>& acquires : known.splits) {
    portfolio.add_split(acquires);
  }
  std::set<std::pair<std::string, std::uint64_t>> ends;
  std::uint64_t made = 0;
  bool stopped = false;
  std::optional<RunPlan> hung;
  while (made < kTestRuns && !stopped && !hung && !enough()) {
    std::vector<Portfolio::Planned> round = portfolio.next_round(kTestRuns - made);
    for (std::size_t i = 0; i < round.size(); ++i) {
      round[i].plan.seed = options.seed + made + i;
    }
    const auto take = [&](std::uint64_t i, Result<RunOutcome>&& outcome) {
      stopped = !outcome.ok() || outcome->cancelled;
      if (stopped) {
        return false;
      }
      if (SearchRuns::has_ended(*outcome)) {
        failures_.add(round[i].plan, *outcome);
      } else if (!hung && runs_.is_fair_and_busy(round[i].plan, outcome->log)) {
        hung = round[i].plan;
      }
      const bool is_new = ends.emplace(classify(*outcome).describe(), outcome->output_hash).second;
      // Pairs were tried before: what matters here is how runs end.
      portfolio.take(round[i], outcome->log, is_new, false);
      ++made;
      tell_("testing other schedules");
      return true;
    };
    const std::uint64_t begun = made;
    do_in_order<Result<RunOutcome>>(
        round.size(), options.jobs, [&](std::uint64_t i) { return runs_.make(round[i].plan, runs_.patience()); }, take,
        [&] { return hung.has_value() || enough(); });
    stopped = stopped || made - begun < round.size();
  }
  if (hung) {
    look_at_hang(*hung);
  }
}

void ScheduleTests::test_spurious_wakes() {
  const StageTime time(limit_, RunStage::kExplore), most(limit_, RunStage::kHalfOfTheRest);
  test_with({control::kSpuriousWakes, {"random", "pct:3"}, kSpuriousRuns}, "testing spurious wake-ups",
            [&](std::uint64_t runs) { return is_over(time, most, runs, kLeastSpuriousRuns); });
}

void ScheduleTests::test_weak_memory() {
  const StageTime time(limit_, RunStage::kWeakMemory), most(limit_, RunStage::kHalfOfTheRest);
  // Of the strategies these two find the most: few switches at the right places seldom give a choice of old values.
  test_with({control::kWeakMemory, {"random", "pos"}, kWeakRuns}, "testing weak memory",
            [&](std::uint64_t runs) { return is_over(time, most, runs, kLeastWeakRuns); });
}

void ScheduleTests::test_with(const Kind& kind, const std::string& what,
                              const std::function<bool(std::uint64_t)>& is_enough) {
  const CampaignOptions& options = job_.confirm.options.campaign;
  const std::uint64_t before = runs_.made();
  const auto plan_of = [&](std::uint64_t i) {
    RunPlan plan;
    plan.strategy = kind.strategies[i % kind.strategies.size()];
    plan.seed = options.seed + i;
    plan.flags = kind.flag;
    return plan;
  };
  const auto take = [&](std::uint64_t i, Result<RunOutcome>&& outcome) {
    if (!outcome.ok() || outcome->cancelled) {
      return false;
    }
    if (SearchRuns::has_ended(*outcome)) {
      failures_.add(plan_of(i), *outcome);
    }
    tell_(what);
    return true;
  };
  do_in_order<Result<RunOutcome>>(
      kind.runs, options.jobs, [&](std::uint64_t i) { return runs_.make(plan_of(i), runs_.patience()); }, take,
      [&] { return is_enough(runs_.made() - before); });
}

void ScheduleTests::minimize_failures() {
  const StageTime time(limit_, RunStage::kMinimize);
  MinimizeOptions options;
  options.max_runs = kMinimizeRuns;
  options.cancelled = [&] { return job_.deterministic ? limit_.reached() : time.over(); };
  failures_.minimize(
      [this](const RunPlan& plan) {
        Result<RunOutcome> outcome = runs_.make(plan, runs_.patience());
        tell_("looking for the fewest preemptions that fail");
        return outcome;
      },
      options);
}

// One that took too long may only be slow, on a machine that others use. If it does not end in the time that any run of
// the program gets, alone, it hangs.
void ScheduleTests::look_at_hang(const RunPlan& plan) {
  tell_("waiting for a run that does not end");
  const Result<RunOutcome> outcome = runs_.make(plan);
  const bool ended = outcome.ok() && SearchRuns::has_ended(*outcome);
  if (outcome.ok() && !outcome->cancelled && (ended || runs_.is_fair_and_busy(plan, outcome->log))) {
    failures_.add(plan, *outcome);
  }
}

void ScheduleTests::fail_again(const std::set<std::string>& failed) {
  const auto all_seen = [&] {
    return std::all_of(failed.begin(), failed.end(), [this](const std::string& key) { return failures_.has(key); });
  };
  const CampaignOptions& options = job_.confirm.options.campaign;
  for (std::uint64_t i = 0; i < options.trials && !all_seen() && !limit_.reached(); ++i) {
    RunPlan plan;
    plan.seed = options.seed + i;
    plan.strategy = i % 2 == 0 ? "random" : "pct:3";
    const Result<RunOutcome> outcome = runs_.make(plan);
    if (!outcome.ok() || outcome->cancelled) {
      return;
    }
    failures_.add(plan, *outcome);
    tell_("looking for the failure again");
  }
}

}  // namespace sooth
