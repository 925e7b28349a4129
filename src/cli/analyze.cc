// sooth analyze: reads a trace once and reports what the named analyses find in it.
#include <cstdio>
#include <memory>
#include <string>

#include "cli/command.h"
#include "pipeline/analysis.h"
#include "trace/reader.h"

namespace sooth {
namespace {

struct AnalyzeOptions {
  std::string trace;
  std::string with = "hb";
};

CommandResult analyze(const AnalyzeOptions& options) {
  AnalysisOptions analysis;
  auto detectors = parse_detectors(options.with);
  if (!detectors.ok()) {
    return std::move(detectors).status();
  }
  analysis.detectors = std::move(*detectors);
  auto reader = open_trace(options.trace, {kStacks});
  if (!reader.ok()) {
    return std::move(reader).status();
  }
  Result<Report> report = analyze_trace(**reader, analysis);
  if (!report.ok()) {
    return std::move(report).status();
  }
  std::printf("%zu findings %zu events %.3fs\n", report->findings.size(), report->stats.events, report->stats.seconds);
  for (auto& a : report->stats.analyses) std::printf(" %s races=%zu dyn=%zu %.3fs %s\n", a.name.c_str(), a.races, a.dynamic_pairs, a.seconds, a.extra[1].second.c_str());
  return ExitCode::kOk;
}

}  // namespace

void add_analyze_command(CLI::App& root, CommandResult& result) {
  CLI::App* command = root.add_subcommand("analyze", "Find the races of a recorded trace");
  auto options = std::make_shared<AnalyzeOptions>();
  command->add_option("trace", options->trace)->required();
  command->add_option("--with", options->with);
  command->callback([options, &result] { result = analyze(*options); });
}

}  // namespace sooth
