// sooth run: from a program to proven, replayable races with one command.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/campaign_options.h"
#include "cli/command.h"
#include "cli/config.h"
#include "cli/numbers.h"
#include "cli/program_command.h"
#include "cli/progress.h"
#include "cli/recording_options.h"
#include "cli/report_options.h"
#include "cli/tsan_options.h"
#include "cli/version.h"
#include "launch/child_process.h"
#include "launch/claimed_file.h"
#include "launch/engine.h"
#include "launch/private_directory.h"
#include "report/describe.h"
#include "run/run_program.h"

namespace sooth {
namespace {

struct RunFlags {
  RunJob job;
  CampaignFlags flags;
  bool keep = false;
  std::string keep_in;  // directory; empty: the one that `sooth record` would make
  std::string store;    // file; empty: as named_report() says
  std::chrono::milliseconds hang_after{30'000};
  std::vector<std::string> stateless;  // libraries
  ReportOptions report;
};

// Where `sooth replay` finds the schedules: where the user says, or the report itself if it is JSON in a file. Empty: in
// a file of its own.
std::string named_report(const RunFlags& options) {
  if (!options.store.empty()) {
    return options.store;
  }
  return options.report.format == "json" ? options.report.output : "";
}

Status check_usage(const RunFlags& options) {
  if (!options.job.analyses.empty()) {
    if (const auto known = parse_detectors(options.job.analyses); !known.ok()) {
      return known.status();
    }
  }
  if (const std::string named = named_report(options); !named.empty()) {
    SOOTH_RETURN_IF_ERROR(check_writable(named));
  }
  return check_report_options(options.report);
}

// The stages on a terminal, one after the other.
class Screen {
 public:
  RunProgress progress() {
    RunProgress progress;
    progress.recorded = [this](const ProgramRecording& recording) { tell(recording); };
    progress.analyzing = [this](std::uint64_t events, std::uint64_t done, std::uint64_t total) {
      show("analyzing", "events", events, done, total);
    };
    progress.proving = [this](std::uint64_t done, std::uint64_t total) {
      show("looking for witnesses:", "findings", done, done, total);
    };
    progress.asking = [this](std::uint64_t done, std::uint64_t total) {
      show("asking what else can meet:", "pairs", done, done, total);
    };
    progress.searching = [this](const SearchProgress& search) {
      const std::string so_far = "(" + std::to_string(search.reached) + " of " + std::to_string(search.candidates) +
                                 " reached, " + std::to_string(search.recordings) + " recorded) ";
      show(search.doing + " " + so_far, "runs", search.runs, search.candidates - search.open, search.candidates);
    };
    return progress;
  }
  void clear() { line_.reset(); }

 private:
  static void tell(const ProgramRecording& recording) {
    std::uint64_t threads = 0, bytes = 0;
    for (const MadeRecording& each : recording.made) {
      threads += each.completed.ok() ? each.completed->threads : 0;
      bytes += each.completed.ok() ? each.completed->bytes : 0;
    }
    if (::isatty(STDERR_FILENO) == 1 && !recording.made.empty()) {
      say("the program ended with " + recording.end.describe() + "; recorded " + std::to_string(threads) +
          (threads == 1 ? " thread (" : " threads (") + short_size(bytes) + ")");
    }
  }

  void show(const std::string& verb, const char* unit, std::uint64_t count, std::uint64_t done, std::uint64_t total) {
    if (stage_ != verb) {
      line_.reset();  // takes the line of the stage before away
      line_.emplace(verb, Progress::terminal(), unit);
      stage_ = verb;
    }
    line_->update(count, done, total);
  }

  std::string stage_;
  std::optional<Progress> line_;
};

// The place of the recording: one that stays, or one that goes away with the answer.
Result<std::optional<PrivateDirectory>> choose_place(RunFlags& options) {
  std::string& directory = options.job.record.directory;
  if (options.keep) {
    directory = options.keep_in;
    return std::optional<PrivateDirectory>();
  }
  Result<PrivateDirectory> place = PrivateDirectory::create(UINT64_MAX);  // on a disk: recordings are large
  if (!place.ok()) {
    return std::move(place).status();
  }
  directory = place->path() + "/trace";
  return std::optional<PrivateDirectory>(std::move(*place));
}

Result<RunResult> work(RunFlags& options, const std::string& report_name) {
  const Result<std::optional<PrivateDirectory>> place = choose_place(options);
  if (!place.ok()) {
    return place.status();
  }
  const Result<PrivateDirectory> scratch = PrivateDirectory::create(UINT64_MAX);
  if (!scratch.ok()) {
    return scratch.status();
  }
  RunJob& job = options.job;
  job.record.words = program_words();
  job.record.input_spool = scratch->path() + "/input";
  job.record.warn = say;
  job.keeps_trace = options.keep;
  job.deterministic = options.report.no_times;
  job.weak_memory = options.flags.memory_model == kAutoMemoryModel ? WeakMemory::kWhereItMatters
                    : options.flags.weak_memory()                  ? WeakMemory::kAlways
                                                                   : WeakMemory::kNever;
  job.analysis.census = true;
  job.identity = options.report.identity();
  job.stateless = StatelessLibraries(options.stateless);
  job.analysis.mcm.jobs = options.flags.jobs;
  job.analysis.mcm.solver_timeout = std::chrono::seconds(2);
  job.analysis.recipe.jobs = options.flags.jobs;
  job.analysis.recipe.solver_timeout = std::chrono::seconds(2);
  job.budget = options.flags.budget;
  job.timeout = options.flags.timeout;
  job.record.timeout = options.flags.timeout;
  const bool may_run_again = job.reruns && job.confirm.options.campaign.trials != 0;
  job.record.hang_after = may_run_again ? options.hang_after : std::chrono::milliseconds(0);
  job.confirm.suppressions = options.report.suppressions;
  job.confirm.baseline = options.report.baseline;
  job.confirm.options.report_name = report_name;
  job.confirm.options.campaign.seed = job.record.options.seed;
  job.confirm.options.campaign.jobs = jobs_for(job.confirm.options.campaign, options.flags.jobs);
  Screen screen;
  job.progress = screen.progress();
  Result<RunResult> result = run_program(job);
  screen.clear();
  return result;
}

// What TSAN_OPTIONS ask for. The run time library in the program reads them too, and takes those for commands for none of its
// business.
TsanOptions tsan_options() {
  const char* text = std::getenv("TSAN_OPTIONS");
  return parse_tsan_options(text == nullptr ? "" : text);
}

CommandResult run(RunFlags& options) {
  const TsanOptions tsan = tsan_options();
  if (!tsan.suppressions.empty()) {
    options.report.suppressions.push_back(tsan.suppressions);
  }
  SOOTH_RETURN_IF_ERROR(check_usage(options));
  hold_signals();  // from the first file on that is to go away
  std::string stored = named_report(options);
  std::optional<ClaimedFile> claimed;
  if (stored.empty()) {
    Result<ClaimedFile> file = ClaimedFile::create(program_words().front(), ".json");
    if (!file.ok()) {
      return std::move(file).status();
    }
    claimed.emplace(std::move(*file));
    stored = claimed->path();
  }
  Result<RunResult> result = work(options, stored);
  if (!result.ok()) {
    return std::move(result).status();
  }
  if (!tsan.report_bugs) {
    result->report.suppressed += result->report.findings.size();
    result->report.findings.clear();
  }
  note_config(result->report);
  if (engine() != Engine::kHooks) {
    result->report.engine = engine_name(engine());
  }
  result->report.date = date_of_report(options.report);
  result->report.outcome = {static_cast<std::uint32_t>(result->end.status),
                            static_cast<std::uint32_t>(result->end.signal)};
  Status status;
  if (stored != options.report.output) {
    status = store_report(result->report, stored, kVersion, options.report.no_times);
  }
  forget_held_signals();
  if (options.report.output.empty()) {
    take_signals_again();  // a reader who does not read must not keep us
  }
  // Also when that failed: whoever looks at the terminal has the findings all the same.
  const Result<ExitCode> code = deliver(result->report, options.report);
  SOOTH_RETURN_IF_ERROR(status);
  if (!code.ok()) {
    return code.status();
  }
  if (!tsan.log_path.empty()) {
    SOOTH_RETURN_IF_ERROR(write_tsan_log(result->report, rung_from_name(options.report.fail_on), tsan.log_path));
  }
  say("the report is in " + stored + "; `sooth view " + stored + "` shows it in a browser, `sooth report --verbose " +
      stored + "` prints all of it");
  if (!tsan.without_effect.empty()) {
    say("of TSAN_OPTIONS, " + listed(tsan.without_effect) + (tsan.without_effect.size() == 1 ? " does" : " do") +
        " nothing here; add verbosity=1 to learn what takes the place");
  }
  if (*code == ExitCode::kFindings && tsan.exit_code.value_or(1) != 0) {
    return tsan.exit_code.has_value() ? static_cast<ExitCode>(*tsan.exit_code) : *code;
  }
  if (*code != ExitCode::kOk && *code != ExitCode::kFindings) {
    return *code;
  }
  return static_cast<ExitCode>(result->interrupted != 0 ? 128 + result->interrupted : result->end.shell_status());
}

}  // namespace

void add_run_command(CLI::App& root, CommandResult& result) {
  CLI::App* command = root.add_subcommand("run", "Find, prove and confirm the races of a program: all in one");
  auto options = std::make_shared<RunFlags>();
  options->report.beside_program = true;
  options->flags.budget = std::chrono::seconds(60);
  options->flags.timeout = std::chrono::milliseconds(0);
  options->job.record.options.schedule = "serial";
  options->job.record.options.thin_from = std::uint64_t{16} << 20;  // some three million events
  options->job.confirm.options.campaign.trials = 30;
  add_duration_option(*command, "--budget", options->flags.budget,
                      "Time for proofs and controlled runs, after the recorded run; 0: as long as it takes", "60s");
  command
      ->add_option("--with", options->job.analyses,
                   "Analyses, separated by commas (default: by what the recording has)")
      ->type_name(kAnalysesType);
  add_recording_options(*command, options->job.record.options);
  add_count_option(*command, "--max-trace", options->job.record.options.max_bytes,
                   "End the recording at this size, like 2G; the program goes on. 0: no limit");
  add_thinning_option(*command, options->job.record.options);
  add_engine_option(*command);
  command->add_flag_function(
      "--locks", [](std::int64_t) { choose_engine(Engine::kLocks); },
      "Deadlocks and misuse of locks only, in any program as it is, at nearly its own speed: --engine locks, with "
      "--schedule os");
  add_lock_order_option(*command, options->job.analysis.detector.all_lock_orders);
  add_stateless_option(*command, options->stateless);
  add_memory_option(*command, options->job.analysis.max_memory);
  command
      ->add_option_function<std::string>(
          "--keep", [options](const std::string& directory) { options->keep_in = directory; },
          "Keep the recording, in DIR or where `sooth record` would put it")
      ->type_name("[DIR]")
      ->expected(0, 1);
  add_count_option(*command, "--trials", options->job.confirm.options.campaign.trials,
                   "Controlled runs towards each finding, at most; 0: none are made");
  add_count_option(*command, "--recordings", options->job.max_recordings,
                   "Recordings of the program under different schedules, at most; 0: until they show nothing new");
  add_count_option(*command, "--baseline-runs", options->job.confirm.options.campaign.baseline_runs,
                   "Undirected runs to compare with: they have random schedules, and know nothing of the findings");
  options->flags.memory_model = kAutoMemoryModel;
  add_memory_model_option(*command, options->flags, {kAutoMemoryModel, "sc", "c11"});
  add_compare_options(*command, options->job.confirm.options.campaign);
  add_jobs_option(*command, options->flags);
  command->add_flag_function(
      "--no-rerun", [options](std::int64_t) { options->job.reruns = false; },
      "Run the program once only, because its runs have effects outside; nothing is confirmed then");
  add_duration_option(*command, "--timeout", options->flags.timeout,
                      "A run that takes longer is killed, and counts as a hang",
                      "none for the recorded run; 10s to 60s for others, by that one");
  add_duration_option(
      *command, "--hang-after", options->hang_after,
      "A recorded run that takes longer is compared with a controlled one, and killed if that one hangs; "
      "0: never",
      "30s");
  add_report_options(*command, options->report);
  command->add_option("--store", options->store, "Store the report as JSON in this file")->type_name("FILE");
  command->footer(
      "Usage: sooth run [OPTIONS] -- PROGRAM ARGUMENTS. Prints the report to standard error, other "
      "formats than text to standard output, or to -o FILE, and\n"
      "stores it as JSON for `sooth replay`: sooth-PROGRAM.json, or the FILE of --store or of `--format json -o FILE`. "
      "--seed counts "
      "for\n"
      "controlled runs as well. Exit status: 66 when a finding stands on the rung of --fail-on or above it, else 128 + "
      "signal when\n"
      "one ended the work early, else the program's own. Ctrl-C gives the report so far. docs/run.md tells more.");
  run_with_program(*command, result, [options, command] {
    options->keep = command->count("--keep") > 0;
    if (engine() == Engine::kLocks && command->count("--schedule") == 0) {
      options->job.record.options.schedule = "os";
    }
    options->job.chooses_jobs = command->count("--jobs") == 0;
    return run(*options);
  });
}

}  // namespace sooth
