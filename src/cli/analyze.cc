// sooth analyze: reads a trace once and reports what the named analyses find in it.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <thread>

#include "cli/command.h"
#include "cli/numbers.h"
#include "cli/progress.h"
#include "cli/recording_options.h"
#include "cli/report_options.h"
#include "launch/child_process.h"
#include "launch/live_run.h"
#include "launch/preflight.h"
#include "pipeline/analysis.h"
#include "pipeline/filters.h"
#include "report/describe.h"
#include "run/analyze_source.h"
#include "run/work_limit.h"
#include "trace/reader.h"
#include "trace/tools/background_reader.h"

namespace sooth {
namespace {

constexpr std::uint64_t kOwnWindow = std::numeric_limits<std::uint64_t>::max();  // each analysis has its own

struct AnalyzeOptions {
  std::string trace;
  bool live = false;  // the trace is that of a program that runs meanwhile
  std::uint64_t live_buffer = 64'000'000;
  std::uint64_t live_disk = 1'000'000'000;
  RecordingOptions recording;
  std::string with = "hb,wcp,syncp,deadlock,misuse";
  DetectorOptions detector;
  std::string filter;
  std::uint64_t tree_locations = TreeOptions{}.locations;
  bool tree_always = false;
  ProofOptions proof;
  McmOptions mcm;
  std::uint64_t recipe_pairs = RecipeOptions{}.max_pairs;
  std::string mcm_stages = "closure,saturation,search,solver";
  std::uint64_t window = kOwnWindow;
  std::vector<std::string> barrier_globals;
  std::vector<std::string> stateless;
  std::uint32_t jobs = std::max(1u, std::thread::hardware_concurrency());  // threads of ours
  std::uint64_t max_memory = 0;
  bool list = false;
  ReportOptions report;
};

void list_analyses() {
  for (const DetectorInfo& info : detectors()) {
    std::printf("%-8s  %s (%s)\n", std::string(info.name).c_str(), std::string(info.summary).c_str(),
                std::string(guarantee_name(info.guarantee)).c_str());
  }
  std::printf("%-8s  %s\n", "none", "only read and check the trace");
  std::printf("\nFilters, and what passes once:\n");
  for (const TreeModeInfo& info : tree_modes()) {
    std::string keeps;
    for (const DetectorInfo& detector : detectors()) {
      if (detector.needs <= info.preserves && detector.needs != Preserves::kNoPairs) {
        keeps += (keeps.empty() ? "" : ", ") + std::string(detector.name);
      }
    }
    std::printf("%-11s  %s (%s of %s)\n", std::string(info.name).c_str(), std::string(info.summary).c_str(),
                info.first_race_only ? "keeps the first race" : "keeps all pairs", keeps.c_str());
  }
}

// Signals that come while the program runs are the program's. Once it is over they are ours, and the first one that
// asks for an end gives the report so far.
class LiveEnd {
 public:
  explicit LiveEnd(const LiveRun& run) : run_(run) {}

  // From one thread.
  bool interrupted() {
    if (!limit_.has_value() && run_.ended()) {
      limit_.emplace(std::chrono::milliseconds{});
      take_signals_again();
    }
    return limit_.has_value() && limit_->interrupted();
  }

 private:
  const LiveRun& run_;
  std::optional<WorkLimit> limit_;
};

// Where the events come from: a trace that is there, or a program that is started now.
struct Source {
  std::unique_ptr<LiveRun> run;  // outlives the reader; nullptr without --live
  TraceSource trace;
};

Result<Source> start_program(const AnalyzeOptions& options, ColumnSet columns) {
  const std::vector<std::string>& words = program_words();
  if (words.empty() || !options.trace.empty()) {
    return Status::usage("--live takes a program and no trace: `sooth analyze --live [OPTIONS] -- PROGRAM ARGUMENTS`");
  }
  const Result<PreparedProgram> program = prepare_program(words.front(), options.recording.exclude);
  if (!program.ok()) {
    return program.status();
  }
  for (const std::string& note : program->notes) {
    std::fprintf(stderr, "sooth: %s\n", note.c_str());
  }
  RecordingOptions recording = options.recording;
  recording.exclude_code = program->exclude_code;
  Result<std::unique_ptr<LiveRun>> run = LiveRun::start(words, program->library, recording, options.live_buffer);
  if (!run.ok()) {
    return std::move(run).status();
  }
  Result<std::unique_ptr<TraceReader>> reader = (*run)->open({columns});
  if (!reader.ok()) {
    return Status::bad_input("nothing was recorded: " + reader.status().message() + ". " + kHowToInstrument);
  }
  return Source{std::move(*run), {words.front(), std::move(*reader), {}, {}}};
}

Result<Source> choose_source(const AnalyzeOptions& options, ColumnSet columns) {
  if (options.live) {
    return start_program(options, columns);
  }
  const std::vector<std::string>& words = program_words();  // `analyze -- TRACE`: no options behind it
  const std::string& path = options.trace.empty() && words.size() == 1 ? words.front() : options.trace;
  if (path.empty() || (!words.empty() && &path == &options.trace)) {
    return Status::usage(
        "analyze needs one trace: `sooth analyze TRACE`, `sooth analyze --live -- PROGRAM ARGUMENTS`, or --list for "
        "the analyses");
  }
  Result<TraceSource> trace = open_source(path, columns);
  if (!trace.ok()) {
    return std::move(trace).status();
  }
  return Source{nullptr, std::move(*trace)};
}

Result<McmStages> parse_mcm_stages(const std::string& names) {
  McmStages stages{.closure = false, .saturation = false, .search = false, .solver = false};
  std::istringstream words(names);
  for (std::string word; std::getline(words, word, ',');) {
    bool* const stage = word == "closure"      ? &stages.closure
                        : word == "saturation" ? &stages.saturation
                        : word == "search"     ? &stages.search
                        : word == "solver"     ? &stages.solver
                                               : nullptr;
    if (stage == nullptr) {
      return Status::usage("mcm has no stage `" + word + "`; it has closure, saturation, search and solver");
    }
    *stage = true;
  }
  return stages;
}

CommandResult analyze(const AnalyzeOptions& options) {
  if (options.list) {
    list_analyses();
    return ExitCode::kOk;
  }
  if (options.window == 0) {
    return Status::usage("--window needs at least one event");
  }
  if (options.jobs == 0) {
    return Status::usage("--jobs needs at least one thread");
  }
  const Result<McmStages> stages = parse_mcm_stages(options.mcm_stages);
  if (!stages.ok()) {
    return stages.status();
  }
  auto detectors = parse_detectors(options.with);
  if (!detectors.ok()) {
    return std::move(detectors).status();
  }
  const bool rdit =
      std::any_of(detectors->begin(), detectors->end(), [](const DetectorInfo* info) { return info->name == "rdit"; });
  if (!options.barrier_globals.empty() && !rdit) {
    return Status::usage("--barrier-global is for rdit (--with rdit)");
  }
  if (options.tree_always && options.filter.empty()) {
    return Status::usage("--tree-always is for a filter (--filter tree)");
  }
  AnalysisOptions analysis;
  if (!options.filter.empty()) {
    auto filter = choose_filter(options.filter, *detectors, options.tree_locations);
    if (!filter.ok()) {
      return std::move(filter).status();
    }
    analysis.filter = *filter;
    analysis.filter->patience = options.tree_always ? 0 : analysis.filter->patience;
    analysis.compare_unfiltered = options.report.stats;
  }
  SOOTH_RETURN_IF_ERROR(check_report_options(options.report));
  Result<Source> source = choose_source(options, columns_for(*detectors));
  if (!source.ok()) {
    return std::move(source).status();
  }
  TraceSource& trace = source->trace;
  SOOTH_RETURN_IF_ERROR(check_source(trace, *detectors));
  // Parsing text is work enough for a thread of its own; decoding a trace directory is not worth the hand-over. Without
  // analyses there is nothing to overlap with, and benchmarks compare with that pass as the work of one core.
  const bool is_text = source->run == nullptr && !std::filesystem::is_directory(trace.name);
  if (options.jobs >= 2 && is_text && !detectors->empty()) {
    trace.reader = read_in_background(std::move(trace.reader));
  }
  Progress progress("analyzing");
  analysis.detectors = std::move(*detectors);
  analysis.detector = options.detector;
  analysis.detector.compare = options.report.stats;
  analysis.max_memory = options.max_memory;
  analysis.proof = options.proof;
  analysis.mcm = options.mcm;
  analysis.mcm.stages = *stages;
  analysis.mcm.jobs = options.jobs;
  analysis.recipe.solver_timeout = options.mcm.solver_timeout;
  analysis.recipe.max_pairs = options.recipe_pairs;
  analysis.recipe.jobs = options.jobs;
  analysis.barrier_globals = options.barrier_globals;
  if (options.window != kOwnWindow) {
    analysis.detector.window = options.window;
    analysis.mcm.window = options.window;
    analysis.recipe.window = options.window;
  }
  analysis.census = options.report.stats;
  analysis.progress = [&](std::uint64_t events) {
    progress.update(events, trace.reader->bytes_read(), trace.reader->bytes_total());
  };
  // What is neither a directory nor a file comes by only once.
  if (is_text && !std::filesystem::is_regular_file(trace.name)) {
    trace.reopen = {};
    trace.read_again = {};
  }
  Progress proving("looking for witnesses:", Progress::terminal(), "findings");
  Progress asking("asking what else can meet:", Progress::terminal(), "pairs");
  analysis.proof.progress = [&](std::uint64_t done, std::uint64_t total) {
    progress.clear();
    proving.update(done, done, total);
  };
  analysis.recipe.progress = [&](std::uint64_t done, std::uint64_t total) {
    progress.clear();
    proving.clear();
    asking.update(done, done, total);
  };
  std::optional<LiveEnd> live_end;
  if (source->run != nullptr) {
    std::error_code ignored;
    live_end.emplace(*source->run);
    analysis.spool_bytes = options.live_disk;
    analysis.spool_folder = std::filesystem::temp_directory_path(ignored).string();
    analysis.cancelled = [&] { return live_end->interrupted(); };
    analysis.proof.out_of_time = analysis.cancelled;
    analysis.suspicions_out_of_time = analysis.cancelled;
    analysis.mcm.out_of_time = [] { return WorkLimit::interrupt().load(); };
    analysis.recipe.out_of_time = analysis.mcm.out_of_time;
  }
  Result<Report> report =
      analyze_source(trace, std::move(analysis), {options.report.identity(), StatelessLibraries(options.stateless)});
  progress.clear();
  proving.clear();
  asking.clear();
  if (!report.ok()) {
    return std::move(report).status();
  }
  report->date = date_of_report(options.report);
  if (source->run != nullptr) {
    for (const std::string& note : source->run->notes()) {
      std::fprintf(stderr, "sooth: note: %s\n", printable(note).c_str());
    }
    const ProgramEnd end = source->run->finish();
    report->outcome = {static_cast<std::uint32_t>(end.status), static_cast<std::uint32_t>(end.signal)};
    std::fprintf(stderr, "sooth: %s ended with %s\n", trace.name.c_str(), end.describe().c_str());
  }
  return deliver(*report, options.report);
}

}  // namespace

void add_analyze_command(CLI::App& root, CommandResult& result) {
  CLI::App* command = root.add_subcommand("analyze", "Find the races of a recorded trace");
  auto options = std::make_shared<AnalyzeOptions>();
  command->add_option("trace", options->trace, "A trace directory, or a file in STD text (- for standard input)");
  command->add_flag("--live", options->live,
                    "Analyse a program while it runs, without storing a trace: --live -- PROGRAM ARGUMENTS");
  add_count_option(*command, "--live-buffer", options->live_buffer,
                   "Bytes that the program may be ahead of the analyses; then it waits for them");
  add_count_option(*command, "--live-disk", options->live_disk,
                   "Bytes of disk for what the program did to memory that only one thread has used so far; 0 lets the "
                   "analyses look at everything at once, which is slower");
  add_recording_options(*command, options->recording);
  add_recording_filter(*command, "--record-filter", options->recording);
  command->add_option("--with", options->with, "Analyses, separated by commas; none only reads and checks the trace")
      ->type_name(kAnalysesType)
      ->capture_default_str();
  command
      ->add_option("--filter", options->filter,
                   "Hide redundant accesses from the analyses: tree, tree:hb, tree:strict, tree:data, tree:span")
      ->type_name("tree|tree:hb|tree:strict|tree:data|tree:span");
  add_count_option(*command, "--tree-locations", options->tree_locations,
                   "Locations that the filter remembers, the most recently used; 32 bytes each");
  command->add_flag(
      "--tree-always", options->tree_always,
      "Let the filter look at every access, also where it hides so few that looking costs more than it saves");
  add_count_option(*command, "--window", options->window,
                   "Events that an analysis which cannot look at the whole trace takes at a time")
      ->default_str(std::to_string(options->mcm.window) + " for mcm, " + std::to_string(RecipeOptions{}.window) +
                    " for recipe, " + std::to_string(options->detector.window) + " for cp");
  add_duration_option(*command, "--solver-timeout", options->mcm.solver_timeout,
                      "Time that the solver of mcm, rdit and recipe may take for one pair of accesses, such as 500ms "
                      "or 10s; 0 never asks it",
                      "10s");
  command
      ->add_option(
          "--barrier-global", options->barrier_globals,
          "A variable that calls which were not recorded may touch without being handed it; for rdit, may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command
      ->add_option("--mcm-stages", options->mcm_stages,
                   "What mcm may use, to measure what each is worth: closure, saturation, search, solver. The answers "
                   "do not change")
      ->capture_default_str();
  add_count_option(*command, "--mcm-pairs", options->mcm.max_pairs,
                   "Pairs of accesses that mcm tries for two sites before its answer is that it does not know");
  add_count_option(*command, "--recipe-pairs", options->recipe_pairs,
                   "Pairs of accesses that recipe tries for two places before its answer is that it does not know");
  add_count_option(*command, "--witness-events", options->proof.max_events,
                   "Look for witnesses in the first N events that matter to several threads; 0: look for none");
  command->add_flag("--whole-witnesses", options->proof.whole_witnesses,
                    "Leave threads and steps in witnesses that could be cut out of them");
  add_count_option(*command, "--witness-search-events", options->proof.max_events_for_search,
                   "Try to reverse critical sections in the first N of these; slower");
  add_count_option(*command, "--witness-states", options->proof.budget.states,
                   "States that the search for one witness may visit");
  add_count_option(*command, "--jobs", options->jobs,
                   "Threads to use, at most: mcm asks about several pairs at a time, text is read in one of its own. "
                   "--with none always uses one, to compare with")
      ->default_str("the number of cores");
  add_lock_order_option(*command, options->detector.all_lock_orders);
  add_stateless_option(*command, options->stateless);
  add_memory_option(*command, options->max_memory);
  command->add_flag("--list", options->list, "List the analyses and what their findings are worth");
  add_report_options(*command, options->report);
  command->callback([options, &result] {
    options->report.beside_program = options->live;
    result = analyze(*options);
  });
}

}  // namespace sooth
