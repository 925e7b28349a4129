// sooth confirm: runs the program again, under control, to make the findings of a report happen.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/campaign_options.h"
#include "cli/command.h"
#include "cli/numbers.h"
#include "cli/program_command.h"
#include "cli/progress.h"
#include "cli/report_options.h"
#include "cli/version.h"
#include "launch/controlled_run.h"
#include "report/fingerprint.h"
#include "report/group.h"
#include "report/json.h"
#include "run/confirm_findings.h"
#include "run/plain_accesses.h"
#include "run/work_limit.h"

namespace sooth {
namespace {

struct ConfirmFlags {
  std::string path;
  CampaignFlags flags;
  ConfirmOptions confirm;
  ReportOptions report;
};

// Whether the updated report goes to -o rather than into the file it came from.
bool goes_elsewhere(const ConfirmFlags& options) {
  return !options.report.output.empty() && options.report.format == "json";
}

Status check_usage(const ConfirmFlags& options) {
  if (options.path == "-" && !goes_elsewhere(options)) {
    return Status::usage(
        "a report from standard input cannot be updated where it is: name a file with `--format json -o FILE`");
  }
  // Told now: a campaign may take hours, and would be lost.
  const std::filesystem::path folder = std::filesystem::path(options.report.output).parent_path();
  std::error_code error;
  if (!folder.empty() && !std::filesystem::is_directory(folder, error)) {
    return Status::usage("cannot write " + options.report.output + ": there is no directory " + folder.string());
  }
  if (options.confirm.campaign.trials == 0) {
    return Status::usage("--trials needs at least one");
  }
  return {};
}

// Why nothing in the report can be tried; ok when something can, or nothing needs to.
Status check_report(const Report& report, const ConfirmFlags& options) {
  const std::vector<std::string>& words = program_words();
  bool has_code = report.findings.empty();
  for (const Finding& finding : report.findings) {
    for (const Access& access : finding.accesses) {
      has_code = has_code || !access.site.module.empty() || !access.executed;
    }
  }
  if (!has_code) {
    return Status::bad_input(
        options.path + " is about " + (report.trace.empty() ? "a trace" : report.trace) +
        ", which is not a recording: there is no program to run. Make one with `sooth record -- PROGRAM`");
  }
  if (words.empty()) {
    return Status::usage("confirm needs the program: `sooth confirm " + options.path + " -- " +
                         (report.program.empty() ? "PROGRAM ARGUMENTS" : report.program) + "`");
  }
  return {};
}

Result<ConfirmResult> run_campaign(Report& report, const ControlledProgram& program, const ConfirmFlags& options,
                                   const WorkLimit& limit) {
  Progress progress("confirming", Progress::terminal(), "runs");
  ConfirmJob job;
  job.options = options.confirm;
  job.options.report_name = goes_elsewhere(options) ? options.report.output : options.path;
  job.options.shard = options.flags.shard;
  job.options.shards = options.flags.shards;
  job.options.campaign.seed = options.flags.seed;
  job.options.campaign.jobs = jobs_for(job.options.campaign, options.flags.jobs);
  job.timeout = options.flags.timeout;
  job.suppressions = options.report.suppressions;
  job.baseline = options.report.baseline;
  job.progress = [&](std::uint64_t runs, std::uint64_t done, std::uint64_t all) { progress.update(runs, done, all); };
  return confirm_findings(report, program, limit, std::move(job));
}

CommandResult confirm(ConfirmFlags& options) {
  SOOTH_RETURN_IF_ERROR(check_usage(options));
  Result<Report> report = read_report(options.path);
  if (!report.ok()) {
    return std::move(report).status();
  }
  SOOTH_RETURN_IF_ERROR(check_report(*report, options));
  use_engine_of(*report);
  SOOTH_RETURN_IF_ERROR(check_report_options(options.report));
  fill_fingerprints(*report, options.report.identity());
  merge_equal_findings(*report);
  if (report->findings.empty()) {
    say(options.path + " has no findings: there is nothing to confirm");
    return deliver(*report, options.report);
  }
  const Result<ControlledProgram> program = prepare_campaign_program();
  if (!program.ok()) {
    return program.status();
  }
  const WorkLimit limit(options.flags.budget);
  const Result<ConfirmResult> result = run_campaign(*report, *program, options, limit);
  hold_back_atomics(*report);
  if (!result.ok()) {
    return result.status();
  }
  if (!goes_elsewhere(options)) {  // the whole report, with what is suppressed, back to where it came from
    SOOTH_RETURN_IF_ERROR(store_report(*report, options.path, kVersion, options.report.no_times));
  }
  const ConfirmCounts* const counts = &result->counts;
  say("tried " + std::to_string(counts->tried) + (counts->tried == 1 ? " finding: " : " findings: ") +
      std::to_string(counts->reached) + " confirmed, of these " + std::to_string(counts->harmful) + " harmful (seed " +
      std::to_string(options.flags.seed) + ")" + (limit.interrupted() ? "; interrupted" : ""));
  return deliver(*report, options.report);
}

}  // namespace

void add_confirm_command(CLI::App& root, CommandResult& result) {
  CLI::App* command = root.add_subcommand("confirm", "Run the program again and make the findings of a report happen");
  auto options = std::make_shared<ConfirmFlags>();
  command->add_option("REPORT", options->path, "A report that --format json wrote; it is updated")
      ->required()
      ->type_name("");
  add_count_option(*command, "--trials", options->confirm.campaign.trials,
                   "Controlled runs towards each finding, at most");
  command->add_flag(
      "--all-trials", options->confirm.campaign.all_trials,
      "Do all trials, for the probability, instead of ending at the first that does harm or the tenth that does none");
  add_count_option(*command, "--baseline-runs", options->confirm.campaign.baseline_runs,
                   "Undirected runs to compare with: they have random schedules, and know nothing of the findings");
  add_compare_options(*command, options->confirm.campaign);
  command
      ->add_option("--trace", options->confirm.trace,
                   "The trace that the witnesses are of (default: as the report says)")
      ->type_name("DIR");
  add_campaign_options(*command, options->flags);
  add_report_options(*command, options->report);
  command->footer(
      "Usage: sooth confirm REPORT.json [OPTIONS] -- PROGRAM ARGUMENTS. Prints the report and updates REPORT.json, so "
      "that\n"
      "`sooth replay REPORT.json#ID -- PROGRAM` finds the schedules; with `--format json -o FILE` they go to FILE "
      "instead.\n"
      "Exit status: 66 when a finding stands on the rung of --fail-on or above it, else 0. docs/confirm.md tells "
      "more.");
  run_with_program(
      *command, result, [] { return "REPORT.json"; }, [options] { return confirm(*options); });
}

}  // namespace sooth
