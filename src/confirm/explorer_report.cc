// Findings of an exploration. Each of them was there to be seen in a run.
#include <algorithm>
#include <iterator>

#include "confirm/explorer_campaign.h"
#include "race/spurious_wakes.h"
#include "trace/thread_label.h"

namespace sooth {
namespace {

Access access_of(const ExploredStep& step, std::uint32_t thread, CodeNames& names) {
  Access access;
  access.op = step.op;
  access.size = step.size;
  access.thread = thread_label(thread);
  // What is inlined where it is: of calls nobody keeps the stacks.
  std::vector<Site> stack = names.stack({{step.module, step.offset}});
  access.site = std::move(stack.front());
  access.stack.assign(std::make_move_iterator(stack.begin() + 1), std::make_move_iterator(stack.end()));
  return access;
}

Finding finding_of(const ExploredRace& race, CodeNames& names) {
  Finding finding;
  finding.kind = FindingKind::kRace;
  finding.rung = Rung::kConfirmed;
  finding.dynamic_pairs = race.runs;
  finding.accesses = {access_of(race.first, race.first_thread, names),
                      access_of(race.second, race.second_thread, names)};
  finding.replay.emplace().by_delay = race.by_delay;
  finding.replay->strategy = race.by_spurious_wake ? kWithSpuriousWakes : "";
  // Of the first byte that both touch, as everywhere.
  const std::uint32_t variable = variable_of(race.first, race.second);
  const std::string name = variable == 0 ? "" : names.variable(variable - std::uint64_t{1});
  for (Access& access : finding.accesses) {
    access.variable = name;
  }
  return finding;
}

bool is_lock(control::BlockedOn on) {
  return on == control::BlockedOn::kMutex || on == control::BlockedOn::kRwlock || on == control::BlockedOn::kSpin;
}

// Threads each of which waits for a lock that the next holds, and the last for one of the first; empty when there are
// none.
std::vector<BlockedThread> cycle_of(const std::vector<BlockedThread>& blocked) {
  for (const BlockedThread& start : blocked) {
    std::vector<BlockedThread> cycle;
    const BlockedThread* at = &start;
    while (at != nullptr && is_lock(at->on) && cycle.size() < blocked.size()) {
      cycle.push_back(*at);
      if (at->holder == start.thread) {
        return cycle;
      }
      const auto next = std::find_if(blocked.begin(), blocked.end(),
                                     [&](const BlockedThread& each) { return each.thread == at->holder; });
      at = next == blocked.end() ? nullptr : &*next;
    }
  }
  return {};
}

Finding finding_of(const ExploredDeadlock& deadlock, const std::vector<BlockedThread>& cycle, CodeNames& names) {
  Finding finding;
  finding.kind = FindingKind::kDeadlock;
  finding.rung = Rung::kHarmful;
  finding.dynamic_pairs = deadlock.runs;
  for (const BlockedThread& blocked : cycle) {
    Access access;
    access.op = Op::kAcquire;
    access.variable = blocked.variable.has_value() ? names.variable(*blocked.variable) : "";
    if (access.variable.empty()) {
      access.variable = "lock held by " + thread_label(blocked.holder);
    }
    access.thread = thread_label(blocked.thread);
    std::vector<Site> stack = names.stack(blocked.stack);
    access.site = names.site_of(blocked);
    access.stack.assign(stack.begin() + (stack.empty() ? 0 : 1), stack.end());
    finding.accesses.push_back(std::move(access));
  }
  return finding;
}

}  // namespace

Result<Report> report_of(const ExploreResult& result, const std::string& program, CodeNames& names,
                         const CommandOf& command_of) {
  Report report;
  report.program = program;
  report.incomplete = !result.is_complete();
  const auto add = [&](Finding finding, const std::string& name, const ScheduleFile& schedule) -> Status {
    const Result<std::string> command = command_of(name, schedule);
    if (!command.ok()) {
      return command.status();
    }
    finding.found_by = {"explore"};
    ReplaySummary replay = finding.replay.value_or(ReplaySummary());
    replay.command = *command;
    replay.seed = schedule.plan.seed;
    replay.strategy.insert(0, "explore");
    replay.trials = result.runs;
    replay.hits = finding.dynamic_pairs;
    replay.probability =
        static_cast<double>(replay.hits) / static_cast<double>(std::max<std::uint64_t>(result.runs, 1));
    replay.outcome = schedule.outcome;
    replay.schedule = print_schedule(schedule);
    finding.replay = std::move(replay);
    report.findings.push_back(std::move(finding));
    return {};
  };
  for (std::size_t i = 0; i < result.races.size(); ++i) {
    SOOTH_RETURN_IF_ERROR(
        add(finding_of(result.races[i], names), "race-" + std::to_string(i + 1), result.races[i].schedule));
  }
  for (std::size_t i = 0; i < result.deadlocks.size(); ++i) {
    const std::vector<BlockedThread> cycle = cycle_of(result.deadlocks[i].blocked);
    if (!cycle.empty()) {
      SOOTH_RETURN_IF_ERROR(add(finding_of(result.deadlocks[i], cycle, names), "deadlock-" + std::to_string(i + 1),
                                result.deadlocks[i].schedule));
    }
  }
  AnalysisStats stats;
  stats.name = "explore";
  stats.guarantee = result.is_complete() ? "complete" : "not complete";
  stats.races = report.findings.size();
  stats.extra = {{"runs", std::to_string(result.runs)},
                 {"redundant runs", std::to_string(result.redundant)},
                 {"outcomes", std::to_string(result.outcomes())},
                 {"complete", result.is_complete() ? "yes" : "no"}};
  report.stats.analyses.push_back(std::move(stats));
  return report;
}

}  // namespace sooth
