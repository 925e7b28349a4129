// sooth merge: one report from many.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/report_options.h"
#include "report/files.h"
#include "report/json.h"
#include "report/sink.h"
#include "run/merge_reports.h"
#include "run/merge_tests.h"

namespace sooth {
namespace {

struct MergeFlags {
  std::vector<std::string> paths;
  ReportOptions report;
};

// The results of `sooth test`, if the first of the files is one.
Result<std::optional<std::string>> merge_test_results(const MergeFlags& options) {
  std::vector<TestText> texts;
  for (const std::string& path : options.paths) {
    Result<std::string> text = read_whole_file(path);
    if (!text.ok()) {
      return std::move(text).status();
    }
    texts.push_back({path, std::move(*text)});
    if (!is_test_result(texts.front().text)) {
      return std::optional<std::string>();
    }
  }
  if (options.report.format != "json") {
    return Status::usage("results of `sooth test` are merged as JSON only: leave --format out");
  }
  Result<std::string> merged = merge_tests(texts);
  return merged.ok() ? std::optional<std::string>(std::move(*merged))
                     : Result<std::optional<std::string>>(merged.status());
}

struct NamedReport {
  std::string path;
  Report report;
};

// Equal reports count once, by the first of their names: the order of the reports plays no part.
std::vector<NamedReport> distinct_reports(std::vector<NamedReport> reports) {
  std::map<std::string, std::size_t> kept;  // by text, into `distinct`
  std::vector<NamedReport> distinct;
  for (NamedReport& each : reports) {
    std::ostringstream text;
    (void)write_json(each.report, {}, text);  // any report can be expressed as JSON
    const auto [it, added] = kept.try_emplace(text.str(), distinct.size());
    if (added) {
      distinct.push_back(std::move(each));
    } else {
      distinct[it->second].path = std::min(distinct[it->second].path, each.path);
    }
  }
  return distinct;
}

// So that one sees which of several reports had it. Shards of a campaign are parts of one.
void name_findings(NamedReport& named) {
  for (Finding& finding : named.report.findings) {
    if (finding.reports.empty() && !named.report.shard.has_value()) {
      finding.reports = {named.path};
    }
  }
}

CommandResult merge(const MergeFlags& options) {
  const Result<std::optional<std::string>> tests =
      options.paths.front() == "-" ? std::optional<std::string>() : merge_test_results(options);
  if (!tests.ok()) {
    return tests.status();
  }
  if (tests->has_value()) {
    SOOTH_RETURN_IF_ERROR(deliver_text(**tests, options.report));
    return ExitCode::kOk;
  }
  std::vector<NamedReport> named;
  for (const std::string& path : options.paths) {
    Result<Report> report = read_report(path);
    if (!report.ok()) {
      return std::move(report).status();
    }
    named.push_back({path, std::move(*report)});
  }
  named = distinct_reports(std::move(named));
  std::vector<Report> reports;
  for (NamedReport& each : named) {
    if (each.path != "-") {
      name_replays(each.report, each.path);  // it may have another name than when it was written
    }
    if (named.size() > 1) {
      name_findings(each);
    }
    reports.push_back(std::move(each.report));
  }
  Report merged = merge_reports(std::move(reports));
  if (!options.report.output.empty() && options.report.format == "json") {
    name_replays(merged, options.report.output);
  }
  return deliver(merged, options.report);
}

}  // namespace

void add_merge_command(CLI::App& root, CommandResult& result) {
  CLI::App* command = root.add_subcommand("merge", "Make one report of many");
  auto options = std::make_shared<MergeFlags>();
  options->report.format = "json";
  options->report.fail_on = "never";
  command->add_option("REPORTS", options->paths, "Reports that --format json wrote")->required()->type_name("");
  add_report_options(*command, options->report);
  command->footer(
      "Usage: sooth merge [OPTIONS] REPORT REPORT... -o FILE. One finding per id, on the highest rung that any report "
      "has it on; counts\n"
      "add up, notes are collected. Shards of a campaign (--shard) become the report of the whole. The order of the "
      "reports makes no\n"
      "difference, and equal reports count once. Results that `sooth test --format json` wrote are merged as well.");
  command->callback([options, &result] { result = merge(*options); });
}

}  // namespace sooth
