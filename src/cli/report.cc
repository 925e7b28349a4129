// `sooth report`: prints a stored report again, in another format or with other suppressions.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/report_options.h"
#include "report/json.h"
#include "report/trend.h"
#include "run/merge_reports.h"

namespace sooth {
namespace {

struct ReportFlags {
  std::string path;
  std::string trend;  // folder
  ReportOptions report;
};

// Every report in the folder, named by its file.
Result<std::vector<NamedTrendReport>> reports_in(const std::string& folder) {
  std::vector<NamedTrendReport> reports;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".json") {
      continue;
    }
    Result<Report> report = read_report(entry.path().string());
    if (!report.ok()) {
      return std::move(report).status();
    }
    reports.push_back({entry.path().stem().string(), std::move(*report)});
  }
  if (error) {
    return Status::bad_input(folder + ": " + error.message());
  }
  if (reports.empty()) {
    return Status::bad_input(folder + ": there is no report of `--format json` or `sooth run` in it, NAME.json");
  }
  return reports;
}

CommandResult show_trend(const ReportFlags& options) {
  const std::string& format = options.report.format;
  if (format != "text" && format != "json" && format != "html") {
    return Status::usage("--trend is there as text, json and html only");
  }
  SOOTH_RETURN_IF_ERROR(check_report_options(options.report));
  Result<std::vector<NamedTrendReport>> reports = reports_in(options.trend);
  if (!reports.ok()) {
    return std::move(reports).status();
  }
  const Trend trend = build_trend(std::move(*reports));
  SOOTH_RETURN_IF_ERROR(deliver_text(format == "json"   ? trend_json(trend)
                                     : format == "html" ? trend_html(trend)
                                                        : trend_text(trend),
                                     options.report));
  const std::optional<Rung> fails_from = rung_from_name(options.report.fail_on);
  const bool fails = std::any_of(trend.findings.begin(), trend.findings.end(), [&](const TrendFinding& each) {
    return each.state == TrendState::kNew && fails_from.has_value() && each.rung >= *fails_from;
  });
  return fails ? ExitCode::kFindings : ExitCode::kOk;
}

CommandResult run(const ReportFlags& options) {
  if (options.path.empty() == options.trend.empty()) {
    return Status::usage("name one REPORT, or a folder of reports with --trend");
  }
  if (!options.trend.empty()) {
    return show_trend(options);
  }
  Result<Report> report = read_report(options.path);
  if (!report.ok()) {
    return std::move(report).status();
  }
  if (options.path != "-") {
    name_replays(*report, options.path);  // it may have another name than when it was written
  }
  return deliver(*report, options.report);
}

}  // namespace

void add_report_command(CLI::App& root, CommandResult& result) {
  CLI::App* command = root.add_subcommand("report", "Print a stored report again, in any format");
  auto options = std::make_shared<ReportFlags>();
  command->add_option("REPORT", options->path, "A report that --format json wrote; - for standard input")
      ->type_name("");
  command
      ->add_option("--trend", options->trend,
                   "Instead: what is new, still there and gone over all reports of this folder, NAME.json each")
      ->type_name("DIR");
  add_report_options(*command, options->report);
  command->footer(
      "Suppressions and the baseline are applied to what the report still holds. Exit status: 66 when a\n"
      "finding that is not in the baseline (with --trend: one that only the newest report has) stands on the rung of\n"
      "--fail-on or above it, else 0.");
  command->callback([options, &result] { result = run(*options); });
}

}  // namespace sooth
