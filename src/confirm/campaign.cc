#include "confirm/campaign.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "confirm/ordered_work.h"
#include "trace/format/small_file.h"

namespace sooth {
namespace {

constexpr std::uint64_t kMostFileBytes = 1 << 16;  // of those that are compared

}  // namespace

// Runs that got there, and whether it is worth to go on.
class Campaign::Tally {
 public:
  Tally(const Target& target, const Campaign& campaign)
      : target_(target), campaign_(campaign), baseline_(&campaign.baseline_) {}

  // Further runs are of another kind: only others of that kind can be compared with them.
  void compare_with(const Baseline& baseline) {
    baseline_ = &baseline;
    missed_ = {};
  }

  void add(RunPlan plan, RunOutcome run, bool along_witness) {
    ++reached_;
    delayed_ += reaches_by_delay(target_, run.log) ? 1 : 0;
    const Outcome outcome = classify(run);
    const int place = first_place(target_.pair, run.log);
    if (target_.kind == FindingKind::kRace && place >= 0 && !outcome.failed()) {
      compared_runs_.add(plan, place, result_of(run, campaign_.compared()));
    }
    auto group =
        std::find_if(groups_.begin(), groups_.end(), [&](const Group& each) { return each.outcome.same_end(outcome); });
    if (group == groups_.end()) {
      group = groups_.insert(group,
                             {outcome, 0, {}, {std::move(plan), std::move(run.log), run.end, outcome}, along_witness});
    }
    ++group->runs;
    if (place >= 0) {
      ++group->with_first[static_cast<std::size_t>(place)];
      ++with_first_[static_cast<std::size_t>(place)];
    }
  }

  // A trial that did not get there.
  void miss(const RunOutcome& run) { missed_.add(classify(run)); }

  // Fisher's exact test: how likely so many ends like the group's are among the runs that got there, if getting there
  // played no part in it.
  double chance(const Group& group) const {
    return chance_of(group.runs, reached_, others_like(group), baseline_->runs() + missed_.runs());
  }
  // ... and if which of the two accesses went first played none.
  double chance_of_order(const Group& group) const {
    const auto& [fail_0, fail_1] = group.with_first;
    const auto& [all_0, all_1] = with_first_;
    return std::min(1.0,
                    2 * std::min(chance_of(fail_0, all_0, fail_1, all_1), chance_of(fail_1, all_1, fail_0, all_0)));
  }
  std::uint64_t missed_like(const Group& group) const { return missed_.ended_like(group.outcome); }

  // The failure that goes with the finding, of the most runs; nullptr when there is none.
  const Group* harm(double significant) const {
    const Group* found = nullptr;
    for (const Group& group : groups_) {
      const bool is_harm = group.outcome.failed() && std::min(chance(group), chance_of_order(group)) < significant;
      if (is_harm && (found == nullptr || group.runs > found->runs)) {
        found = &group;
      }
    }
    return found;
  }
  bool any_failure() const { return failure() != nullptr; }
  // The most frequent one.
  const Group* failure() const {
    const Group* found = nullptr;
    for (const Group& group : groups_) {
      found = group.outcome.failed() && (found == nullptr || group.runs > found->runs) ? &group : found;
    }
    return found;
  }
  // A deadlock is harm by itself; of a race that does none both orders are to be seen.
  bool decided() const {
    if (target_.kind == FindingKind::kDeadlock) {
      return reached_ > 0;
    }
    return any_failure() ? harm(kClear) != nullptr
                         : reached_ >= (compared_runs_.differ() ? kComparedHits : kHarmlessHits);
  }
  const ComparedRuns& compared_runs() const { return compared_runs_; }
  const Baseline& baseline() const { return *baseline_; }
  std::uint64_t reached() const { return reached_; }
  bool by_delay() const { return reached_ > 0 && delayed_ == reached_; }
  const Group* first() const { return groups_.empty() ? nullptr : &groups_.front(); }

 private:
  std::uint64_t others_like(const Group& group) const {
    return baseline_->ended_like(group.outcome) + missed_.ended_like(group.outcome);
  }

  const Target& target_;
  const Campaign& campaign_;
  const Baseline* baseline_;
  Baseline missed_;
  std::uint64_t reached_ = 0, delayed_ = 0;
  std::array<std::uint64_t, 2> with_first_{};
  ComparedRuns compared_runs_;
  std::vector<Group> groups_;  // in the order in which they were met
};

Result<RunOutcome> Campaign::run(const RunPlan& plan) const {
  Result<RunOutcome> run = run_(plan);
  if (run.ok() && run->log.state == control::RunState::kNotStarted && !run->timed_out && !run->cancelled) {
    return Status::bad_input("the program ended (" + run->end.describe() + ") before its first instrumented function");
  }
  for (const std::string& path : options_.compared) {
    if (run.ok() && path != kItsOutput) {
      const Result<std::optional<std::string>> file = read_small_file(path, kMostFileBytes);
      run->files += file.ok() ? file->value_or("there is no " + path) : file.status().message();
      run->files += "\n";
    }
  }
  return run;
}

Status Campaign::extend_baseline(std::uint64_t runs, bool weak) {
  Baseline& baseline = weak ? weak_baseline_ : baseline_;
  baseline.look_at(runs);
  const std::uint64_t had = baseline.made();
  if (runs <= had) {
    return {};
  }
  Status status;
  const auto plan_of = [&](std::uint64_t i) {
    RunPlan plan;
    plan.seed = options_.seed + had + i;
    plan.flags |= weak ? control::kWeakMemory : 0;
    return plan;
  };
  const auto work = [&](std::uint64_t i) { return run(plan_of(i)); };
  const auto take = [&](std::uint64_t i, Result<RunOutcome>&& run) {
    if (!run.ok() || run->cancelled) {
      status = run.ok() ? Status() : run.status();
      return false;
    }
    const Outcome outcome = classify(*run);
    baseline.add(outcome);
    if (!weak && baseline_results_.size() < options_.baseline_runs && !outcome.failed()) {
      baseline_results_.push_back(result_of(*run, compared()));
    }
    options_.on_outcome(plan_of(i), *run);
    options_.on_run();
    return true;
  };
  do_in_order<Result<RunOutcome>>(runs - had, options_.jobs, work, take, options_.cancelled);
  return status;
}

class Campaign::Attempt {
 public:
  Attempt(Target what, const Campaign& campaign)
      : target(std::move(what)), tally(target, campaign), most(campaign.options_.trials) {}

  Target target;
  Tally tally;
  Confirmation result;
  std::uint64_t most;                    // trials
  std::uint64_t weak_from = UINT64_MAX;  // the first with weak memory
  bool followed = false;                 // its witnesses were, or there was no time
  WitnessSchedule leading;               // that got there, until it is repeated; without stretches: none
  std::atomic<bool> enough{false};       // set where results are taken, in order: what was started ahead is in vain
};

RunPlan Campaign::trial(const Attempt& attempt, std::uint64_t index) const {
  const Target& target = attempt.target;
  RunPlan plan;
  plan.seed = options_.seed + index;
  plan.flags |= index >= attempt.weak_from ? control::kWeakMemory : 0;
  if (target.kind != FindingKind::kDeadlock) {
    plan.plan = control::Plan::kDirected;
    plan.sites = target.pair.sites;
    plan.patience = index % 2 == 0 ? options_.patience : 0;
  } else if (index % 2 == 0 && !target.acquires.empty()) {
    plan.plan = control::Plan::kDirected;
    plan.sites = acquire_code(target.acquires);
  } else {
    plan.strategy = index % 4 == 1 ? "random" : "pct:3";  // a deadlock needs few switches, but at the right places
  }
  return plan;
}

RunPlan Campaign::along(const WitnessSchedule& witness, const Target& target) const {
  RunPlan plan;
  plan.plan = control::Plan::kStretches;
  plan.seed = options_.seed;
  plan.sites = target.pair.sites;
  plan.stretches = witness.stretches;
  plan.threads = witness.threads;
  plan.patience = options_.patience;
  return plan;
}

// One after the other, until one gets there.
std::vector<Campaign::Made> Campaign::follow(const Target& target) const {
  std::vector<Made> made;
  for (const WitnessSchedule& witness : target.witnesses) {
    if (!made.empty() && options_.cancelled()) {
      break;
    }
    RunPlan plan = along(witness, target);
    Result<RunOutcome> outcome = run(plan);
    const bool last = !outcome.ok() || outcome->cancelled || reaches(target, outcome->log);
    made.push_back({std::move(plan), std::move(outcome)});
    if (last) {
      break;
    }
  }
  return made;
}

void Campaign::take_followed(Attempt& attempt, std::vector<Made> made) const {
  const Target& target = attempt.target;
  Confirmation& result = attempt.result;
  for (std::size_t i = 0; i < made.size(); ++i) {
    RunOutcome& outcome = *made[i].run;
    if (outcome.cancelled) {
      return;
    }
    options_.on_outcome(made[i].plan, outcome);
    options_.on_run();
    // Behind a divergence the run goes on without a schedule, and may get there all the same.
    const bool left = !outcome.log.processes.empty() && !outcome.log.processes.front().divergences.empty();
    const bool reached = reaches(target, outcome.log);
    result.witness_followed = target.proven && reached && !left;
    result.diverged.clear();
    if (target.proven && !result.witness_followed) {
      result.diverged = describe_divergence(target.witnesses[i], outcome.log);
    }
    if (reached) {
      attempt.tally.add(std::move(made[i].plan), std::move(outcome), true);
    }
  }
}

Status Campaign::follow_witnesses(std::span<Attempt* const> attempts) {
  std::vector<Attempt*> open;
  for (Attempt* attempt : attempts) {
    if (!std::exchange(attempt->followed, true) && !attempt->target.witnesses.empty()) {
      open.push_back(attempt);
    }
  }
  Status status;
  const auto work = [&](std::uint64_t i) { return follow(open[i]->target); };
  const auto take = [&](std::uint64_t i, std::vector<Made>&& made) {
    for (const Made& each : made) {
      if (!each.run.ok()) {
        status = each.run.status();
        return false;
      }
    }
    const std::size_t last = made.empty() ? 0 : made.size() - 1;
    take_followed(*open[i], std::move(made));
    if (open[i]->result.witness_followed) {
      open[i]->leading = std::move(open[i]->target.witnesses[last]);
    }
    open[i]->target.witnesses = {};  // they may be long, and attempts many
    return true;
  };
  do_in_order<std::vector<Made>>(open.size(), options_.jobs, work, take, options_.cancelled);
  return status;
}

Status Campaign::run_trials(std::span<Attempt* const> attempts, std::uint64_t trials) {
  struct Job {
    Attempt* attempt;
    std::uint64_t index;
  };
  std::vector<Job> jobs;
  for (Attempt* attempt : attempts) {
    attempt->enough = over(*attempt);
    for (std::uint64_t i = attempt->result.trials; !attempt->enough && i < std::min(trials, attempt->most); ++i) {
      jobs.push_back({attempt, i});
    }
  }
  using Trial = std::optional<Result<RunOutcome>>;  // none: not wanted any more
  Status status;
  const auto work = [&](std::uint64_t i) -> Trial {
    const Job& job = jobs[i];
    return job.attempt->enough ? Trial() : Trial(run(trial(*job.attempt, job.index)));
  };
  const auto take = [&](std::uint64_t i, Trial&& made) {
    Attempt& attempt = *jobs[i].attempt;
    if (attempt.enough) {
      return true;
    }
    Result<RunOutcome>& run = *made;
    if (!run.ok() || run->cancelled) {
      status = run.ok() ? Status() : run.status();
      return false;
    }
    ++attempt.result.trials;
    options_.on_outcome(trial(attempt, jobs[i].index), *run);
    options_.on_run();
    if (reaches(attempt.target, run->log)) {
      ++attempt.result.hits;
      attempt.tally.add(trial(attempt, jobs[i].index), std::move(*run), false);
    } else {
      attempt.tally.miss(*run);
    }
    attempt.enough = over(attempt);
    return true;
  };
  do_in_order<Trial>(jobs.size(), options_.jobs, work, take, options_.cancelled);
  return status;
}

// Of what few trials get to, the witness shows both orders of the two accesses. Other seeds draw them.
Status Campaign::repeat_witnesses(std::span<Attempt* const> attempts) {
  struct Job {
    Attempt* attempt;
    std::uint64_t index;
  };
  std::vector<Job> jobs;
  for (Attempt* attempt : attempts) {
    const Confirmation& result = attempt->result;
    const bool rarely = result.trials >= kTrialsBeforeRepeats && 2 * result.hits < result.trials;
    for (std::uint64_t i = attempt->tally.reached(); rarely && !over(*attempt) && i < kHarmlessHits; ++i) {
      if (!attempt->leading.stretches.empty()) {
        jobs.push_back({attempt, i});
      }
    }
  }
  const auto plan_of = [this, &jobs](std::uint64_t i) {
    RunPlan plan = along(jobs[i].attempt->leading, jobs[i].attempt->target);
    plan.seed = options_.seed + jobs[i].index;
    return plan;
  };
  Status status;
  const auto work = [&](std::uint64_t i) { return run(plan_of(i)); };
  const auto take = [&](std::uint64_t i, Result<RunOutcome>&& run) {
    Attempt& attempt = *jobs[i].attempt;
    if (!run.ok() || run->cancelled) {
      status = run.ok() ? Status() : run.status();
      return false;
    }
    options_.on_outcome(plan_of(i), *run);
    options_.on_run();
    if (reaches(attempt.target, run->log)) {
      ++attempt.result.witness_repeats;
      attempt.tally.add(plan_of(i), std::move(*run), true);
    }
    return true;
  };
  do_in_order<Result<RunOutcome>>(jobs.size(), options_.jobs, work, take, options_.cancelled);
  for (const Job& job : jobs) {
    job.attempt->leading = {};
  }
  return status;
}

std::shared_ptr<Campaign::Attempt> Campaign::begin(Target target) const {
  return std::make_shared<Attempt>(std::move(target), *this);
}

Status Campaign::advance(std::span<Attempt* const> attempts, std::uint64_t trials) {
  // A race that is created is confirmed, whatever other runs do: those come after the first look at each finding, or
  // the budget of a slow program would be gone with them.
  weak_baseline_.look_at(0);  // those are made when all trials are over
  SOOTH_RETURN_IF_ERROR(follow_witnesses(attempts));
  SOOTH_RETURN_IF_ERROR(run_trials(attempts, std::min<std::uint64_t>(trials, 1)));
  if (trials <= 1 ||
      std::all_of(attempts.begin(), attempts.end(), [this](const Attempt* each) { return over(*each); })) {
    return {};
  }
  SOOTH_RETURN_IF_ERROR(extend_baseline(options_.baseline_runs));
  SOOTH_RETURN_IF_ERROR(run_trials(attempts, std::min(trials, kTrialsBeforeRepeats)));
  if (trials >= kTrialsBeforeRepeats) {
    SOOTH_RETURN_IF_ERROR(repeat_witnesses(attempts));
  }
  return run_trials(attempts, trials);
}

bool Campaign::over(const Attempt& attempt) const {
  return attempt.result.trials >= attempt.most || (!options_.all_trials && attempt.tally.decided());
}

void Campaign::add_witnesses(Attempt& attempt, Target target) const {
  attempt.target.witnesses = std::move(target.witnesses);
  attempt.target.proven = target.proven;
  attempt.followed = attempt.tally.reached() > 0;
}

void Campaign::allow_older_values(Attempt& attempt, std::uint64_t trials) const {
  attempt.weak_from = attempt.result.trials;
  attempt.most = attempt.result.trials + trials;
  attempt.tally.compare_with(weak_baseline_);
}

bool Campaign::has_reached(const Attempt& attempt) const { return attempt.tally.reached() > 0; }

std::uint64_t Campaign::trials_of(const Attempt& attempt) const { return attempt.result.trials; }

const std::vector<std::string>& Campaign::compared() const {
  static const std::vector<std::string> kUnasked = {kItsOutput};
  return options_.compared.empty() ? kUnasked : options_.compared;
}

// Whether what runs print that end well depends on which of the two accesses goes first. What varies in runs of one
// schedule is left out.
Status Campaign::judge_results(const Attempt& attempt, Confirmation& result) {
  const ComparedRuns& runs = attempt.tally.compared_runs();
  if (!runs.differ() || options_.cancelled()) {
    return {};
  }
  const bool asked = !options_.compared.empty();
  SOOTH_RETURN_IF_ERROR(extend_baseline(options_.baseline_runs));
  if (!asked && baseline_results_.size() < options_.baseline_runs) {
    return {};
  }
  OutputMask mask = options_.mask;
  std::vector<std::string> repeated;
  for (int i = 0; i < 2; ++i) {
    const Result<RunOutcome> again = run(runs.runs().front().plan);
    if (!again.ok() || again->cancelled || classify(*again).failed()) {
      return again.ok() ? Status() : again.status();
    }
    repeated.push_back(result_of(*again, compared()));
  }
  if (!mask.learn(repeated[0], repeated[1])) {
    return {};
  }
  const std::optional<std::vector<std::string>> usual = common_output(baseline_results_, mask);
  const std::optional<OutputHarm> harm = asked || usual.has_value() ? judge_outputs(runs, mask, usual) : std::nullopt;
  if (!harm.has_value()) {
    return {};
  }
  const RunPlan& plan = runs.runs()[harm->run].plan;
  Result<RunOutcome> shown = run(plan);
  if (!shown.ok() || shown->cancelled || !reaches(attempt.target, shown->log) ||
      mask.apply(result_of(*shown, compared())) != harm->lines) {
    return shown.ok() ? Status() : shown.status();
  }
  Outcome outcome = classify(*shown);
  outcome.difference = harm->difference;
  result.harmful = result.order_matters = true;
  result.chance = harm->chance;
  result.failures = harm->runs;
  result.baseline_failures = result.missed_failures = 0;
  result.along_witness = plan.plan == control::Plan::kStretches;
  result.run = ReachingRun{plan, std::move(shown->log), shown->end, std::move(outcome)};
  return {};
}

Result<Confirmation> Campaign::finish(Attempt& attempt) {
  const Target& target = attempt.target;
  Tally& tally = attempt.tally;
  Confirmation result = std::move(attempt.result);
  result.cancelled = result.trials < options_.trials && (options_.all_trials || !tally.decided());
  const bool weak = &tally.baseline() == &weak_baseline_;
  weak_baseline_.look_at(0);
  if (target.kind != FindingKind::kDeadlock && tally.any_failure() && (weak || tally.harm(kClear) == nullptr)) {
    // More of the others make the comparison sharper.
    const std::uint64_t trials = result.trials - (weak ? attempt.weak_from : 0);
    SOOTH_RETURN_IF_ERROR(extend_baseline(std::max(trials, options_.baseline_runs), weak));
  }
  const Group* chosen = target.kind != FindingKind::kDeadlock ? tally.harm(kSignificant) : nullptr;
  // A deadlock is harm, whatever else the program does.
  result.harmful = chosen != nullptr || (target.kind == FindingKind::kDeadlock && tally.reached() > 0);
  chosen = chosen != nullptr ? chosen : tally.failure();
  chosen = chosen != nullptr ? chosen : tally.first();
  result.baseline_runs = (tally.any_failure() ? tally.baseline() : baseline_).runs();
  result.by_delay = tally.by_delay();
  if (chosen != nullptr) {
    result.along_witness = chosen->along_witness;
    result.failures = chosen->outcome.failed() ? chosen->runs : 0;
    result.chance = result.failures == 0 ? 1 : tally.chance(*chosen);
    result.order_matters = result.failures > 0 && tally.chance_of_order(*chosen) < kSignificant;
    result.baseline_failures = result.failures == 0 ? 0 : tally.baseline().ended_like(chosen->outcome);
    result.missed_failures = result.failures == 0 ? 0 : tally.missed_like(*chosen);
    result.run = chosen->first;
  }
  if (!result.harmful && result.failures == 0) {
    SOOTH_RETURN_IF_ERROR(judge_results(attempt, result));
  }
  return result;
}

Result<Confirmation> Campaign::confirm(Target target) {
  const std::shared_ptr<Attempt> attempt = begin(std::move(target));
  Attempt* const attempts[] = {attempt.get()};
  SOOTH_RETURN_IF_ERROR(advance(attempts, options_.trials));
  return finish(*attempt);
}

}  // namespace sooth
