#include "schedule/schedule_file.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "trace/thread_label.h"

namespace sooth {
namespace {

using control::Plan;
using control::RunState;
using control::Stretch;
using control::StretchEnd;

// "block after 5 operations and 3 accesses".
std::string position_of(const Stretch& stretch) {
  std::string text = " after " + counted(stretch.events, "operation", "operations");
  if (stretch.accesses != control::kAnyAccesses && stretch.accesses != 0) {
    text += " and " + counted(stretch.accesses, "access", "accesses");
  }
  return text;
}

struct EndWords {
  const char* was_to;  // "thread T2 was to ..."
  const char* did;     // "but ..."
};

EndWords words_of(StretchEnd end) {
  switch (end) {
    case StretchEnd::kPreempted: return {"be preempted", "was preempted"};
    case StretchEnd::kBlocked: return {"block", "blocked"};
    case StretchEnd::kYielded: return {"yield", "yielded"};
    case StretchEnd::kOutside: return {"wait for something outside", "waited for something outside"};
    case StretchEnd::kTaken: return {"lose its turn in a call that blocks", "lost its turn in a call that blocks"};
    case StretchEnd::kPostponed:
      return {"be postponed in front of a racing access", "was postponed in front of a racing access"};
    case StretchEnd::kEnded: return {"end", "ended"};
    case StretchEnd::kSpun: return {"be found waiting in a loop", "was found waiting in a loop"};
    case StretchEnd::kRunEnded: return {"end the process", "ended the process"};
  }
  return {"stop", "stopped"};
}

std::string thread_name(std::uint32_t thread) { return "thread " + thread_label(thread); }
std::string stretch_name(std::uint64_t place) { return "stretch " + std::to_string(place + 1) + ": "; }
std::string was_to(const Stretch& stretch) {
  return thread_name(stretch.thread) + " was to " + words_of(stretch.end).was_to + position_of(stretch);
}

// What the library itself found while it followed stretches.
std::string describe(const Diverged& diverged, const ScheduleFile& schedule) {
  const bool listed = diverged.stretch < schedule.plan.stretches.size();
  std::string text = stretch_name(diverged.stretch);
  text += listed ? was_to(schedule.plan.stretches[diverged.stretch]) : thread_name(diverged.thread) + " was to run";
  const bool known_end = diverged.found < control::kStretchEndCount;
  const std::string stopped = known_end ? words_of(static_cast<StretchEnd>(diverged.found)).did : "stopped";
  switch (diverged.what) {
    case control::Divergence::kNotReady: return text + ", but it cannot run: it " + stopped;
    case control::Divergence::kNoThread: return text + ", but there is no such thread";
    case control::Divergence::kEarly: return text + ", but " + stopped + " before that";
    case control::Divergence::kOtherHash: return text + ", but the program did other operations up to there";
  }
  return text;
}

// Empty when `found` is what `wanted` says.
std::string compare(const Stretch& wanted, const Stretch& found) {
  if (wanted.thread != found.thread) {
    return was_to(wanted) + ", but " + thread_name(found.thread) + " ran";
  }
  const bool same_accesses = wanted.accesses == control::kAnyAccesses || wanted.accesses == found.accesses;
  if (wanted.end != found.end || wanted.events != found.events || !same_accesses) {
    return was_to(wanted) + ", but " + words_of(found.end).did + position_of(found);
  }
  if (wanted.hash != 0 && found.hash != 0 && wanted.hash != found.hash) {
    return was_to(wanted) + ", and did, but the program did other operations up to there";
  }
  if (wanted.timed_out != found.timed_out) {
    return thread_name(wanted.thread) +
           (wanted.timed_out != 0 ? " was to be woken by its deadline" : " was woken by its deadline too early");
  }
  return {};
}

const char* ends_as(RunState state) {
  switch (state) {
    case RunState::kNotStarted: return "never started";
    case RunState::kRunning: return "was stopped in the middle";
    case RunState::kEnded: return "ended by itself";
    case RunState::kDeadlocked: return "deadlocked";
    case RunState::kDiverged: return "left its schedule";
    case RunState::kHung: return "hung";
  }
  return "is in an unknown state";
}

// It would have gone on, had nobody ended it.
bool is_cut_off(RunState state) { return state == RunState::kRunning || state == RunState::kHung; }

// The places of `kept` check points among `count` stretches: evenly spread, the last one among them.
std::vector<std::uint64_t> spread(std::uint64_t count, std::uint64_t kept) {
  std::vector<std::uint64_t> places;
  for (std::uint64_t i = 0; i < kept; ++i) {
    // (i + 1) * count / kept - 1, which may not fit.
    places.push_back((i + 1) * (count / kept) + (i + 1) * (count % kept) / kept - 1);
  }
  return places;
}

// Stretches that end in front of a race, which the rule of directed runs then creates and the seed resolves. All that
// happened, as stretches, would be the same run, but nobody would stop at the race in it.
bool leads_to_a_race(const RunPlan& plan, const ProcessLog& process) {
  return plan.plan == Plan::kStretches && !plan.sites.empty() && !process.races.empty() && process.external == 0;
}

// The first check point at which the run is another one; an empty sentence when the run was cut off before the last of
// them.
std::optional<std::string> compare_checkpoints(const ScheduleFile& schedule, const RunLog& log) {
  const ProcessLog& process = log.processes.front();
  for (std::size_t i = 0; i < schedule.places.size(); ++i) {
    const std::uint64_t place = schedule.places[i];
    const Stretch& wanted = schedule.plan.stretches[i];
    if (place >= process.stretches.size()) {
      // A run that was cut off, like that of the schedule, may have been cut off earlier.
      const bool cut_off = log.truncated || (schedule.open_end && is_cut_off(log.state));
      return cut_off
                 ? ""
                 : stretch_name(place) + was_to(wanted) + ", but the program " + ends_as(log.state) + " before that";
    }
    if (const std::string difference = compare(wanted, process.stretches[place]); !difference.empty()) {
      return stretch_name(place) + difference;
    }
  }
  return std::nullopt;
}

}  // namespace

ScheduleFile make_schedule(const std::string& program, const RunPlan& plan, const RunLog& log,
                           std::size_t max_checkpoints) {
  static const ProcessLog kNothing;
  const ProcessLog& process = log.processes.empty() ? kNothing : log.processes.front();
  ScheduleFile schedule;
  schedule.program = program;
  schedule.plan = plan;
  schedule.plan.flags &= ~(control::kStopAtRace | control::kLogPoints);
  schedule.plan.choices.clear();
  schedule.plan.threads.clear();
  schedule.plan.older.clear();
  schedule.stretch_count = process.stretches.size();
  schedule.end = is_cut_off(log.state) ? RunState::kRunning : log.state;
  schedule.open_end = log.truncated || is_cut_off(log.state);
  if (leads_to_a_race(plan, process)) {
    schedule.plan = plan;
    schedule.plan.flags &= ~(control::kStopAtRace | control::kLogPoints);
    schedule.places = spread(plan.stretches.size(), plan.stretches.size());
    schedule.stretch_count = plan.stretches.size();
    schedule.open_end = true;
    return schedule;
  }
  const bool seed_decides = plan.plan == Plan::kStrategy || plan.plan == Plan::kDirected;
  if (!seed_decides || process.external != 0) {
    schedule.plan.plan = Plan::kStretches;
    schedule.plan.threads = process.threads;
    schedule.plan.older = older_choices(process);
    if (plan.plan == Plan::kStrategy) {
      schedule.plan.sites.clear();  // of interest to a strategy; no race is at them
    }
    max_checkpoints = process.stretches.size();
  }
  schedule.places = spread(process.stretches.size(), std::min(max_checkpoints, process.stretches.size()));
  schedule.plan.stretches.clear();
  for (const std::uint64_t place : schedule.places) {
    schedule.plan.stretches.push_back(process.stretches[place]);
  }
  return schedule;
}

RunPlan replay_plan(const ScheduleFile& schedule) {
  RunPlan plan = schedule.plan;
  if (schedule.by_seed()) {
    plan.stretches.clear();
    plan.threads.clear();
  }
  return plan;
}

std::string first_divergence(const ScheduleFile& schedule, const RunLog& log) {
  if (log.processes.empty()) {
    return schedule.end == RunState::kNotStarted ? "" : "the program never came to the run time library";
  }
  const ProcessLog& process = log.processes.front();
  if (!process.divergences.empty()) {
    return describe(process.divergences.front(), schedule);
  }
  // Whoever follows stretches has told already where that was not possible.
  if (schedule.by_seed()) {
    if (const std::optional<std::string> difference = compare_checkpoints(schedule, log)) {
      return *difference;
    }
  }
  const bool both_cut_off = is_cut_off(log.state) && is_cut_off(schedule.end);
  if (log.state != schedule.end && !both_cut_off) {
    return std::string("the program was to end differently: it ") + ends_as(log.state) + ", but in the schedule it " +
           ends_as(schedule.end);
  }
  if (schedule.open_end || log.truncated) {
    return {};
  }
  if (process.stretches.size() != schedule.stretch_count) {
    return "the run had " + std::to_string(process.stretches.size()) + " stretches, but that of the schedule " +
           std::to_string(schedule.stretch_count);
  }
  return {};
}

}  // namespace sooth
