// sooth confirm: runs the program again, under control, to make the findings of a report happen.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cli/campaign_options.h"
#include "cli/command.h"
#include "cli/numbers.h"
#include "cli/progress.h"
#include "cli/report_options.h"
#include "confirm/confirm_report.h"
#include "launch/controlled_run.h"
#include "launch/preflight.h"
#include "report/baseline.h"
#include "report/files.h"
#include "report/fingerprint.h"
#include "report/group.h"
#include "report/json.h"
#include "report/sink.h"
#include "report/suppressions.h"

namespace sooth {
namespace {

struct Options {
  std::string path;
  std::vector<std::string> extras;  // neither options nor behind `--`
  CampaignFlags flags;
  ConfirmOptions confirm;
  ReportOptions report;
};

void say(const std::string& sentence) {
  std::fprintf(stderr, "sooth: %s\n", sentence.c_str());
}

// Whether the updated report goes to -o rather than into the file it came from.
bool goes_elsewhere(const Options& options) {
  return !options.report.output.empty() && options.report.format == "json";
}

Status check_usage(const Options& options) {
  if (!options.extras.empty()) {
    const std::string& word = options.extras.front();
    return Status::usage(word.starts_with('-')
                             ? "confirm has no option `" + word + "`. Try `sooth confirm --help`."
                             : "write `--` in front of the program: `sooth confirm REPORT.json -- " + word + "`");
  }
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
Status check_report(const Report& report, const Options& options) {
  const std::vector<std::string>& words = program_words();
  bool has_code = report.findings.empty();
  for (const Finding& finding : report.findings) {
    for (const Access& access : finding.accesses) {
      has_code = has_code || !access.site.module.empty();
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

// The ids of findings that suppressions leave and the baseline does not know.
Result<std::set<std::string>> wanted_ids(const Report& report, const ReportOptions& options) {
  Suppressions suppressions;
  for (const std::string& path : options.suppressions) {
    SOOTH_RETURN_IF_ERROR(suppressions.read(path));
  }
  Report left = report;
  suppressions.apply(left);
  if (!options.baseline.empty()) {
    SOOTH_RETURN_IF_ERROR(apply_baseline(left, options.baseline));
  }
  std::set<std::string> ids;
  for (const Finding& finding : left.findings) {
    if (!finding.known) {
      ids.insert(finding.id);
    }
  }
  return ids;
}

// The whole report, with what is suppressed, back to where it came from.
Status update_in_place(const Report& report, const Options& options) {
  SinkOptions how;
  how.deterministic = options.report.no_times;
  std::ostringstream text;
  SOOTH_RETURN_IF_ERROR(write_json(report, how, text));
  return write_whole_file(options.path, text.str());
}

Result<ConfirmCounts> run_campaign(Report& report, const ControlledProgram& program, Options& options,
                                   const WorkLimit& limit) {
  Result<std::set<std::string>> ids = wanted_ids(report, options.report);
  if (!ids.ok()) {
    return std::move(ids).status();
  }
  Progress progress("confirming", Progress::terminal(), "runs");
  std::uint64_t runs = 0, done = 0, all = 0;
  ConfirmOptions& confirm = options.confirm;
  confirm.wanted = [&](const Finding& finding) { return ids->contains(finding.id); };
  confirm.on_finding = [&](std::uint64_t finding, std::uint64_t of) { done = finding, all = of; };
  confirm.report_name = goes_elsewhere(options) ? options.report.output : options.path;
  confirm.shard = options.flags.shard;
  confirm.shards = options.flags.shards;
  confirm.campaign.seed = options.flags.seed;
  confirm.campaign.jobs = options.flags.jobs;
  confirm.campaign.cancelled = [&] { return limit.reached(); };
  confirm.campaign.on_run = [&] { progress.update(++runs, done, all); };
  ControlledRunOptions run;
  run.timeout = options.flags.timeout;
  run.max_output = 64 << 10;
  run.cancel = &WorkLimit::interrupt();
  return confirm_report(
      report, program.words(), program.path(), [&](const RunPlan& plan) { return program.run(plan, run); }, confirm);
}

CommandResult confirm(Options& options) {
  SOOTH_RETURN_IF_ERROR(check_usage(options));
  Result<Report> report = read_report(options.path);
  if (!report.ok()) {
    return std::move(report).status();
  }
  SOOTH_RETURN_IF_ERROR(check_report(*report, options));
  fill_fingerprints(*report);
  merge_equal_findings(*report);
  if (report->findings.empty()) {
    say(options.path + " has no findings: there is nothing to confirm");
    return deliver(*report, options.report);
  }
  const Result<ControlledProgram> program = ControlledProgram::prepare(program_words());
  if (!program.ok()) {
    return program.status();
  }
  if (!program->instrumented()) {
    return Status::bad_input(program->path() + " is not instrumented. " + kHowToInstrument);
  }
  for (const std::string& note : program->notes()) {
    say(note);
  }
  const WorkLimit limit(options.flags.budget);
  const Result<ConfirmCounts> counts = run_campaign(*report, *program, options, limit);
  if (!counts.ok()) {
    return counts.status();
  }
  merge_equal_findings(*report);  // for the order: what moved up comes first
  if (!goes_elsewhere(options)) {
    SOOTH_RETURN_IF_ERROR(update_in_place(*report, options));
  }
  say("tried " + std::to_string(counts->tried) + (counts->tried == 1 ? " finding: " : " findings: ") +
      std::to_string(counts->reached) + " confirmed, of these " + std::to_string(counts->harmful) + " harmful (seed " +
      std::to_string(options.flags.seed) + ")" + (limit.interrupted() ? "; interrupted" : ""));
  return deliver(*report, options.report);
}

}  // namespace

void add_confirm_command(CLI::App& root, CommandResult& result) {
  CLI::App* command = root.add_subcommand("confirm", "Run the program again and make the findings of a report happen");
  auto options = std::make_shared<Options>();
  command->add_option("REPORT", options->path, "A report that --format json wrote; it is updated")
      ->required()
      ->type_name("");
  add_count_option(*command, "--trials", options->confirm.campaign.trials,
                   "Controlled runs towards each finding, at most");
  command->add_flag(
      "--all-trials", options->confirm.campaign.all_trials,
      "Do all trials, for the probability, instead of ending at the first that does harm or the tenth that does none");
  add_count_option(*command, "--baseline-runs", options->confirm.campaign.baseline_runs,
                   "Undirected runs that ends of others are compared with");
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
  command->allow_extras();
  command->callback([options, command, &result] {
    options->extras = command->remaining();
    result = confirm(*options);
  });
}

}  // namespace sooth
