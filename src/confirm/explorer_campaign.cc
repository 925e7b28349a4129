#include "confirm/explorer_campaign.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "confirm/explorer_log.h"
#include "confirm/explorer_races.h"
#include "confirm/ordered_work.h"
#include "race/user_code.h"

namespace sooth {
namespace {

// Runs that are asked for at a time, whatever the number of jobs, on which nothing may depend.
constexpr std::size_t kBatch = 16;
constexpr std::uint64_t kMaxDraws = 20;

using Place = std::tuple<std::string, std::uint64_t, Op>;
using Pair = std::tuple<Place, Place, std::uint32_t>;  // and the variable

Place place_of(const ExploredStep& step) { return {step.module, step.offset, step.op}; }

// What is not the newest.
std::vector<control::MemoryChoice> older_of(const std::vector<std::uint16_t>& seen) {
  std::vector<control::MemoryChoice> older;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i] != 0) {
      older.push_back({static_cast<std::uint32_t>(i), seen[i]});
    }
  }
  return older;
}

constexpr std::uint32_t kMostVariables = 64;  // that are told apart

class ExploreCampaign {
 public:
  ExploreCampaign(const std::function<Result<RunOutcome>(const RunPlan&)>& run, const std::string& program,
                  CodeNames& names, const ExploreOptions& options)
      : run_(run), options_(options), names_(names), tally_(program, names) {}

  // One search for each way to say whom notifications wake. By thread and number of the notification, since then two
  // that are independent of each other do not change each other's choice when they change places.
  Result<ExploreResult> explore() {
    result_.is_exhausted = true;
    while (!wakes_.empty() && result_.is_exhausted) {
      wakes_now_ = std::move(wakes_.front());
      wakes_.pop_front();
      search();
      if (error_) {
        return *error_;
      }
    }
    for (const auto& [pair, place] : places_) {
      ExploredRace& race = result_.races[place];
      race.by_delay = race.by_delay && !undelayed_.contains(pair);
      race.by_spurious_wake = race.by_spurious_wake && race.by_delay;
    }
    result_.tests = tally_.finish();
    return std::move(result_);
  }

 private:
  // Thread and number of a notification, and whom it wakes if that is not the first: control::WakeChoice.
  using Wakes = std::map<std::pair<std::uint16_t, std::uint16_t>, std::uint16_t>;

  void search() {
    Explorer& explorer = explorer_.emplace(search_options());
    while (!error_ && !stopped_ && !options_.cancelled() && result_.runs < options_.runs) {
      const std::vector<Explorer::Request> requests =
          explorer.next(std::min<std::uint64_t>(kBatch, options_.runs - result_.runs));
      if (requests.empty()) {
        break;
      }
      make(requests);
    }
    result_.redundant += explorer.redundant();
    result_.diverged += explorer.diverged();
    result_.cut += explorer.cut();
    result_.is_exhausted = explorer.is_exhausted();
    result_.has_waiting_loops = result_.has_waiting_loops || explorer.has_waiting_loops();
  }

  // What else the notifications of a run could have woken.
  void ask_for_others(const RunLog& log) {
    if (log.processes.empty()) {
      return;
    }
    for (const Woken& woken : log.processes.front().woken) {
      const std::pair key(woken.choice.thread, woken.choice.number);
      for (std::uint16_t place = 1; !wakes_now_.contains(key) && place < woken.waited; ++place) {
        Wakes other = wakes_now_;
        other.emplace(key, place);
        if (seen_wakes_.insert(other).second) {
          wakes_.push_back(std::move(other));
        }
      }
    }
  }

  // Elements of an array are one variable, and so is all that is in none of the program.
  std::uint32_t variable_class(std::uint32_t variable) {
    const auto [known, is_new] = variables_.try_emplace(variable, 0);
    if (is_new && variable != 0) {
      const std::string name = bare_variable(names_.variable(variable - std::uint64_t{1}));
      const auto number = static_cast<std::uint32_t>(std::min<std::size_t>(named_.size() + 1, kMostVariables));
      known->second = name.empty() ? 0 : named_.try_emplace(name, number).first->second;
    }
    return known->second;
  }

  Pair pair_of(const ExploredStep& first, const ExploredStep& second) {
    Place low = place_of(first), high = place_of(second);
    if (high < low) {
      std::swap(low, high);
    }
    return {std::move(low), std::move(high), variable_class(variable_of(first, second))};
  }

  struct Made {
    RunPlan plan;
    Result<RunOutcome> outcome;
  };

  ExplorerOptions search_options() {
    ExplorerOptions search = options_.search;
    search.wants_meeting = [this](const ExploredStep& first, const ExploredStep& second, std::uint64_t delay) {
      const Pair pair = pair_of(first, second);
      if (delay <= kUsualDelay) {
        undelayed_.insert(pair);
      }
      return !places_.contains(pair) && wanted_.insert(pair).second;
    };
    return search;
  }

  void make(const std::vector<Explorer::Request>& requests) {
    const std::uint64_t before = result_.runs;
    const auto work = [&](std::uint64_t i) {
      RunPlan plan;
      plan.plan = control::Plan::kChoices;
      plan.flags = control::kEveryAccess | control::kEveryFree | control::kLogPoints |
                   (options_.spurious_wakes ? control::kSpuriousWakes : 0) |
                   (options_.weak_memory ? control::kWeakMemory : 0);
      plan.strategy = "serial";
      plan.seed = before + i + 1;
      plan.choices = requests[i].choices;
      plan.older = older_of(requests[i].seen);
      for (const auto& [notification, place] : wakes_now_) {
        plan.wakes.push_back({notification.first, notification.second, place});
      }
      Result<RunOutcome> outcome = run_(plan);
      return Made{std::move(plan), std::move(outcome)};
    };
    std::size_t taken = 0;
    const auto take = [&](std::uint64_t i, Made&& made) {
      ++taken;
      if (!made.outcome.ok()) {
        error_ = made.outcome.status();
        return false;
      }
      if (made.outcome->cancelled) {
        return false;
      }
      // Outcomes differ by what the program says, not by what is said about it, for example how it deadlocked.
      made.outcome->output_hash = std::hash<std::string>()(made.outcome->output);
      judge(requests[i], made.plan, *made.outcome);
      options_.on_run(result_.runs);
      return !error_.has_value();
    };
    do_in_order<Made>(requests.size(), options_.jobs, work, take, options_.cancelled);
    stopped_ = taken < requests.size();
  }

  void judge(const Explorer::Request& request, const RunPlan& plan, const RunOutcome& run) {
    ++result_.runs;
    tally_.add(plan, run);
    result_.outputs.try_emplace(run.output_hash, run.output);
    const Result<Execution> execution = execution_of(run.log);
    if (!execution.ok()) {
      error_ = execution.status();
      return;
    }
    const bool followed = run.log.processes.empty() || run.log.processes.front().divergences.empty();
    result_.diverged += followed || request.purpose != Explorer::Purpose::kMeeting ? 0 : 1;
    result_.is_repeatable = result_.is_repeatable && execution->is_repeatable;
    keep_races(*execution, plan, run);
    keep_deadlock(plan, run);
    ask_for_others(run.log);
    explorer_->add(request, *execution);
  }

  void keep_races(const Execution& execution, const RunPlan& plan, const RunOutcome& run) {
    std::set<Pair> here;
    for (const Meeting& meeting : meetings_in(execution)) {
      const ExploredStep& first = meeting.other_step(execution);
      const ExploredStep& second = meeting.here_step(execution);
      const Pair pair = pair_of(first, second);
      const auto [place, is_new] = places_.try_emplace(pair, result_.races.size());
      if (is_new) {
        ExploredRace race{first, second, meeting.other, meeting.here, 0, true, true, false, {}};
        arrange(meeting, execution, plan, run, race);
        result_.races.push_back(std::move(race));
      }
      ExploredRace& race = result_.races[place->second];
      race.runs += here.insert(pair).second ? 1 : 0;
      race.by_delay = race.by_delay && execution.points[meeting.point].delay > kUsualDelay;
      race.by_spurious_wake = race.by_spurious_wake && execution.points[meeting.point].delay == control::kSpurious;
    }
  }

  // A schedule that stops at the race; or at least one that comes through it, if the program does not do the same
  // again.
  void arrange(const Meeting& meeting, const Execution& execution, const RunPlan& plan, const RunOutcome& run,
               ExploredRace& race) {
    race.schedule = tally_.schedule_of(plan, run);
    if (race.first.offset == 0 || race.second.offset == 0 || error_) {
      return;
    }
    RunPlan toward = plan_of_meeting(meeting, execution, run.log);
    toward.flags |= plan.flags & (control::kSpuriousWakes | control::kWeakMemory);
    toward.older = plan.older;
    // Who goes first is drawn. A schedule ends where it stops both: the one that came last must not be the one to go
    // first.
    for (toward.seed = 1; toward.seed <= kMaxDraws && !race.stops; ++toward.seed) {
      const Result<RunOutcome> again = run_(toward);
      if (!again.ok()) {
        error_ = again.status();
        return;
      }
      ScheduleFile schedule = tally_.schedule_of(toward, *again);
      race.stops = !again->log.processes.empty() && !again->log.processes.front().races.empty() &&
                   first_divergence(schedule, again->log).empty();
      if (race.stops) {
        race.schedule = std::move(schedule);
      }
    }
  }

  void keep_deadlock(const RunPlan& plan, const RunOutcome& run) {
    if (run.log.processes.empty() || run.log.processes.front().deadlock.empty()) {
      return;
    }
    const std::vector<BlockedThread>& blocked = run.log.processes.front().deadlock;
    std::multiset<std::pair<std::string, control::BlockedOn>> where;
    for (const BlockedThread& each : blocked) {
      where.emplace(name_of(names_.site_of(each)), each.on);
    }
    const auto [place, is_new] = deadlocks_.try_emplace(std::move(where), result_.deadlocks.size());
    if (is_new) {
      result_.deadlocks.push_back({blocked, 0, tally_.schedule_of(plan, run)});
    }
    ++result_.deadlocks[place->second].runs;
  }

  const std::function<Result<RunOutcome>(const RunPlan&)>& run_;
  const ExploreOptions& options_;
  CodeNames& names_;
  TestTally tally_;
  std::map<Pair, std::size_t> places_;                // of result_.races
  std::map<std::uint32_t, std::uint32_t> variables_;  // numbers by ExploredStep::variable
  std::map<std::string, std::uint32_t> named_;        // and by name
  std::set<Pair> wanted_;
  std::set<Pair> undelayed_;  // a run has both, and nothing but a sleep between them
  std::map<std::multiset<std::pair<std::string, control::BlockedOn>>, std::size_t> deadlocks_;
  std::optional<Explorer> explorer_;
  Wakes wakes_now_;
  std::deque<Wakes> wakes_{Wakes{}};  // to be searched
  std::set<Wakes> seen_wakes_;
  ExploreResult result_;
  std::optional<Status> error_;
  bool stopped_ = false;
};

}  // namespace

std::uint64_t ExploreResult::outcomes() const {
  std::uint64_t count = 0;
  for (const TestEnd& end : tests.ends) {
    count += end.outputs.size();
  }
  return count;
}

bool ExploreResult::has_failures() const {
  return std::any_of(tests.ends.begin(), tests.ends.end(), [](const TestEnd& end) { return end.outcome.failed(); });
}

Result<ExploreResult> explore(const std::function<Result<RunOutcome>(const RunPlan&)>& run, const std::string& program,
                              CodeNames& names, const ExploreOptions& options) {
  return ExploreCampaign(run, program, names, options).explore();
}

}  // namespace sooth
