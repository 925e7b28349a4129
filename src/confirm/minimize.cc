#include "confirm/minimize.h"

#include <algorithm>
#include <utility>

#include "confirm/older_values.h"
#include "confirm/outcome.h"
#include "confirm/preemptions.h"
#include "schedule/run_log.h"

namespace sooth {
namespace {

using control::Stretch;

// Neighbours of one thread are one stretch: positions count from its begin.
void join_neighbours(std::vector<Stretch>& stretches) {
  std::vector<Stretch> joined;
  for (const Stretch& stretch : stretches) {
    if (!joined.empty() && joined.back().thread == stretch.thread && could_go_on(joined.back())) {
      joined.pop_back();
    }
    joined.push_back(stretch);
  }
  stretches = std::move(joined);
}

class Minimizer {
 public:
  Minimizer(const MakeRun& run, const IsFailure& fails_alike, const MinimizeOptions& options)
      : run_(run), fails_alike_(fails_alike), options_(options) {}

  Result<std::optional<MinimizedRun>> go(const RunOutcome& failed) {
    if (failed.log.processes.empty() || failed.log.truncated) {
      return std::optional<MinimizedRun>();
    }
    threads_ = failed.log.processes.front().threads;
    older_ = older_choices(failed.log.processes.front());
    best_.before = preemptions_of(failed.log.processes.front().stretches).size();
    best_.preemptions = UINT64_MAX;
    if (!fails_with(failed.log.processes.front().stretches)) {
      return finish();
    }
    cut();
    for (std::size_t chunk = std::max<std::size_t>(best_.preemptions / 2, 1); !is_over();) {
      const bool improved = leave_out(chunk);
      if (!improved && chunk == 1) {
        best_.is_minimal = !is_over();
        break;
      }
      chunk = improved ? std::clamp<std::size_t>(chunk, 1, std::max<std::size_t>(best_.preemptions / 2, 1)) : chunk / 2;
    }
    return finish();
  }

 private:
  const std::vector<Stretch>& stretches() const { return best_.run.log.processes.front().stretches; }
  bool is_over() const { return error_.has_value() || best_.runs >= options_.max_runs || options_.cancelled(); }

  Result<std::optional<MinimizedRun>> finish() {
    if (error_) {
      return *error_;
    }
    return best_.preemptions == UINT64_MAX ? std::optional<MinimizedRun>() : std::move(best_);
  }

  // Whether a run that is asked to follow them fails alike, with fewer preemptions than the best one so far; then it is
  // the best one.
  bool fails_with(std::vector<Stretch> wanted) {
    if (is_over()) {
      return false;
    }
    RunPlan plan;
    plan.plan = control::Plan::kStretches;
    plan.strategy = "serial";
    plan.stretches = std::move(wanted);
    plan.threads = threads_;
    plan.older = older_;
    for (Stretch& stretch : plan.stretches) {
      stretch.hash = 0;
    }
    Result<RunOutcome> made = run_(plan);
    ++best_.runs;
    if (!made.ok()) {
      error_ = made.status();
      return false;
    }
    if (made->cancelled || made->log.processes.empty() || made->log.truncated || !fails_alike_(*made)) {
      return false;
    }
    const std::size_t preemptions = preemptions_of(made->log.processes.front().stretches).size();
    if (preemptions >= best_.preemptions) {
      return false;
    }
    const ProcessLog& process = made->log.processes.front();
    plan.stretches = process.stretches;
    plan.threads = threads_ = process.threads;
    plan.older = older_ = older_choices(process);
    best_.plan = std::move(plan);
    best_.run = std::move(*made);
    best_.preemptions = preemptions;
    return true;
  }

  // Mostly the first few are enough, and what comes behind is of no account.
  void cut() {
    const std::vector<Stretch> all = stretches();
    const std::vector<std::size_t> at = preemptions_of(all);
    for (std::size_t kept = 0; kept < at.size() && !is_over(); kept = kept == 0 ? 1 : 2 * kept) {
      const std::size_t end = kept == 0 ? 0 : at[kept - 1] + 1;
      if (fails_with({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(end)})) {
        return;
      }
    }
  }

  // Tries to do without so many neighbouring preemptions, everywhere, last ones first. Whether that worked somewhere.
  bool leave_out(std::size_t chunk) {
    bool improved = false;
    std::vector<std::size_t> at = preemptions_of(stretches());
    for (std::size_t end = at.size(); end > 0 && !is_over();) {
      const std::size_t begin = end > chunk ? end - chunk : 0;
      const std::vector<std::size_t> which(at.begin() + static_cast<std::ptrdiff_t>(begin),
                                           at.begin() + static_cast<std::ptrdiff_t>(end));
      const std::vector<Stretch> base = stretches();
      if (fails_with(without_preemptions(base, which, Rejoin::kGoOn)) ||
          fails_with(without_preemptions(base, which, Rejoin::kDefer))) {
        improved = true;
        at = preemptions_of(stretches());
        end = std::min(begin, at.size());
      } else {
        end = begin;
      }
    }
    return improved;
  }

  const MakeRun& run_;
  const IsFailure& fails_alike_;
  const MinimizeOptions& options_;
  std::vector<control::ThreadOrigin> threads_;
  std::vector<control::MemoryChoice> older_;
  MinimizedRun best_;
  std::optional<Status> error_;
};

}  // namespace

std::vector<Stretch> without_preemptions(std::vector<Stretch> stretches, const std::vector<std::size_t>& which,
                                         Rejoin how) {
  // From behind: what comes earlier keeps its place.
  for (auto each = which.rbegin(); each != which.rend(); ++each) {
    const auto first = stretches.begin() + static_cast<std::ptrdiff_t>(*each);
    const auto later =
        std::find_if(first + 1, stretches.end(), [&](const Stretch& other) { return other.thread == first->thread; });
    if (how == Rejoin::kGoOn && later != stretches.end()) {
      *first = *later;
      stretches.erase(later);
    } else {
      stretches.erase(first);
    }
  }
  join_neighbours(stretches);
  return stretches;
}

Result<std::optional<MinimizedRun>> minimize(const MakeRun& run, const IsFailure& fails_alike, const RunOutcome& failed,
                                             const MinimizeOptions& options) {
  return Minimizer(run, fails_alike, options).go(failed);
}

Result<std::optional<FewestPreemptions>> fewest_preemptions(const MakeRun& run, const IsFailure& fails_alike,
                                                            const ScheduleFile& failed, CodeNames& names,
                                                            const MinimizeOptions& options) {
  const Result<RunOutcome> again = run(replay_plan(failed));
  if (!again.ok()) {
    return again.status();
  }
  if (again->cancelled || !fails_alike(*again)) {
    return std::optional<FewestPreemptions>();
  }
  const MakeRun alike = [&](RunPlan plan) {
    plan.flags |= failed.plan.flags;
    return run(plan);
  };
  const Result<std::optional<MinimizedRun>> minimized = minimize(alike, fails_alike, *again, options);
  if (!minimized.ok()) {
    return minimized.status();
  }
  if (!minimized->has_value()) {
    return std::optional<FewestPreemptions>();
  }
  const MinimizedRun& found = **minimized;
  FewestPreemptions fewest;
  fewest.preemptions = found.preemptions;
  fewest.before = found.before;
  fewest.runs = found.runs;
  fewest.is_minimal = found.is_minimal;
  fewest.schedule = make_schedule(failed.program, found.plan, found.run.log);
  fewest.schedule.plan.flags |= failed.plan.flags;
  fewest.schedule.plan.seed = failed.plan.seed;  // it decides nothing, and tells whose it is
  fewest.schedule.outcome = classify(found.run).describe();
  fewest.older_values = describe_older(found.run.log.processes.front(), names);
  const Result<RunOutcome> repeated = run(replay_plan(fewest.schedule));
  if (!repeated.ok() || !fails_alike(*repeated) || !first_divergence(fewest.schedule, repeated->log).empty()) {
    return repeated.ok() ? Result(std::optional<FewestPreemptions>()) : repeated.status();
  }
  if (found.preemptions > 0) {
    const Result<RunOutcome> named = alike(with_places(found.plan));
    const bool is_same = named.ok() && !named->log.processes.empty() && fails_alike(*named) &&
                         preemptions_of(named->log.processes.front().stretches).size() == found.preemptions;
    fewest.sentences = describe_preemptions(is_same ? named->log : found.run.log, names);
  }
  return std::optional(std::move(fewest));
}

}  // namespace sooth
