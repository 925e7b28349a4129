#include "confirm/minimize.h"

#include <algorithm>
#include <utility>

#include "schedule/schedule_file.h"
#include "trace/op.h"

namespace sooth {
namespace {

using control::Stretch;
using control::StretchEnd;

bool could_go_on(const Stretch& stretch) {
  return stretch.end == StretchEnd::kPreempted || stretch.end == StretchEnd::kPostponed;
}

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
  Minimizer(const std::function<Result<RunOutcome>(const RunPlan&)>& run,
            const std::function<bool(const RunOutcome&)>& fails_alike, const MinimizeOptions& options)
      : run_(run), fails_alike_(fails_alike), options_(options) {}

  Result<std::optional<MinimizedRun>> go(const RunOutcome& failed) {
    if (failed.log.processes.empty() || failed.log.truncated) {
      return std::optional<MinimizedRun>();
    }
    threads_ = failed.log.processes.front().threads;
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
    threads_ = made->log.processes.front().threads;
    plan.stretches = made->log.processes.front().stretches;
    plan.threads = threads_;
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

  const std::function<Result<RunOutcome>(const RunPlan&)>& run_;
  const std::function<bool(const RunOutcome&)>& fails_alike_;
  const MinimizeOptions& options_;
  std::vector<control::ThreadOrigin> threads_;
  MinimizedRun best_;
  std::optional<Status> error_;
};

struct PlacedStep {
  std::string place;  // empty: unknown
  std::string deed;
};

std::string deed_of(std::uint64_t op) {
  if (op >= static_cast<std::uint64_t>(kOpCount)) {
    return "step";
  }
  switch (static_cast<Op>(op)) {
    case Op::kRead: return "read";
    case Op::kWrite: return "write";
    case Op::kAtomicLoad: return "atomic load";
    case Op::kAtomicStore: return "atomic store";
    case Op::kAtomicRmw: return "atomic update";
    case Op::kAcquire: return "lock";
    case Op::kRelease: return "unlock";
    case Op::kFork: return "start of a thread";
    case Op::kJoin: return "join";
    default: return "step";
  }
}

// The steps of a thread around a position.
class Surroundings {
 public:
  Surroundings(const RunLog& log, CodeNames& names) : log_(log), names_(names) {}

  std::pair<PlacedStep, PlacedStep> of(const Stretch& stretch) {
    const control::LogRecord *before = nullptr, *after = nullptr;
    std::string deed_before, deed_after;
    bool is_before = false;
    const control::LogRecord* last = nullptr;
    for (const control::LogRecord& record : log_.points) {
      if (record.thread != stretch.thread) {
        continue;
      }
      if (record.kind == control::RecordKind::kStepAt) {
        const std::uint64_t events = record.b >> 32, accesses = static_cast<std::uint32_t>(record.c);
        is_before = events < stretch.events || (events == stretch.events && accesses < stretch.accesses);
        if (!is_before && after != nullptr) {
          break;
        }
        (is_before ? before : after) = &record;
        last = &record;
      } else if (record.kind == control::RecordKind::kStep && last != nullptr) {
        (is_before ? deed_before : deed_after) = deed_of(record.a & 0xff);
        last = nullptr;
      }
    }
    return {step(before, deed_before), step(after, deed_after)};
  }

 private:
  PlacedStep step(const control::LogRecord* record, const std::string& deed) {
    if (record == nullptr || record->a == 0 || log_.processes.empty()) {
      return {};
    }
    const auto& modules = log_.processes.front().modules;
    const auto module = modules.find(static_cast<std::uint32_t>(record->b));
    if (module == modules.end()) {
      return {};
    }
    const std::vector<Site> stack = names_.stack({{module->second, record->a}});
    return {stack.empty() ? "" : name_of(stack.front()), deed};
  }

  const RunLog& log_;
  CodeNames& names_;
};

std::string describe(const Stretch& stretch, std::uint32_t next, const std::pair<PlacedStep, PlacedStep>& around) {
  const auto& [before, after] = around;
  const auto named = [](const PlacedStep& step) { return "the " + step.deed + " at " + step.place; };
  std::string where;
  if (!before.place.empty() && !after.place.empty()) {
    where = "between " + named(before) + " and " + named(after);
  } else if (!after.place.empty()) {
    where = "in front of " + named(after);
  } else if (!before.place.empty()) {
    where = "behind " + named(before);
  } else {
    where =
        "after " + std::to_string(stretch.events) + " operations and " + std::to_string(stretch.accesses) + " accesses";
  }
  return "preempt T" + std::to_string(stretch.thread) + " " + where + ", and let T" + std::to_string(next) + " run";
}

}  // namespace

std::vector<std::size_t> preemptions_of(const std::vector<Stretch>& stretches) {
  std::vector<std::size_t> at;
  for (std::size_t i = 0; i + 1 < stretches.size(); ++i) {
    if (could_go_on(stretches[i]) && stretches[i + 1].thread != stretches[i].thread) {
      at.push_back(i);
    }
  }
  return at;
}

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

Result<std::optional<MinimizedRun>> minimize(const std::function<Result<RunOutcome>(const RunPlan&)>& run,
                                             const std::function<bool(const RunOutcome&)>& fails_alike,
                                             const RunOutcome& failed, const MinimizeOptions& options) {
  return Minimizer(run, fails_alike, options).go(failed);
}

Status minimize_end(const std::function<Result<RunOutcome>(const RunPlan&)>& run, const std::string& program,
                    CodeNames& names, const MinimizeOptions& options, TestEnd& end) {
  if (end.outcome.kind == Outcome::Kind::kHung) {
    return {};
  }
  const auto fails_alike = [&](const RunOutcome& made) { return end_key(made, names) == end.key; };
  const Result<RunOutcome> again = run(replay_plan(end.schedule));
  if (!again.ok()) {
    return again.status();
  }
  if (again->cancelled || !fails_alike(*again)) {
    return {};
  }
  Result<std::optional<MinimizedRun>> minimized = minimize(run, fails_alike, *again, options);
  if (!minimized.ok() || !minimized->has_value()) {
    return minimized.ok() ? Status() : minimized.status();
  }
  MinimizedRun& found = **minimized;
  FewestPreemptions& fewest = end.fewest.emplace();
  fewest.preemptions = found.preemptions;
  fewest.before = found.before;
  fewest.runs = found.runs;
  fewest.is_minimal = found.is_minimal;
  fewest.schedule = make_schedule(program, found.plan, found.run.log);
  fewest.schedule.outcome = classify(found.run).describe();
  if (found.preemptions > 0) {
    const Result<RunOutcome> named = run(with_places(found.plan));
    const bool is_same = named.ok() && !named->log.processes.empty() && fails_alike(*named) &&
                         preemptions_of(named->log.processes.front().stretches).size() == found.preemptions;
    fewest.sentences = describe_preemptions(is_same ? named->log : found.run.log, names);
  }
  return {};
}

RunPlan with_places(RunPlan plan) {
  plan.flags |= control::kLogPoints | control::kEveryAccess;
  return plan;
}

std::vector<std::string> describe_preemptions(const RunLog& log, CodeNames& names) {
  std::vector<std::string> sentences;
  if (log.processes.empty()) {
    return sentences;
  }
  Surroundings surroundings(log, names);
  const std::vector<Stretch>& stretches = log.processes.front().stretches;
  for (const std::size_t at : preemptions_of(stretches)) {
    sentences.push_back(describe(stretches[at], stretches[at + 1].thread, surroundings.of(stretches[at])));
  }
  return sentences;
}

}  // namespace sooth
