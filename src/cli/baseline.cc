// sooth baseline: keeps baselines usable when the rules by which findings have their ids change.
#include <cstdio>
#include <memory>
#include <sstream>
#include <string>

#include "cli/command.h"
#include "cli/report_options.h"
#include "cli/version.h"
#include "report/baseline.h"
#include "report/files.h"
#include "report/json.h"
#include "report/sink.h"

namespace sooth {
namespace {

struct BaselineFlags {
  std::string path;
  ReportOptions report;  // identity() and output
};

CommandResult upgrade(const BaselineFlags& options) {
  Result<Report> report = read_report(options.path);
  if (!report.ok()) {
    return std::move(report).status();
  }
  if (report->id_version >= kIdVersion) {
    say(options.path + " has the ids of this version already");
  } else {
    const std::size_t before = report->findings.size();
    if (upgrade_ids(*report, options.report.identity())) {
      say("some source files have changed since " + options.path +
          " was written: findings in lines that have moved since get ids that no new report has");
    }
    say("gave " + std::to_string(before) + (before == 1 ? " finding" : " findings") + " of " + options.path +
        " the ids of this version; " + std::to_string(report->findings.size()) + " of them differ");
  }
  SinkOptions how;
  how.version = kVersion;
  std::ostringstream text;
  SOOTH_RETURN_IF_ERROR(write_json(*report, how, text));
  const std::string& output = options.report.output.empty() ? options.path : options.report.output;
  SOOTH_RETURN_IF_ERROR(write_whole_file(output, text.str()));
  return ExitCode::kOk;
}

}  // namespace

void add_baseline_command(CLI::App& root, CommandResult& result) {
  CLI::App* command = root.add_subcommand("baseline", "Work with baselines");
  command->require_subcommand(1);
  CLI::App* upgrading =
      command->add_subcommand("upgrade", "Give the findings of an older report the ids of this version");
  auto options = std::make_shared<BaselineFlags>();
  upgrading->add_option("OLD", options->path, "A report that --format json wrote; it is updated")
      ->required()
      ->type_name("OLD.json");
  upgrading
      ->add_option("-o,--output", options->report.output,
                   "Write the report to this file and leave the old one as it is")
      ->type_name("FILE");
  add_identity_options(*upgrading, options->report);
  upgrading->footer(
      "Usage: sooth baseline upgrade OLD.json [-o FILE]. Ids are made from lines of the source, so the sources should "
      "be "
      "those that\n"
      "the report was made from. --baseline does the same for one run, without changing the file.");
  upgrading->callback([options, &result] { result = upgrade(*options); });
}

}  // namespace sooth
