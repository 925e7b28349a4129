#include "cli/report_options.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "cli/config.h"
#include "cli/usage.h"
#include "cli/version.h"
#include "report/baseline.h"
#include "report/files.h"
#include "report/fingerprint.h"
#include "report/group.h"
#include "report/sink.h"
#include "report/suppressions.h"

namespace sooth {
namespace {

constexpr char kNever[] = "never";

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const SinkInfo& sink : sinks()) {
    names.emplace_back(sink.name);
  }
  return names;
}

std::string format_help() {
  std::string help = "How to print the report:";
  for (const SinkInfo& sink : sinks()) {
    help += "\n  " + std::string(sink.name) + ": " + std::string(sink.summary);
  }
  return help;
}

std::vector<std::string> fail_on_names() {
  std::vector<std::string> names;
  for (int i = 0; i < kRungCount; ++i) {
    names.emplace_back(rung_name(Rung(i)));
  }
  names.emplace_back(kNever);
  return names;
}

bool wants_color(const ReportOptions& options) {
  if (options.color != "auto") {
    return options.color == "always";
  }
  const char* no_color = std::getenv("NO_COLOR");  // no-color.org: any value but the empty one
  return options.output.empty() && (no_color == nullptr || *no_color == '\0') && ::isatty(STDOUT_FILENO) == 1;
}

Status write_to_stdout(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    return Status::internal("cannot write the report to standard output");
  }
  return {};
}

Status write_report(const Report& report, const ReportOptions& options) {
  const SinkInfo* sink = find_sink(options.format);
  if (sink == nullptr) {
    return Status::usage("there is no format \"" + options.format + "\"");
  }
  SinkOptions how;
  how.color = wants_color(options);
  how.stats = options.stats;
  how.deterministic = options.no_times;
  how.version = kVersion;
  how.fail_on = rung_from_name(options.fail_on);  // no rung is called "never"
  std::ostringstream text;
  SOOTH_RETURN_IF_ERROR(sink->write(report, how, text));
  return deliver_text(text.str(), options);
}

}  // namespace

Status deliver_text(const std::string& text, const ReportOptions& options) {
  return options.output.empty() ? write_to_stdout(text) : write_whole_file(options.output, text);
}

void add_report_options(CLI::App& command, ReportOptions& options) {
  command.add_option("--format", options.format, format_help())->check(one_of(format_names()))->capture_default_str();
  command.add_option("-o,--output", options.output, "Write the report to this file instead of standard output")
      ->type_name("FILE")
      ->check([](const std::string& path) { return path.empty() ? "needs the name of a file" : ""; });
  command.add_option("--color", options.color, "Color the text: on a terminal, always or never")
      ->check(one_of({"auto", "always", kNever}))
      ->capture_default_str();
  command.add_option("--fail-on", options.fail_on, "Exit with 66 when a finding stands on this rung or above it")
      ->check(one_of(fail_on_names()))
      ->capture_default_str();
  command
      .add_option("--suppressions", options.suppressions,
                  "Leave out what this file lists, in ThreadSanitizer's syntax (race:NAME); may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);  // one file each time: what follows may be the report
  command.add_option("--baseline", options.baseline, "Do not fail on findings that this older JSON report has, too")
      ->type_name("OLD.json");
  command.add_flag("--stats", options.stats, "With figures about the trace and the analyses");
  command.add_flag("--no-times", options.no_times, "Without measured times, so that equal runs give equal reports");
}

Result<ExitCode> deliver(Report& report, const ReportOptions& options) {
  note_config(report);
  fill_fingerprints(report);
  merge_equal_findings(report);
  Suppressions suppressions;
  for (const std::string& path : options.suppressions) {
    SOOTH_RETURN_IF_ERROR(suppressions.read(path));
  }
  suppressions.apply(report);
  if (!options.baseline.empty()) {
    SOOTH_RETURN_IF_ERROR(apply_baseline(report, options.baseline));
  }
  SOOTH_RETURN_IF_ERROR(write_report(report, options));
  return exit_code_for(report, rung_from_name(options.fail_on));  // no rung is called "never"
}

}  // namespace sooth
