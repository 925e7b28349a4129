// sooth campaign: a whole test suite under many schedules, spread over many machines.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/numbers.h"
#include "cli/report_options.h"
#include "launch/captured_process.h"
#include "launch/environment.h"
#include "report/files.h"
#include "run/merge_reports.h"
#include "run/suite_work.h"

namespace sooth {
namespace {

namespace fs = std::filesystem;

struct PlanFlags {
  std::string folder;
  std::string ctest;                     // build folder
  std::string list;                      // file
  std::vector<std::string> commands;     // lines
  std::vector<std::string> environment;  // NAME, or NAME=VALUE
  std::uint64_t schedules = 10;
  std::uint64_t seed = 1;
  std::uint64_t trials = 10;
  std::uint64_t recordings = 1;
  std::string budget = "5m", timeout;
};

struct WorkFlags {
  std::string folder;
  std::string units;  // ranges; empty: those without a result
  std::uint32_t jobs = 1;
};

struct StatusFlags {
  std::string folder;
  bool missing = false;
};

struct MergeUnitsFlags {
  std::string folder;
  ReportOptions report;
};

std::string units_of(std::uint64_t count) { return std::to_string(count) + (count == 1 ? " unit" : " units"); }

Result<std::vector<SuiteTest>> tests_of_build(const std::string& build) {
  CaptureLimits limits;
  limits.max_output = std::size_t{256} << 20;
  const Result<Captured> listed =
      run_captured({"ctest", "--show-only=json-v1", "--test-dir", build}, current_environment(), limits);
  if (!listed.ok()) {
    return listed.status();
  }
  if (listed->end.shell_status() != 0) {
    return Status::bad_input(build +
                             ": ctest cannot list the tests: " + listed->errors.substr(0, listed->errors.find('\n')));
  }
  std::error_code error;
  return tests_of_ctest(listed->output, fs::absolute(build, error).string());
}

Result<std::vector<SuiteTest>> tests_of(const PlanFlags& options) {
  if (!options.ctest.empty()) {
    return tests_of_build(options.ctest);
  }
  std::string text;
  if (!options.list.empty()) {
    Result<std::string> read = read_whole_file(options.list);
    if (!read.ok()) {
      return std::move(read).status();
    }
    text = std::move(*read);
  }
  for (const std::string& line : options.commands) {
    text += line + "\n";
  }
  std::error_code error;
  Result<std::vector<SuiteTest>> tests = tests_of_lines(text, fs::current_path(error).string());
  return tests.ok() || options.list.empty() ? std::move(tests)
                                            : Status::bad_input(options.list + ": " + tests.status().message());
}

CommandResult plan(const PlanFlags& options) {
  if (options.schedules == 0) {
    return Status::usage("--schedules 0: there is nothing to do without a schedule");
  }
  if (options.ctest.empty() && options.list.empty() && options.commands.empty()) {
    return Status::usage("plan needs tests: --ctest DIR, --commands FILE or --command LINE");
  }
  Result<std::vector<SuiteTest>> tests = tests_of(options);
  if (!tests.ok()) {
    return std::move(tests).status();
  }
  SuitePlan plan;
  plan.options = {"--trials",     std::to_string(options.trials),
                  "--recordings", std::to_string(options.recordings),
                  "--budget",     options.budget};
  if (!options.timeout.empty()) {
    plan.options.insert(plan.options.end(), {"--timeout", options.timeout});
  }
  plan.environment = suite_environment(current_environment(), options.environment);
  plan.tests = std::move(*tests);
  plan.schedules = suite_schedules(options.schedules, options.seed);
  const Result<SuiteFolder> folder = SuiteFolder::create(options.folder, std::move(plan));
  if (!folder.ok()) {
    return folder.status();
  }
  std::printf("%s: %zu %s, %zu %s each, %s\n", options.folder.c_str(), folder->plan().tests.size(),
              folder->plan().tests.size() == 1 ? "test" : "tests", folder->plan().schedules.size(),
              folder->plan().schedules.size() == 1 ? "schedule" : "schedules",
              units_of(folder->plan().units()).c_str());
  return ExitCode::kOk;
}

Result<std::string> own_executable() {
  std::error_code error;
  fs::path path = fs::read_symlink("/proc/self/exe", error);
  return error ? Result<std::string>(Status::internal("/proc/self/exe: " + error.message())) : path.string();
}

// Machines and processes differ; which unit is done first is all that depends on it.
std::uint64_t worker_number() {
  char host[256] = {};
  (void)::gethostname(host, sizeof host - 1);
  return std::hash<std::string>{}(host)*1'000'003 + static_cast<std::uint64_t>(::getpid());
}

Result<std::vector<std::uint64_t>> units_to_do(const SuiteFolder& folder, const std::string& asked) {
  if (asked.empty()) {
    return from_a_place_of_ones_own(folder.missing(), worker_number());
  }
  return parse_ranges(asked, folder.plan().units());
}

CommandResult work(const WorkFlags& options) {
  const Result<SuiteFolder> folder = SuiteFolder::open(options.folder);
  if (!folder.ok()) {
    return folder.status();
  }
  const Result<std::string> tool = own_executable();
  const Result<std::vector<std::uint64_t>> units = units_to_do(*folder, options.units);
  if (!tool.ok() || !units.ok()) {
    return tool.ok() ? units.status() : tool.status();
  }
  std::uint64_t failed = 0;
  for (const std::uint64_t unit : *units) {
    if (folder->is_done(unit)) {
      continue;  // by somebody else, or before
    }
    const std::string name = "unit " + std::to_string(unit) + ", " + folder->plan().unit(unit).name();
    const UnitEnd end = do_unit(*folder, unit, *tool, options.jobs);
    if (end.interrupted) {
      say(name + ": interrupted; the same command goes on with it");
      return ExitCode::kInternal;
    }
    say(name + ": " + (end.failed.empty() ? "done" : end.failed));
    failed += end.failed.empty() ? 0 : 1;
  }
  if (failed != 0) {
    return Status::bad_input(units_of(failed) + (failed == 1 ? " has" : " have") + " no result");
  }
  return ExitCode::kOk;
}

CommandResult show_status(const StatusFlags& options) {
  const Result<SuiteFolder> folder = SuiteFolder::open(options.folder);
  if (!folder.ok()) {
    return folder.status();
  }
  const std::vector<std::uint64_t> missing = folder->missing();
  if (options.missing) {
    std::printf("%s\n", number_ranges(missing).c_str());
    return ExitCode::kOk;
  }
  const std::uint64_t units = folder->plan().units();
  std::printf("%llu of %s done\n", static_cast<unsigned long long>(units - missing.size()), units_of(units).c_str());
  for (const std::uint64_t unit : missing) {
    std::error_code error;
    std::printf("missing: %llu, %s%s\n", static_cast<unsigned long long>(unit),
                folder->plan().unit(unit).name().c_str(),
                fs::exists(folder->log_path(unit), error) ? (": failed, see " + folder->log_path(unit)).c_str() : "");
  }
  return ExitCode::kOk;
}

CommandResult merge_campaign(const MergeUnitsFlags& options) {
  SOOTH_RETURN_IF_ERROR(check_report_options(options.report));
  const Result<SuiteFolder> folder = SuiteFolder::open(options.folder);
  if (!folder.ok()) {
    return folder.status();
  }
  Result<Report> merged = merge_units(*folder);
  if (!merged.ok()) {
    return std::move(merged).status();
  }
  if (!options.report.output.empty() && options.report.format == "json") {
    name_replays(*merged, options.report.output);
  }
  return deliver(*merged, options.report);
}

void add_plan(CLI::App& campaign, CommandResult& result) {
  CLI::App* command =
      campaign.add_subcommand("plan", "Divide a test suite, each test under several schedules, into units");
  auto options = std::make_shared<PlanFlags>();
  command->add_option("FOLDER", options->folder, "The folder of the campaign; it is created")
      ->required()
      ->type_name("");
  CLI::Option* ctest =
      command->add_option("--ctest", options->ctest, "The tests of this build folder, as ctest lists them")
          ->type_name("DIR");
  CLI::Option* list =
      command->add_option("--commands", options->list, "The commands of this file, one a line")->type_name("FILE");
  CLI::Option* line =
      command->add_option("--command", options->commands, "This command; may be repeated")->type_name("LINE");
  ctest->excludes(list)->excludes(line);
  command
      ->add_option(
          "--env", options->environment,
          "A variable that tests need besides PATH, HOME and the like: its name, or NAME=VALUE; may be repeated")
      ->type_name("NAME");
  add_count_option(*command, "--schedules", options->schedules,
                   "Schedules that each test is recorded under: serial, then random, pct:3, pos and surw in turn");
  add_count_option(*command, "--seed", options->seed, "Of the first schedule; the others have those after it");
  add_count_option(*command, "--trials", options->trials, "Controlled runs towards each finding of a unit, at most");
  add_count_option(*command, "--recordings", options->recordings, "Recordings that a unit makes, at most");
  command->add_option("--budget", options->budget, "Time for proofs and controlled runs of a unit; 0: no limit")
      ->type_name("T")
      ->default_str("5m")
      ->check([](const std::string& text) { return parse_duration(text).status().message(); });
  command->add_option("--timeout", options->timeout, "A run that takes longer is killed, and counts as a hang")
      ->type_name("T")
      ->check([](const std::string& text) { return parse_duration(text).status().message(); });
  command->footer(
      "Usage: sooth campaign plan FOLDER --ctest DIR | --commands FILE | --command LINE ... [OPTIONS]. A unit is one "
      "test under one schedule; units are numbered from 1. Unless a unit reaches its budget, it has the same result on "
      "every machine.");
  command->callback([options, &result] { result = plan(*options); });
}

void add_work(CLI::App& campaign, CommandResult& result) {
  CLI::App* command = campaign.add_subcommand("work", "Work on the units that have no result yet");
  auto options = std::make_shared<WorkFlags>();
  command->add_option("FOLDER", options->folder, "The folder that `sooth campaign plan` created")
      ->required()
      ->type_name("");
  command->add_option("--units", options->units, "Only these, like 1-4,7 (default: all)")->type_name("RANGES");
  add_count_option(*command, "--jobs", options->jobs, "Controlled runs of a unit at a time")
      ->check([](const std::string& text) { return text == "0" ? std::string("0 runs at a time get nowhere") : ""; });
  command->footer(
      "Usage: sooth campaign work FOLDER [--units RANGES]. Any number of workers may run at the same time, on "
      "any number of machines. Exit status: 0 when the units have results, 65 when one could not be recorded, 70 when "
      "a signal ended the work.");
  command->callback([options, &result] { result = work(*options); });
}

void add_status(CLI::App& campaign, CommandResult& result) {
  CLI::App* command = campaign.add_subcommand("status", "Say which units have no result yet");
  auto options = std::make_shared<StatusFlags>();
  command->add_option("FOLDER", options->folder, "The folder that `sooth campaign plan` created")
      ->required()
      ->type_name("");
  command->add_flag("--missing", options->missing, "Only their numbers, like 1-4,7, for `sbatch --array`");
  command->callback([options, &result] { result = show_status(*options); });
}

void add_merge(CLI::App& campaign, CommandResult& result) {
  CLI::App* command = campaign.add_subcommand("merge", "Make one report of the results");
  auto options = std::make_shared<MergeUnitsFlags>();
  options->report.fail_on = "predicted";
  command->add_option("FOLDER", options->folder, "The folder that `sooth campaign plan` created")
      ->required()
      ->type_name("");
  add_report_options(*command, options->report);
  command->footer(
      "Usage: sooth campaign merge FOLDER [OPTIONS]. Each finding names the units that show it; units without a result "
      "are named in what was not covered. Which machine did what, how often and when makes no difference.");
  command->callback([options, &result] { result = merge_campaign(*options); });
}

}  // namespace

void add_campaign_command(CLI::App& root, CommandResult& result) {
  CLI::App* command = root.add_subcommand("campaign", "Look for the races of a whole test suite, on many machines");
  command->require_subcommand(1);
  add_plan(*command, result);
  add_work(*command, result);
  add_status(*command, result);
  add_merge(*command, result);
}

}  // namespace sooth
