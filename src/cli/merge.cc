// sooth merge: one report from many.
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/report_options.h"
#include "report/json.h"
#include "run/merge_reports.h"

namespace sooth {
namespace {

struct Options {
  std::vector<std::string> paths;
  ReportOptions report;
};

CommandResult merge(const Options& options) {
  std::vector<Report> reports;
  for (const std::string& path : options.paths) {
    Result<Report> report = read_report(path);
    if (!report.ok()) {
      return std::move(report).status();
    }
    reports.push_back(std::move(*report));
  }
  Report merged = merge_reports(std::move(reports));
  return deliver(merged, options.report);
}

}  // namespace

void add_merge_command(CLI::App& root, CommandResult& result) {
  CLI::App* command = root.add_subcommand("merge", "Make one report of many");
  auto options = std::make_shared<Options>();
  options->report.format = "json";
  options->report.fail_on = "never";
  command->add_option("REPORTS", options->paths, "Reports that --format json wrote")->required()->type_name("");
  add_report_options(*command, options->report);
  command->footer(
      "Usage: sooth merge A.json B.json ... -o FILE. One finding per fingerprint, on the highest rung that a report "
      "has it on; counts\n"
      "add up, notes are united. The order of the reports plays no part, and equal reports count once.");
  command->callback([options, &result] { result = merge(*options); });
}

}  // namespace sooth
