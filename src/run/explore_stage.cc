#include "run/explore_stage.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"
#include "confirm/confirm_report.h"
#include "confirm/explorer_campaign.h"
#include "race/site_key.h"
#include "report/fingerprint.h"
#include "report/group.h"
#include "report/library_atomics.h"
#include "run/recorded_accesses.h"

namespace sooth {
namespace {

// Where it is, whatever the variable.
std::vector<std::pair<std::string, std::uint32_t>> lines_of(const Finding& finding) {
  std::vector<std::pair<std::string, std::uint32_t>> lines;
  for (const Access& access : finding.accesses) {
    lines.emplace_back(access.place().file, access.place().line);
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

// The explored race has the name of a variable if that is one of the program.
bool may_be_same_variable(const Finding& finding, const Finding& explored) {
  const std::string name = bare_variable(explored.accesses.front().variable);
  const std::optional<MemoryContext>& memory = finding.context.memory;
  if (name.empty()) {
    const bool in_program = std::none_of(explored.accesses.begin(), explored.accesses.end(), [](const Access& access) {
      return access.site.module.find(".so") != std::string::npos;  // which has variables of its own
    });
    return !in_program || !memory.has_value() || memory->kind != MemoryKind::kGlobal;
  }
  return std::any_of(finding.accesses.begin(), finding.accesses.end(), [&](const Access& access) {
    // An access to several members has the name of what they are in.
    const std::string known = bare_variable(access.variable);
    return known.empty() ? !memory.has_value() : known.starts_with(name) || name.starts_with(known);
  });
}

// What recordings call the first thread.
constexpr const char* kFirstThread = "main";

std::string thread_key(const Access& access) {
  return (access.thread == kFirstThread ? "T0" : access.thread) + std::string(1, '\0');
}

// Of an explored race that nobody knows the callers of: another copy of the library's code where races on that variable,
// or on other blocks of the heap, are proven, says nothing new.
bool stands_for(const Finding& proven, const Finding& explored, const UserCode& user_code) {
  const auto is_nobodys = [&](const Access& access) { return access.frame == 0 && !user_code.is_user(access.site); };
  const auto is_proven = [&](const Access& access) {
    return std::any_of(proven.accesses.begin(), proven.accesses.end(),
                       [&](const Access& each) { return site_key(each.site) == site_key(access.site); });
  };
  const bool is_anybodys = std::none_of(explored.accesses.begin(), explored.accesses.end(), is_nobodys);
  if (proven.kind != FindingKind::kRace || proven.rung < explored.rung || is_anybodys) {
    return false;
  }
  if (!explored.accesses.front().variable.empty()) {
    return may_be_same_variable(proven, explored) &&
           std::all_of(explored.accesses.begin(), explored.accesses.end(), is_proven);
  }
  const std::optional<MemoryContext>& memory = proven.context.memory;
  return memory.has_value() && memory->kind == MemoryKind::kHeap &&
         std::any_of(explored.accesses.begin(), explored.accesses.end(),
                     [&](const Access& access) { return is_nobodys(access) && is_proven(access); });
}

}  // namespace

Result<ExploreStageResult> explore_stage(const ExploreStageJob& job) {
  CodeNames names(job.path);
  ExploreOptions options;
  options.runs = job.runs;
  options.jobs = job.jobs;
  options.cancelled = job.cancelled;
  options.on_run = [&](std::uint64_t) { job.on_run(); };
  const Result<ExploreResult> explored = explore(job.run, job.program, names, options);
  if (!explored.ok()) {
    return explored.status();
  }
  Result<Report> report =
      report_of(*explored, job.program, names, [](const std::string&, const ScheduleFile&) { return std::string(); });
  if (!report.ok()) {
    return std::move(report).status();
  }
  std::erase_if(report->findings, [](const Finding& finding) { return finding.kind != FindingKind::kRace; });
  std::vector<Access> recorded = recorded_accesses(job.trace, report->findings);
  for (Access& access : recorded) {
    access.frame = static_cast<std::uint32_t>(job.identity.user_code.innermost(access.site, access.stack));
  }
  recorded.insert(recorded.end(), job.recorded.begin(), job.recorded.end());
  add_recorded_stacks(recorded, report->findings);
  fill_fingerprints(*report, job.identity);
  drop_races_of_library_atomics(*report);
  merge_equal_findings(*report);
  for (Finding& finding : report->findings) {
    finding.replay->command = replay_command(job.report_name, finding, job.program);
  }
  ExploreStageResult result;
  result.races = std::move(report->findings);
  result.runs = explored->runs;
  result.complete = explored->is_complete();
  if (result.complete) {
    result.told =
        "Every schedule was explored, but for the order of independent steps and what code without instrumentation "
        "does: " +
        counted(explored->runs, "run", "runs") +
        (explored->has_waiting_loops ? "; loops that wait were followed for " +
                                           counted(options.search.loop_turns + std::uint64_t{1}, "round", "rounds")
                                     : "") +
        ".";
  }
  return result;
}

void add_recorded_stacks(const std::vector<Access>& recorded, std::vector<Finding>& findings) {
  std::map<std::string, std::vector<const Access*>> known;
  for (const Access& access : recorded) {
    known[thread_key(access) + site_key(access.site)].push_back(&access);
  }
  for (Finding& finding : findings) {
    for (Access& access : finding.accesses) {
      const auto same = known.find(thread_key(access) + site_key(access.site));
      if (same != known.end() && std::all_of(same->second.begin(), same->second.end(), [&](const Access* each) {
            return site_key(each->place()) == site_key(same->second.front()->place());
          })) {
        access.stack = same->second.front()->stack;
      }
      access.thread = access.thread == "T0" ? kFirstThread : access.thread;
    }
  }
}

void merge_explored(std::vector<Finding> races, std::vector<Finding>& findings, const UserCode& user_code) {
  for (Finding& race : races) {
    if (std::any_of(findings.begin(), findings.end(),
                    [&](const Finding& each) { return stands_for(each, race, user_code); })) {
      continue;
    }
    std::vector<Finding*> known;
    for (Finding& each : findings) {
      if (each.kind == FindingKind::kRace && lines_of(each) == lines_of(race) && may_be_same_variable(each, race)) {
        known.push_back(&each);
      }
    }
    // Of several variables it is not known which one it is about: what is proven of one of them stands for it.
    const Rung enough = known.size() > 1 ? std::min(race.rung, Rung::kPredicted) : race.rung;
    // What is known to take an unlikely delay is known better when a run without one gets there.
    const auto is_known = [&](const Finding* each) {
      return each->rung >= enough && (each->rung != race.rung || !is_by_delay(*each) || is_by_delay(race));
    };
    if (std::any_of(known.begin(), known.end(), is_known)) {
      continue;
    }
    if (known.size() != 1) {
      findings.push_back(std::move(race));
      continue;
    }
    known.front()->rung = race.rung;
    rename(race, known.front()->id);  // in its replay
    known.front()->replay = std::move(race.replay);
    known.front()->found_by.push_back("explore");
  }
}

}  // namespace sooth
