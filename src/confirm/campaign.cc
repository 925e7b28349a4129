#include "confirm/campaign.h"

#include <algorithm>
#include <utility>

#include "confirm/ordered_work.h"

namespace sooth {
namespace {

// The cycle of waiting threads that the thread is a part of, starting with it; empty when it is in none.
std::vector<const BlockedThread*> cycle_through(const std::vector<BlockedThread>& blocked, std::uint32_t thread) {
  std::vector<const BlockedThread*> cycle;
  std::uint32_t at = thread;
  do {
    const auto it =
        std::find_if(blocked.begin(), blocked.end(), [&](const BlockedThread& each) { return each.thread == at; });
    if (it == blocked.end() || cycle.size() == blocked.size()) {
      return {};
    }
    cycle.push_back(&*it);
    at = it->holder;
  } while (at != thread);
  return cycle;
}

bool is_at(const PlaceCode& place, std::uint64_t offset) {
  return std::any_of(place.ranges.begin(), place.ranges.end(),
                     [&](const AddressRange& range) { return offset >= range.begin && offset < range.end; });
}

bool deadlocks_at(const std::vector<PlaceCode>& acquires, const std::vector<BlockedThread>& blocked) {
  return std::any_of(blocked.begin(), blocked.end(), [&](const BlockedThread& start) {
    const std::vector<const BlockedThread*> cycle = cycle_through(blocked, start.thread);
    if (cycle.size() != acquires.size()) {
      return false;
    }
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      if (!is_at(acquires[i], cycle[i]->offset)) {
        return false;
      }
    }
    return true;
  });
}

bool creates(const PairCode& pair, const CreatedRace& race) {
  return std::any_of(race.others.begin(), race.others.end(),
                     [&](const RacingThread& other) { return pair.is_met_by(race.here, other); });
}

}  // namespace

bool reaches(const Target& target, const RunLog& log) {
  return std::any_of(log.processes.begin(), log.processes.end(), [&](const ProcessLog& process) {
    return target.kind == FindingKind::kDeadlock
               ? deadlocks_at(target.acquires, process.deadlock)
               : std::any_of(process.races.begin(), process.races.end(),
                             [&](const CreatedRace& race) { return creates(target.pair, race); });
  });
}

int first_place(const PairCode& pair, const RunLog& log) {
  for (const ProcessLog& process : log.processes) {
    for (const CreatedRace& race : process.races) {
      for (const RacingThread& other : race.others) {
        const bool in_order = pair.is_met_by_in_order(race.here, other);
        if (in_order == pair.is_met_by_in_order(other, race.here)) {
          continue;  // not this pair, or both places are one
        }
        return race.here.first == in_order ? 0 : 1;
      }
    }
  }
  return -1;
}

// Runs that got there, and whether it is worth to go on.
class Campaign::Tally {
 public:
  Tally(const Target& target, const Baseline& baseline) : target_(target), baseline_(baseline) {}

  void add(RunPlan plan, RunOutcome run, bool along_witness) {
    ++reached_;
    const Outcome outcome = classify(run);
    const int place = first_place(target_.pair, run.log);
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

  // Whether runs of one order of the two accesses end like the group significantly more often than those of the other.
  bool order_matters(const Group& group) const {
    const auto& [fail_0, fail_1] = group.with_first;
    const auto& [all_0, all_1] = with_first_;
    return std::min(chance_of(fail_0, all_0, fail_1, all_1), chance_of(fail_1, all_1, fail_0, all_0)) <
           kSignificant / 2;
  }

  // The failure that the baseline does not explain, of the most runs.
  Group* harm() {
    Group* found = nullptr;
    for (Group& group : groups_) {
      const bool is_harm =
          baseline_.is_harm(group.outcome, group.runs, reached_) || (group.outcome.failed() && order_matters(group));
      if (is_harm && (found == nullptr || group.runs > found->runs)) {
        found = &group;
      }
    }
    return found;
  }
  // A failure that the baseline has, too: more runs of both kinds will tell.
  bool doubtful() const {
    return std::any_of(groups_.begin(), groups_.end(), [&](const Group& group) {
      return group.outcome.failed() && baseline_.ended_like(group.outcome) > 0;
    });
  }
  bool decided() const {
    const bool new_failure = std::any_of(groups_.begin(), groups_.end(), [&](const Group& group) {
      return group.outcome.failed() && baseline_.ended_like(group.outcome) == 0;
    });
    return new_failure || (reached_ >= kHarmlessHits && !doubtful());
  }
  std::uint64_t reached() const { return reached_; }
  Group* first() { return groups_.empty() ? nullptr : &groups_.front(); }

 private:
  const Target& target_;
  const Baseline& baseline_;
  std::uint64_t reached_ = 0;
  std::array<std::uint64_t, 2> with_first_{};
  std::vector<Group> groups_;  // in the order in which they were met
};

Result<RunOutcome> Campaign::run(const RunPlan& plan) const {
  Result<RunOutcome> run = run_(plan);
  if (run.ok() && run->log.state == control::RunState::kNotStarted && !run->timed_out && !run->cancelled) {
    return Status::bad_input("the program ended (" + run->end.describe() + ") before its first instrumented function");
  }
  return run;
}

Status Campaign::extend_baseline(std::uint64_t runs) {
  baseline_.look_at(runs);
  const std::uint64_t had = baseline_.made();
  if (runs <= had) {
    return {};
  }
  Status status;
  const auto plan_of = [&](std::uint64_t i) {
    RunPlan plan;
    plan.seed = options_.seed + had + i;
    return plan;
  };
  const auto work = [&](std::uint64_t i) { return run(plan_of(i)); };
  const auto take = [&](std::uint64_t i, Result<RunOutcome>&& run) {
    if (!run.ok() || run->cancelled) {
      status = run.ok() ? Status() : run.status();
      return false;
    }
    baseline_.add(classify(*run));
    options_.on_outcome(plan_of(i), *run);
    options_.on_run();
    return true;
  };
  do_in_order<Result<RunOutcome>>(runs - had, options_.jobs, work, take, options_.cancelled);
  return status;
}

RunPlan Campaign::trial(const Target& target, std::uint64_t index) const {
  RunPlan plan;
  plan.seed = options_.seed + index;
  if (target.kind == FindingKind::kRace) {
    plan.plan = control::Plan::kDirected;
    plan.sites = target.pair.sites;
  } else {
    plan.strategy = index % 2 == 0 ? "random" : "pct:3";  // a deadlock needs few switches, but at the right places
  }
  return plan;
}

Status Campaign::follow(const WitnessSchedule& witness, const Target& target, Confirmation& result, Tally& tally) {
  RunPlan plan;
  plan.plan = control::Plan::kStretches;
  plan.seed = options_.seed;
  plan.sites = target.pair.sites;
  plan.stretches = witness.stretches;
  plan.threads = witness.threads;
  Result<RunOutcome> outcome = run(plan);
  if (!outcome.ok() || outcome->cancelled) {
    return outcome.ok() ? Status() : outcome.status();
  }
  options_.on_outcome(plan, *outcome);
  options_.on_run();
  // Behind a divergence the run goes on without a schedule, and may get there all the same.
  const bool left = !outcome->log.processes.empty() && !outcome->log.processes.front().divergences.empty();
  const bool reached = reaches(target, outcome->log);
  result.witness_followed = target.proven && reached && !left;
  result.diverged.clear();
  if (target.proven && !result.witness_followed) {
    result.diverged = describe_divergence(witness, outcome->log);
  }
  if (reached) {
    tally.add(std::move(plan), std::move(*outcome), true);
  }
  return {};
}

Status Campaign::run_trials(const Target& target, Confirmation& result, Tally& tally) {
  Status status;
  const auto work = [&](std::uint64_t i) { return run(trial(target, i)); };
  const auto take = [&](std::uint64_t i, Result<RunOutcome>&& run) {
    if (!run.ok() || run->cancelled) {
      status = run.ok() ? Status() : run.status();
      return false;
    }
    ++result.trials;
    options_.on_outcome(trial(target, i), *run);
    options_.on_run();
    if (reaches(target, run->log)) {
      ++result.hits;
      tally.add(trial(target, i), std::move(*run), false);
    }
    return options_.all_trials || !tally.decided();
  };
  do_in_order<Result<RunOutcome>>(options_.trials, options_.jobs, work, take, options_.cancelled);
  return status;
}

Status Campaign::judge(const Target& target, Confirmation& result, Tally& tally) {
  if (target.kind == FindingKind::kRace && tally.doubtful() && tally.harm() == nullptr) {
    SOOTH_RETURN_IF_ERROR(extend_baseline(std::max(result.trials, options_.baseline_runs)));
  }
  Group* chosen = tally.harm();
  // A deadlock is harm, whatever else the program does.
  result.harmful = chosen != nullptr || (target.kind == FindingKind::kDeadlock && tally.reached() > 0);
  chosen = chosen != nullptr ? chosen : tally.first();
  result.baseline_runs = baseline_.runs();
  if (chosen != nullptr) {
    result.along_witness = chosen->along_witness;
    result.failures = result.harmful ? chosen->runs : 0;
    result.order_matters = result.harmful && tally.order_matters(*chosen);
    result.baseline_failures = result.harmful ? baseline_.ended_like(chosen->outcome) : 0;
    result.run = std::move(chosen->first);
  }
  return {};
}

Result<Confirmation> Campaign::confirm(const Target& target) {
  SOOTH_RETURN_IF_ERROR(extend_baseline(options_.baseline_runs));
  Confirmation result;
  Tally tally(target, baseline_);
  for (const WitnessSchedule& witness : target.witnesses) {
    if (tally.reached() == 0 && !options_.cancelled()) {
      SOOTH_RETURN_IF_ERROR(follow(witness, target, result, tally));
    }
  }
  if (options_.all_trials || !tally.decided()) {
    SOOTH_RETURN_IF_ERROR(run_trials(target, result, tally));
    result.cancelled = result.trials < options_.trials && (options_.all_trials || !tally.decided());
  }
  SOOTH_RETURN_IF_ERROR(judge(target, result, tally));
  return result;
}

}  // namespace sooth
