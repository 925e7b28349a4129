#include "confirm/directed_tests.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "confirm/campaign.h"
#include "confirm/ordered_work.h"

namespace sooth {
namespace {

struct Trial {
  std::optional<std::size_t> pair;  // none: just a run
  RunPlan plan;
};

class DirectedTests {
 public:
  DirectedTests(const std::function<Result<RunOutcome>(const RunPlan&)>& run, const FindPairs& find_pairs,
                TestTally& tally, const TestOptions& options)
      : run_(run), find_pairs_(find_pairs), tally_(tally), options_(options), planned_(runs_of_shard(options)) {
    next_seed_ = options.seed;  // behind those of the shards before this one
    for (TestOptions before = options; --before.shard > 0;) {
      next_seed_ += runs_of_shard(before);
    }
  }

  Result<TestResult> go() {
    while (made_ < planned_ && !stopped_ && !options_.cancelled()) {
      SOOTH_RETURN_IF_ERROR(record());
      SOOTH_RETURN_IF_ERROR(steer());
    }
    TestResult result = tally_.finish();
    result.runs = made_;
    result.planned = planned_;
    result.races = std::move(races_);
    return result;
  }

 private:
  void count_run() {
    ++made_;
    options_.on_run(made_);
  }

  Status record() {
    Result<std::vector<DirectedPair>> found = find_pairs_(next_seed_++);
    if (!found.ok()) {
      return found.status();
    }
    count_run();
    for (DirectedPair& pair : *found) {
      const bool known = pair.is_split || std::any_of(pairs_.begin(), pairs_.end(),
                                                      [&](const DirectedPair& each) { return each.id == pair.id; });
      if (!known) {
        races_.push_back({pair.first, pair.second, 0, 0, 0, {}});
        pairs_.push_back(std::move(pair));
      }
    }
    return {};
  }

  // The directed runs of a round, as many as are left.
  std::vector<Trial> plan_round() {
    std::vector<Trial> trials;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const bool enough = races_[i].hits >= kEnoughHits || races_[i].trials >= kMaxTrials;
      for (std::uint64_t k = 0; k < kTrialsPerRound && !enough && made_ + trials.size() < planned_; ++k) {
        Trial trial;
        trial.pair = i;
        trial.plan.plan = control::Plan::kDirected;
        trial.plan.seed = next_seed_++;
        trial.plan.sites = pairs_[i].code.sites;
        trials.push_back(std::move(trial));
      }
    }
    // Whoever asked for runs wants to know how they end, also when there is nothing to steer to.
    if (trials.empty() && made_ < planned_) {
      Trial trial;
      trial.plan.strategy = "random";
      trial.plan.seed = next_seed_++;
      trials.push_back(std::move(trial));
    }
    return trials;
  }

  Status steer() {
    const std::vector<Trial> trials = plan_round();
    Status status;
    const auto work = [&](std::uint64_t i) { return run_(trials[i].plan); };
    const auto take = [&](std::uint64_t i, Result<RunOutcome>&& run) {
      stopped_ = !run.ok() || run->cancelled;
      if (stopped_) {
        status = run.ok() ? Status() : run.status();
        return false;
      }
      judge(trials[i], *run);
      stopped_ = options_.until_failure && tally_.has_failure();
      return !stopped_;
    };
    do_in_order<Result<RunOutcome>>(trials.size(), options_.jobs, work, take, options_.cancelled);
    return status;
  }

  void judge(const Trial& trial, const RunOutcome& run) {
    if (trial.pair) {
      count_hit(races_[*trial.pair], pairs_[*trial.pair].code, trial.plan, run);
    }
    tally_.add(trial.plan, run);
    count_run();
  }

  void count_hit(TestRace& race, const PairCode& code, const RunPlan& plan, const RunOutcome& run) {
    Target target;
    target.pair = code;
    ++race.trials;
    if (reaches(target, run.log) && race.hits++ == 0) {
      race.first_seed = plan.seed;
      race.schedule = tally_.schedule_of(plan, run);
    }
  }

  const std::function<Result<RunOutcome>(const RunPlan&)>& run_;
  const FindPairs& find_pairs_;
  TestTally& tally_;
  const TestOptions& options_;
  const std::uint64_t planned_;
  std::uint64_t next_seed_ = 0, made_ = 0;
  bool stopped_ = false;
  std::vector<DirectedPair> pairs_;
  std::vector<TestRace> races_;  // parallel to pairs_
};

}  // namespace

Result<TestResult> run_directed_tests(const std::function<Result<RunOutcome>(const RunPlan&)>& run,
                                      const FindPairs& find_pairs, TestTally& tally, const TestOptions& options) {
  return DirectedTests(run, find_pairs, tally, options).go();
}

}  // namespace sooth
