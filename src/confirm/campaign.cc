#include "confirm/campaign.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <utility>

#include "confirm/ordered_work.h"
#include "trace/format/small_file.h"

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

// Whether it waits for one of these; also where nobody knows.
bool waits_for(const std::vector<AddressRange>& lock, const BlockedThread& blocked) {
  return lock.empty() || !blocked.variable.has_value() ||
         std::any_of(lock.begin(), lock.end(), [&](const AddressRange& range) {
           return *blocked.variable >= range.begin && *blocked.variable < range.end;
         });
}

// Nobody holds a semaphore, so there is no cycle to see: all threads are blocked, and these wait for one at their places.
bool waits_for_semaphores_at(const Target& target, const std::vector<BlockedThread>& blocked) {
  std::vector<std::uint32_t> taken;
  for (std::size_t i = 0; i < target.acquires.size(); ++i) {
    const auto one = std::find_if(blocked.begin(), blocked.end(), [&](const BlockedThread& each) {
      return each.on == control::BlockedOn::kSemaphore && is_at(target.acquires[i], each.offset) &&
             (i >= target.locks.size() || waits_for(target.locks[i], each)) &&
             std::find(taken.begin(), taken.end(), each.thread) == taken.end();
    });
    if (one == blocked.end()) {
      return false;
    }
    taken.push_back(one->thread);
  }
  return !taken.empty();
}

bool deadlocks_at(const Target& target, const std::vector<BlockedThread>& blocked) {
  const std::vector<PlaceCode>& acquires = target.acquires;
  if (waits_for_semaphores_at(target, blocked)) {
    return true;
  }
  return std::any_of(blocked.begin(), blocked.end(), [&](const BlockedThread& start) {
    const std::vector<const BlockedThread*> cycle = cycle_through(blocked, start.thread);
    if (cycle.size() != acquires.size()) {
      return false;
    }
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      if (!is_at(acquires[i], cycle[i]->offset) ||
          (i < target.locks.size() && !waits_for(target.locks[i], *cycle[i]))) {
        return false;
      }
    }
    return true;
  });
}

// Whether the first byte that both touch is in the variable of the target.
bool is_about(const Target& target, const RacingThread& here, const RacingThread& other) {
  if (!target.variable.has_value()) {
    return true;
  }
  if (!here.variable.has_value() || !other.variable.has_value()) {
    return target.variable->empty();
  }
  const std::uint64_t byte = std::max(*here.variable, *other.variable);
  return std::any_of(target.variable->begin(), target.variable->end(),
                     [&](const AddressRange& range) { return byte >= range.begin && byte < range.end; });
}

bool creates(const Target& target, const CreatedRace& race) {
  return std::any_of(race.others.begin(), race.others.end(), [&](const RacingThread& other) {
    return target.pair.is_met_by(race.here, other) && is_about(target, race.here, other);
  });
}

// Whether a section came between two others: its thread met the one that was about to take the lock again.
bool comes_between(const Target& target, const CreatedRace& meeting) {
  const auto part = [&](const RacingThread& thread) {
    return thread.range < target.pair.sites.size() ? target.pair.sites[thread.range].sites : 0;
  };
  const auto meet = [&](const RacingThread& a, const RacingThread& b) {
    return (part(a) & control::kSecondSection) != 0 && (part(b) & control::kSectionBetween) != 0;
  };
  return std::any_of(meeting.others.begin(), meeting.others.end(),
                     [&](const RacingThread& other) { return meet(meeting.here, other) || meet(other, meeting.here); });
}

bool is_reached_by(const Target& target, const CreatedRace& race) {
  return target.kind == FindingKind::kAtomicity ? comes_between(target, race) : creates(target, race);
}

}  // namespace

bool reaches(const Target& target, const RunLog& log) {
  return std::any_of(log.processes.begin(), log.processes.end(), [&](const ProcessLog& process) {
    return target.kind == FindingKind::kDeadlock
               ? deadlocks_at(target, process.deadlock)
               : std::any_of(process.races.begin(), process.races.end(),
                             [&](const CreatedRace& race) { return is_reached_by(target, race); });
  });
}

bool reaches_by_delay(const Target& target, const RunLog& log) {
  return std::none_of(log.processes.begin(), log.processes.end(), [&](const ProcessLog& process) {
    return target.kind == FindingKind::kDeadlock
               ? process.longest_delay <= kUsualDelay && deadlocks_at(target, process.deadlock)
               : std::any_of(process.races.begin(), process.races.end(), [&](const CreatedRace& race) {
                   return race.delay <= kUsualDelay && is_reached_by(target, race);
                 });
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

// Results of one finding that are compared, and bytes of each.
constexpr std::size_t kMostPrinted = 64, kMostPrintedBytes = 1 << 16;

std::string result_of(const RunOutcome& run, const std::vector<std::string>& compared) {
  std::string text;
  for (const std::string& each : compared) {
    text += each == kItsOutput ? run.output.substr(0, kMostPrintedBytes) + run.errors.substr(0, kMostPrintedBytes) : "";
  }
  return text + run.files;
}

// Runs that got there, and whether it is worth to go on.
class Campaign::Tally {
 public:
  Tally(const Target& target, const Baseline& baseline, const std::vector<std::string>& compared)
      : target_(target), baseline_(baseline), compared_(compared) {}

  void add(RunPlan plan, RunOutcome run, bool along_witness) {
    ++reached_;
    delayed_ += reaches_by_delay(target_, run.log) ? 1 : 0;
    const Outcome outcome = classify(run);
    const int place = first_place(target_.pair, run.log);
    const bool compares = !compared_.empty() && target_.kind == FindingKind::kRace && printed_.size() < kMostPrinted;
    if (compares && place >= 0 && !outcome.failed()) {
      printed_.push_back({plan, place, result_of(run, compared_)});
      differ_ = differ_ || printed_.back().text != printed_.front().text;
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
    return chance_of(group.runs, reached_, others_like(group), baseline_.runs() + missed_.runs());
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
    return any_failure() ? harm(kClear) != nullptr : reached_ >= (differ_ ? kComparedHits : kHarmlessHits);
  }
  // Runs that got there and ended well.
  struct Printed {
    RunPlan plan;
    int place = 0;  // that went first
    std::string text;
  };
  const std::vector<Printed>& printed() const { return printed_; }
  bool differ() const { return differ_; }  // these did not all print the same
  std::uint64_t reached() const { return reached_; }
  bool by_delay() const { return reached_ > 0 && delayed_ == reached_; }
  const Group* first() const { return groups_.empty() ? nullptr : &groups_.front(); }

 private:
  std::uint64_t others_like(const Group& group) const {
    return baseline_.ended_like(group.outcome) + missed_.ended_like(group.outcome);
  }

  const Target& target_;
  const Baseline& baseline_;
  const std::vector<std::string>& compared_;
  Baseline missed_;
  std::uint64_t reached_ = 0, delayed_ = 0;
  std::array<std::uint64_t, 2> with_first_{};
  std::vector<Printed> printed_;
  bool differ_ = false;
  std::vector<Group> groups_;  // in the order in which they were met
};

Result<RunOutcome> Campaign::run(const RunPlan& plan) const {
  Result<RunOutcome> run = run_(plan);
  if (run.ok() && run->log.state == control::RunState::kNotStarted && !run->timed_out && !run->cancelled) {
    return Status::bad_input("the program ended (" + run->end.describe() + ") before its first instrumented function");
  }
  for (const std::string& path : options_.compared) {
    if (run.ok() && path != kItsOutput) {
      const Result<std::optional<std::string>> file = read_small_file(path, kMostPrintedBytes);
      run->files += file.ok() ? file->value_or("there is no " + path) : file.status().message();
      run->files += "\n";
    }
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

class Campaign::Attempt {
 public:
  Attempt(Target what, const Baseline& baseline, const CampaignOptions& options)
      : target(std::move(what)), tally(target, baseline, options.compared), most(options.trials) {}

  Target target;
  Tally tally;
  Confirmation result;
  std::uint64_t most;                    // trials
  std::uint64_t weak_from = UINT64_MAX;  // the first with weak memory
  bool followed = false;                 // its witnesses were, or there was no time
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
    take_followed(*open[i], std::move(made));
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

std::shared_ptr<Campaign::Attempt> Campaign::begin(Target target) const {
  return std::make_shared<Attempt>(std::move(target), baseline_, options_);
}

Status Campaign::advance(std::span<Attempt* const> attempts, std::uint64_t trials) {
  // A race that is created is confirmed, whatever other runs do: those come after the first look at each finding, or
  // the budget of a slow program would be gone with them.
  SOOTH_RETURN_IF_ERROR(follow_witnesses(attempts));
  SOOTH_RETURN_IF_ERROR(run_trials(attempts, std::min<std::uint64_t>(trials, 1)));
  if (trials <= 1 ||
      std::all_of(attempts.begin(), attempts.end(), [this](const Attempt* each) { return over(*each); })) {
    return {};
  }
  SOOTH_RETURN_IF_ERROR(extend_baseline(options_.baseline_runs));
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
}

bool Campaign::has_reached(const Attempt& attempt) const { return attempt.tally.reached() > 0; }

std::uint64_t Campaign::trials_of(const Attempt& attempt) const { return attempt.result.trials; }

// Whether what runs print that end well depends on which of the two accesses goes first. What varies in runs of one
// schedule is left out.
Status Campaign::judge_outputs(const Attempt& attempt, Confirmation& result) const {
  const std::vector<Tally::Printed>& printed = attempt.tally.printed();
  if (!attempt.tally.differ() || options_.cancelled()) {
    return {};
  }
  OutputMask mask = options_.mask;
  std::vector<RunOutcome> repeated;
  for (int i = 0; i < 2; ++i) {
    Result<RunOutcome> again = run(printed.front().plan);
    if (!again.ok() || again->cancelled || classify(*again).failed()) {
      return again.ok() ? Status() : again.status();
    }
    repeated.push_back(std::move(*again));
  }
  if (!mask.learn(result_of(repeated[0], options_.compared), result_of(repeated[1], options_.compared))) {
    return {};
  }
  struct Alike {
    std::array<std::uint64_t, 2> with_first{};
    const RunPlan* plan = nullptr;
  };
  std::map<std::vector<std::string>, Alike> kinds;
  std::array<std::uint64_t, 2> all{};
  for (const Tally::Printed& each : printed) {
    Alike& alike = kinds[mask.apply(each.text)];
    alike.plan = alike.plan == nullptr ? &each.plan : alike.plan;
    ++alike.with_first[static_cast<std::size_t>(each.place)];
    ++all[static_cast<std::size_t>(each.place)];
  }
  // The rarer of two results is the one to show; each kind is another question to chance.
  const std::vector<std::string>*other = nullptr, *usual = nullptr;
  const auto runs_of = [&](const std::vector<std::string>* lines) {
    return kinds[*lines].with_first[0] + kinds[*lines].with_first[1];
  };
  for (const auto& [lines, alike] : kinds) {
    usual = usual == nullptr || runs_of(&lines) > runs_of(usual) ? &lines : usual;
  }
  for (const auto& [lines, alike] : kinds) {
    const double chance = 2 * static_cast<double>(kinds.size()) *
                          std::min(chance_of(alike.with_first[0], all[0], alike.with_first[1], all[1]),
                                   chance_of(alike.with_first[1], all[1], alike.with_first[0], all[0]));
    if (&lines != usual && chance < kOtherOutput && (other == nullptr || runs_of(&lines) > runs_of(other))) {
      other = &lines;
      result.chance = chance;
    }
  }
  if (other == nullptr) {
    return {};
  }
  Result<RunOutcome> shown = run(*kinds[*other].plan);
  if (!shown.ok() || shown->cancelled || !reaches(attempt.target, shown->log) ||
      mask.apply(result_of(*shown, options_.compared)) != *other) {
    result.chance = 1;
    return shown.ok() ? Status() : shown.status();
  }
  Outcome outcome = classify(*shown);
  outcome.difference = difference_of(*other, *usual);
  result.harmful = result.order_matters = true;
  result.failures = runs_of(other);
  result.baseline_failures = result.missed_failures = 0;
  result.along_witness = kinds[*other].plan->plan == control::Plan::kStretches;
  result.run = ReachingRun{*kinds[*other].plan, std::move(shown->log), shown->end, std::move(outcome)};
  return {};
}

Result<Confirmation> Campaign::finish(Attempt& attempt) {
  const Target& target = attempt.target;
  Tally& tally = attempt.tally;
  Confirmation result = std::move(attempt.result);
  result.cancelled = result.trials < options_.trials && (options_.all_trials || !tally.decided());
  if (target.kind != FindingKind::kDeadlock && tally.any_failure() && tally.harm(kClear) == nullptr) {
    // More of the others make the comparison sharper.
    SOOTH_RETURN_IF_ERROR(extend_baseline(std::max(result.trials, options_.baseline_runs)));
  }
  const Group* chosen = target.kind != FindingKind::kDeadlock ? tally.harm(kSignificant) : nullptr;
  // A deadlock is harm, whatever else the program does.
  result.harmful = chosen != nullptr || (target.kind == FindingKind::kDeadlock && tally.reached() > 0);
  chosen = chosen != nullptr ? chosen : tally.failure();
  chosen = chosen != nullptr ? chosen : tally.first();
  result.baseline_runs = baseline_.runs();
  result.by_delay = tally.by_delay();
  if (chosen != nullptr) {
    result.along_witness = chosen->along_witness;
    result.failures = chosen->outcome.failed() ? chosen->runs : 0;
    result.chance = result.failures == 0 ? 1 : tally.chance(*chosen);
    result.order_matters = result.failures > 0 && tally.chance_of_order(*chosen) < kSignificant;
    result.baseline_failures = result.failures == 0 ? 0 : baseline_.ended_like(chosen->outcome);
    result.missed_failures = result.failures == 0 ? 0 : tally.missed_like(*chosen);
    result.run = chosen->first;
  }
  if (!result.harmful && result.failures == 0) {
    SOOTH_RETURN_IF_ERROR(judge_outputs(attempt, result));
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
