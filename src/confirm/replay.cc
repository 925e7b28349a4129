#include "confirm/replay.h"

#include <algorithm>
#include <charconv>

#include "confirm/older_values.h"
#include "schedule/strategy.h"
#include "trace/thread_label.h"

namespace sooth {
namespace {

constexpr std::string_view kWeakMemorySuffix = ",c11";  // of a schedule's name

constexpr std::size_t kRacesShown = 3;
constexpr std::uint64_t kMostSteeredRuns = 30;

std::string the_thread(std::uint32_t thread) { return "thread " + thread_label(thread); }

std::string describe(const RacingThread& thread, const RunPlan& plan, CodeNames& names) {
  const std::string deed = (thread.kinds & control::kAtomics) != 0 ? "atomic " : "";
  const bool reads = (thread.kinds & control::kReads) != 0, writes = (thread.kinds & control::kWrites) != 0;
  const std::string module = thread.range < plan.sites.size() ? plan.sites[thread.range].module : "";
  return the_thread(thread.thread) + " (" + deed +
         (reads && writes ? "update"
          : writes        ? "write"
                          : "read") +
         " of " + std::to_string(thread.bytes) + (thread.bytes == 1 ? " byte at " : " bytes at ") +
         names.name(module, thread.offset) + ")";
}

std::string describe(const CreatedRace& race, const RunPlan& plan, CodeNames& names) {
  std::string text = "race created: " + describe(race.here, plan, names);
  std::uint32_t first = race.here.first ? race.here.thread : control::kNone;
  for (const RacingThread& other : race.others) {
    text += " and " + describe(other, plan, names);
    first = other.first ? other.thread : first;
  }
  return text + (first == control::kNone ? "" : "; " + the_thread(first) + " went first");
}

bool creates_races(const RunLog& log) {
  return std::any_of(log.processes.begin(), log.processes.end(),
                     [](const ProcessLog& process) { return !process.races.empty(); });
}

const char* name_of(control::BlockedOn on) {
  switch (on) {
    case control::BlockedOn::kUnknown: return "something";
    case control::BlockedOn::kMutex: return "a mutex";
    case control::BlockedOn::kRwlock: return "a reader/writer lock";
    case control::BlockedOn::kSpin: return "a spin lock";
    case control::BlockedOn::kCondition: return "a condition";
    case control::BlockedOn::kBarrier: return "a barrier";
    case control::BlockedOn::kSemaphore: return "a semaphore";
    case control::BlockedOn::kJoin: return "the end of a thread";
    case control::BlockedOn::kOnce: return "an initialisation";
    case control::BlockedOn::kFutex: return "a futex";
  }
  return "something";
}

}  // namespace

std::optional<ScheduleFile> schedule_by_name(std::string_view name) {
  const std::size_t at = name.rfind('@');
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  ScheduleFile schedule;
  StrategySpec spec;
  schedule.plan.strategy = name.substr(0, at);
  std::string_view digits = name.substr(at + 1);
  if (digits.ends_with(kWeakMemorySuffix)) {
    digits.remove_suffix(kWeakMemorySuffix.size());
    schedule.plan.flags |= control::kWeakMemory;
  }
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), schedule.plan.seed);
  if (error != std::errc() || end != digits.data() + digits.size() ||
      !parse_strategy(schedule.plan.strategy.c_str(), spec)) {
    return std::nullopt;
  }
  schedule.open_end = true;
  return schedule;
}

std::string name_of_schedule(const ScheduleFile& schedule) {
  const RunPlan& plan = schedule.plan;
  const bool plain = plan.plan == control::Plan::kStrategy && plan.quantum == 0 && plan.patience == 0 &&
                     (plan.flags & ~control::kWeakMemory) == 0 && plan.sites.empty();
  const bool weak = (plan.flags & control::kWeakMemory) != 0;
  return plain ? plan.strategy + "@" + std::to_string(plan.seed) + std::string(weak ? kWeakMemorySuffix : "") : "";
}

Result<const Finding*> find_by_id(const Report& report, std::string_view id, const std::string& path) {
  std::vector<const Finding*> found;
  for (const Finding& finding : report.findings) {
    if (finding.id == id) {
      return &finding;
    }
    if (finding.id.starts_with(id)) {
      found.push_back(&finding);
    }
  }
  if (found.size() == 1) {
    return found.front();
  }
  std::string ids;
  for (const Finding& finding : report.findings) {
    if (finding.replay && !finding.replay->schedule.empty() && (found.empty() || finding.id.starts_with(id))) {
      ids += (ids.empty() ? "" : ", ") + finding.id;
    }
  }
  return Status::usage(
      path + (found.empty() ? ": no finding has the id `" : ": several findings have an id that begins with `") +
      std::string(id) + "`" +
      (ids.empty() ? "; none of them can be replayed: `sooth confirm` makes schedules"
                   : "; these can be replayed: " + ids));
}

Result<Replayed> replay(const ControlledProgram& program, const ScheduleFile& schedule, const ReplayOptions& options) {
  Replayed replayed;
  replayed.plan = replay_plan(schedule);
  ControlledRunOptions run;
  run.timeout = options.timeout;
  run.pass_through = true;
  run.under_gdb = options.under_gdb;
  // Of a run that hung it is enough to see that it hangs again.
  run.end_hangs = schedule.open_end && !schedule.places.empty() && !options.under_gdb;
  RunPlan plan = replayed.plan;
  plan.flags |= options.under_gdb ? control::kStopAtRace : 0;
  Result<RunOutcome> outcome = program.run(plan, run);
  if (!outcome.ok()) {
    return outcome.status();
  }
  replayed.run = std::move(*outcome);
  // A program whose debugger was left in the middle did not diverge.
  const bool left = options.under_gdb && replayed.run.log.state == control::RunState::kRunning;
  const bool known = !schedule.places.empty() || !schedule.open_end;
  if (known && !left) {
    replayed.divergence = first_divergence(schedule, replayed.run.log);
    if (replayed.divergence.empty() && options.race && !schedule.plan.sites.empty() &&
        !creates_races(replayed.run.log)) {
      replayed.divergence = "no race was created";
    }
  }
  return replayed;
}

Result<std::optional<Steered>> steer_instead(const ControlledProgram& program, const ScheduleFile& schedule,
                                             const Replayed& replayed, std::chrono::milliseconds time) {
  if (replayed.divergence.empty() || replayed.plan.sites.empty() || creates_races(replayed.run.log)) {
    return std::optional<Steered>();
  }
  const auto end = std::chrono::steady_clock::now() + time;
  Steered steered;
  while (steered.runs < kMostSteeredRuns) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      break;
    }
    steered.plan = RunPlan();
    steered.plan.plan = control::Plan::kDirected;
    steered.plan.sites = schedule.plan.sites;
    steered.plan.flags = schedule.plan.flags & control::kWeakMemory;
    steered.plan.seed = schedule.plan.seed + steered.runs;
    steered.plan.patience = steered.runs % 2 == 0 ? schedule.plan.patience : 0;
    ControlledRunOptions run;
    run.timeout = left;
    Result<RunOutcome> outcome = program.run(steered.plan, run);
    if (!outcome.ok()) {
      return outcome.status();
    }
    ++steered.runs;
    if (creates_races(outcome->log)) {
      steered.reached = std::move(*outcome);
      break;
    }
  }
  return std::optional<Steered>(std::move(steered));
}

std::vector<std::string> describe_deadlock(const ProcessLog& process, CodeNames& names) {
  std::vector<std::string> sentences;
  for (const BlockedThread& blocked : process.deadlock) {
    const Site site = names.site_of(blocked);
    const std::string place = site.module.empty() ? "" : " at " + name_of(site);
    std::string text = the_thread(blocked.thread) + place + " waits for " + name_of(blocked.on);
    if (blocked.holder != control::kNone) {
      text += blocked.on == control::BlockedOn::kJoin ? ": " + the_thread(blocked.holder)
                                                      : " that " + the_thread(blocked.holder) + " holds";
    }
    sentences.push_back(std::move(text));
  }
  return sentences;
}

std::vector<std::string> describe_events(const RunPlan& plan, const RunLog& log, CodeNames& names) {
  std::vector<std::string> sentences;
  for (const ProcessLog& process : log.processes) {
    for (std::size_t i = 0; i < process.races.size() && i < kRacesShown; ++i) {
      sentences.push_back(describe(process.races[i], plan, names));
    }
    if (process.races.size() > kRacesShown) {
      sentences.push_back("... in all " + std::to_string(process.races.size()) + " times");
    }
    for (const std::string& each : describe_older(process, names)) {
      sentences.push_back(each);
    }
    const std::vector<std::string> blocked = describe_deadlock(process, names);
    if (!blocked.empty()) {
      sentences.push_back("deadlock:");
    }
    for (const std::string& each : blocked) {
      sentences.push_back("  " + each);
    }
  }
  return sentences;
}

}  // namespace sooth
