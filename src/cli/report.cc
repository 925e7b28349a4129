// `sooth report`: prints a stored report again, in another format or with other suppressions.
#include <memory>

#include "cli/command.h"
#include "cli/report_options.h"
#include "report/json.h"
#include "run/merge_reports.h"

namespace sooth {
namespace {

struct ReportFlags {
  std::string path;
  ReportOptions report;
};

CommandResult run(const ReportFlags& options) {
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
      ->required()
      ->type_name("");
  add_report_options(*command, options->report);
  command->footer(
      "Suppressions and the baseline are applied to what the report still holds. Exit status: 66 when a\n"
      "finding that is not in the baseline stands on the rung of --fail-on or above it, else 0.");
  command->callback([options, &result] { result = run(*options); });
}

}  // namespace sooth
