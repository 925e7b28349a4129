// sooth explore: runs a small program under every schedule that makes a difference.
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/campaign_options.h"
#include "cli/command.h"
#include "cli/numbers.h"
#include "cli/program_command.h"
#include "cli/progress.h"
#include "cli/report_options.h"
#include "confirm/explorer_campaign.h"
#include "confirm/shell_words.h"
#include "report/describe.h"
#include "report/files.h"
#include "run/work_limit.h"
#include "schedule/weak_memory.h"

namespace sooth {
namespace {

constexpr std::size_t kOutputShown = 200;       // bytes of an output that is told
constexpr std::uint64_t kMaxRecords = 1 << 18;  // of the log of one run

struct ExploreFlags {
  CampaignFlags flags;
  ExploreOptions explore;
  bool no_reduction = false;
  std::uint32_t preemptions = 0;
  bool bounded = false;
  std::string schedules = "sooth-schedules";  // directory
  ReportOptions report;
};

Status check_usage(const ExploreFlags& options) {
  return options.explore.runs == 0 ? Status::usage("--runs needs at least one") : Status{};
}

// Writes the schedule to NAME.schedule in the user's directory; what to type to see that run again.
Result<std::string> keep_schedule(const std::string& name, const ScheduleFile& schedule, const ExploreFlags& options) {
  std::error_code error;
  std::filesystem::create_directories(options.schedules, error);
  if (error) {
    return Status::bad_input("cannot make the directory " + options.schedules + ": " + error.message());
  }
  const std::string path = options.schedules + "/" + name + ".schedule";
  SOOTH_RETURN_IF_ERROR(write_whole_file(path, print_schedule(schedule)));
  return "sooth replay " + shell_word(path) + " -- " + shell_words(program_words());
}

std::string scope(const ExploreFlags& options) {
  if (options.bounded) {
    return "every schedule with at most " + counted(options.preemptions, "preemption", "preemptions");
  }
  return options.no_reduction ? "every schedule" : "every schedule, but for the order of independent steps";
}

// Why not all was seen, as a sentence; or that it was.
std::string completeness(const ExploreResult& result, const ExploreFlags& options) {
  const std::string stopped = "stopped after " + counted(result.runs, "run", "runs") + ": not complete";
  if (!result.is_exhausted) {
    return stopped;
  }
  if (!result.is_repeatable || result.diverged != 0) {
    return "not complete: " + (result.diverged != 0
                                   ? counted(result.diverged, "run", "runs") + " did not begin like the one before it"
                                   : std::string("something from outside took part, so runs cannot be repeated"));
  }
  if (result.cut != 0) {
    return "not complete: " + counted(result.cut, "run was", "runs were") + " too long to be looked at as a whole";
  }
  // Where nobody can go on that is a deadlock, and nobody is woken for no reason instead.
  const std::string woken = ", with up to one spurious wake-up in each thread";
  return "complete: " + scope(options) +
         (!options.explore.spurious_wakes ? ""
          : result.deadlocks.empty()      ? woken
                                          : woken + ", but of none that nobody would notify") +
         (options.flags.weak_memory() ? ", with all that atomics may see; the same old value up to " +
                                            counted(weak::kPatience, "time", "times") + " in a thread"
                                      : "") +
         (result.has_waiting_loops
              ? "; loops that wait were followed for " +
                    counted(options.explore.search.loop_turns + std::uint64_t{1}, "round", "rounds")
              : "");
}

std::string shown_output(const std::string& output) {
  return output.empty() ? "no output"
                        : "output \"" + printable(output.substr(0, kOutputShown)) + "\"" +
                              (output.size() > kOutputShown ? "..." : "");
}

// Different ends and outputs, and for failures the line that repeats the first of them.
Result<std::string> describe_ends(const ExploreResult& result, const ExploreFlags& options) {
  std::string text;
  for (const TestEnd& end : result.tests.ends) {
    for (const TestOutput& output : end.outputs) {
      const auto known = result.outputs.find(output.hash);
      text += "outcome: " + printable(end.outcome.describe()) + ", " +
              shown_output(known == result.outputs.end() ? "" : known->second) + ", in " +
              counted(output.runs, "run", "runs") + "\n";
    }
    for (const std::string& sentence : end.blocked) {
      text += "  " + printable(sentence) + "\n";
    }
    if (end.outcome.failed()) {
      for (const std::string& sentence : end.older) {
        text += "  " + printable(sentence) + "\n";
      }
    }
    if (end.outcome.failed() && end.spurious == end.runs) {
      text += "  only with a spurious wake-up of a condition variable\n";
    }
    if (end.outcome.failed()) {
      const Result<std::string> again =
          keep_schedule("failure-" + std::to_string(end.first_seed), end.schedule, options);
      if (!again.ok()) {
        return again.status();
      }
      text += "  again: " + printable(*again) + "\n";
    }
  }
  return text;
}

Result<std::string> summary(const ExploreResult& result, const ExploreFlags& options) {
  std::uint64_t deadlocks = 0;
  for (const TestEnd& end : result.tests.ends) {
    deadlocks += end.outcome.kind == Outcome::Kind::kDeadlocked ? 1 : 0;
  }
  const Result<std::string> ends = describe_ends(result, options);
  if (!ends.ok()) {
    return ends.status();
  }
  return counted(result.runs, "run", "runs") + " of " + printable(shell_words(program_words())) + " (" +
         std::to_string(result.redundant) + " redundant): " + counted(result.outcomes(), "outcome", "outcomes") + ", " +
         counted(result.races.size(), "racing pair", "racing pairs") + ", " +
         counted(deadlocks, "deadlock", "deadlocks") + "\n" + completeness(result, options) + "\n" + *ends;
}

Result<ExploreResult> run_exploration(const ControlledProgram& program, CodeNames& names, ExploreFlags& options) {
  const WorkLimit limit(options.flags.budget);
  Progress progress("exploring", Progress::terminal(), "runs");
  ControlledRunOptions run;
  run.timeout = options.flags.timeout;
  run.max_output = 64 << 10;
  run.max_records = kMaxRecords;
  run.cancel = &WorkLimit::interrupt();
  ExploreOptions& explore_options = options.explore;
  explore_options.search.reduce = !options.no_reduction;
  explore_options.search.preemptions = options.bounded ? std::optional(options.preemptions) : std::nullopt;
  explore_options.weak_memory = options.flags.weak_memory();
  explore_options.jobs = options.flags.jobs;
  explore_options.cancelled = [&] { return limit.reached(); };
  explore_options.on_run = [&](std::uint64_t runs) { progress.update(runs, runs, 0); };
  return explore([&](const RunPlan& plan) { return program.run(plan, run); }, shell_words(program.words()), names,
                 explore_options);
}

CommandResult run_explore(ExploreFlags& options) {
  SOOTH_RETURN_IF_ERROR(check_usage(options));
  const Result<ControlledProgram> program = prepare_campaign_program();
  if (!program.ok()) {
    return program.status();
  }
  CodeNames names(program->path());
  const Result<ExploreResult> result = run_exploration(*program, names, options);
  if (!result.ok()) {
    return result.status();
  }
  const Result<std::string> text = summary(*result, options);
  if (!text.ok()) {
    return text.status();
  }
  Result<Report> report = report_of(
      *result, shell_words(program_words()), names,
      [&](const std::string& name, const ScheduleFile& schedule) { return keep_schedule(name, schedule, options); });
  if (!report.ok()) {
    return std::move(report).status();
  }
  report->notes.push_back(completeness(*result, options));
  // The report may be for a program to read.
  const bool for_people = options.report.format == "text" && options.report.output.empty();
  (for_people ? std::cout : std::cerr) << *text << (for_people ? "\n" : "");
  std::cout.flush();
  const Result<ExitCode> code = deliver(*report, options.report);
  const bool fails = result->has_failures() && options.report.fail_on != "never";
  return code.ok() && fails ? ExitCode::kFindings : code;
}

}  // namespace

void add_explore_command(CLI::App& root, CommandResult& result) {
  CLI::App* command =
      root.add_subcommand("explore", "Run a small program under every schedule that makes a difference");
  auto options = std::make_shared<ExploreFlags>();
  options->flags.timeout = std::chrono::seconds(10);
  add_count_option(*command, "--runs", options->explore.runs, "Stop after N runs");
  add_count_option(*command, "--preemptions", options->preemptions,
                   "Only schedules with at most N preemptions, those with fewer first; all of these")
      ->default_str("no limit");
  command->add_flag("--no-reduction", options->no_reduction,
                    "Also schedules that differ only in the order of independent steps");
  command->add_flag("--spurious-wakes", options->explore.spurious_wakes,
                    "Waits for a condition may also end although nobody notifies, once in each thread");
  add_count_option(*command, "--loop-turns", options->explore.search.loop_turns,
                   "Rounds of a loop that only looks at what nobody changes, until it makes room for others; 0: never");
  add_memory_model_option(*command, options->flags);
  add_run_options(*command, options->flags);
  command->add_option("--schedules", options->schedules, "Directory for a schedule of each race, deadlock and failure")
      ->type_name("DIR")
      ->capture_default_str();
  add_report_options(*command, options->report);
  command->footer(
      "Usage: sooth explore [OPTIONS] -- PROGRAM ARGUMENTS. Exit status: 66 when a run failed or deadlocked, or there "
      "is a race,\n"
      "else 0, also when it was stopped early: look for `complete` in the output. docs/explore.md tells more.");
  run_with_program(*command, result, [options, command] {
    options->bounded = command->count("--preemptions") > 0;
    return run_explore(*options);
  });
}

}  // namespace sooth
