// sooth analyze: reads a trace once and reports what the named analyses find in it.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "cli/command.h"
#include "cli/numbers.h"
#include "cli/progress.h"
#include "cli/report_options.h"
#include "pipeline/analysis.h"
#include "trace/background_reader.h"
#include "trace/reader.h"

namespace sooth {
namespace {

struct AnalyzeOptions {
  std::string trace;
  std::string with = "hb,wcp,syncp,deadlock";
  DetectorOptions detector;
  ProofOptions proof;
  std::uint32_t jobs = std::max(1u, std::thread::hardware_concurrency());  // threads of ours
  bool list = false;
  ReportOptions report;
};

void list_analyses() {
  for (const DetectorInfo& info : detectors()) {
    std::printf("%-8s  %s (%s)\n", std::string(info.name).c_str(), std::string(info.summary).c_str(),
                std::string(guarantee_name(info.guarantee)).c_str());
  }
  std::printf("%-8s  %s\n", "none", "only read and check the trace");
}

CommandResult analyze(const AnalyzeOptions& options) {
  if (options.list) {
    list_analyses();
    return ExitCode::kOk;
  }
  if (options.trace.empty()) {
    return Status::usage("analyze needs a trace: `sooth analyze TRACE`, or --list for the analyses");
  }
  if (options.detector.window == 0) {
    return Status::usage("--window needs at least one event");
  }
  if (options.jobs == 0) {
    return Status::usage("--jobs needs at least one thread");
  }
  auto detectors = parse_detectors(options.with);
  if (!detectors.ok()) {
    return std::move(detectors).status();
  }
  const ColumnSet columns = detectors->empty() ? kNoColumns : kStacks | kBranches;
  auto reader = open_trace(options.trace, {columns});
  if (!reader.ok()) {
    return std::move(reader).status();
  }
  // Parsing text is work enough for a thread of its own; decoding a trace directory is not worth the hand-over. Without
  // analyses there is nothing to overlap with, and benchmarks compare with that pass as the work of one core.
  const bool is_text = !std::filesystem::is_directory(options.trace);
  if (options.jobs >= 2 && is_text && !detectors->empty()) {
    *reader = read_in_background(std::move(*reader));
  }
  Progress progress("analyzing");
  AnalysisOptions analysis;
  analysis.detectors = std::move(*detectors);
  analysis.detector = options.detector;
  analysis.detector.compare = options.report.stats;
  analysis.proof = options.proof;
  analysis.census = options.report.stats;
  analysis.progress = [&](std::uint64_t events) {
    progress.update(events, (*reader)->bytes_read(), (*reader)->bytes_total());
  };
  Progress proving("looking for witnesses:", Progress::terminal(), "findings");
  analysis.proof.progress = [&](std::uint64_t done, std::uint64_t total) {
    progress.clear();
    proving.update(done, done, total);
  };
  Result<Report> report = analyze_trace(**reader, analysis);
  progress.clear();
  proving.clear();
  if (!report.ok()) {
    // What is wrong with the file names it already; what is wrong with an event does not.
    const bool named = report.status().message().starts_with(options.trace);
    return named ? std::move(report).status() : std::move(report).status().prefixed(options.trace);
  }
  report->trace = options.trace;
  return deliver(*report, options.report);
}

}  // namespace

void add_analyze_command(CLI::App& root, CommandResult& result) {
  CLI::App* command = root.add_subcommand("analyze", "Find the races of a recorded trace");
  auto options = std::make_shared<AnalyzeOptions>();
  command->add_option("trace", options->trace, "A trace directory, or a file in STD text (- for standard input)");
  command->add_option("--with", options->with, "Analyses, separated by commas; none only reads and checks the trace")
      ->capture_default_str();
  add_count_option(*command, "--window", options->detector.window,
                   "Events that an analysis which cannot look at the whole trace takes at a time");
  add_count_option(*command, "--witness-events", options->proof.max_events,
                   "Look for witnesses in so many events from the start of the trace; 0 for none");
  add_count_option(*command, "--witness-search-events", options->proof.max_events_for_search,
                   "Try to reverse critical sections in so many of them; slower");
  add_count_option(*command, "--witness-states", options->proof.budget.states,
                   "States that the search for one witness may visit");
  add_count_option(*command, "--jobs", options->jobs,
                   "Threads to use, at most: text is read in one of its own. --with none always uses one, to compare with")
      ->default_str("the number of cores");
  command->add_flag("--list", options->list, "List the analyses and what their findings are worth");
  add_report_options(*command, options->report);
  command->callback([options, &result] { result = analyze(*options); });
}

}  // namespace sooth
