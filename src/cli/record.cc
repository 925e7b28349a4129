// sooth record: runs a program under the run time library and leaves a recording behind.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/campaign_options.h"
#include "cli/command.h"
#include "cli/numbers.h"
#include "cli/program_command.h"
#include "cli/recording_options.h"
#include "pipeline/filters.h"
#include "run/coverage.h"
#include "run/record_program.h"

namespace sooth {
namespace {

struct RecordOptions {
  std::string output;
  RecordingOptions recording;
  std::chrono::milliseconds timeout{0};
};

// The analysis that knows of calls that were not recorded.
constexpr char kCallsAnalysis[] = "rdit";

// Everything after the program's end: its status is decided, so what goes wrong here is only told.
void tell(const ProgramRecording& recording, const std::string& filter) {
  if (recording.made.empty()) {
    say(recording.why_none);
    return;
  }
  for (const auto& [directory, completed] : recording.made) {
    if (!completed.ok()) {
      say(completed.status().message());
      continue;
    }
    for (const std::string& note : completed->notes) {
      say("note: " + note);
    }
    const std::string analyses = completed->has_calls ? kCallsAnalysis : analyses_of_recorded(filter);
    if (completed->has_calls) {
      say("note: what excluded code does was not recorded, only when it was called; " + std::string(kCallsAnalysis) +
          " takes into account what it may have done");
    }
    say("recorded " + std::to_string(completed->threads) + (completed->threads == 1 ? " thread in " : " threads in ") +
        directory + " (" + short_size(completed->bytes) + "); next: sooth analyze " + directory +
        (analyses.empty() ? "" : " --with " + analyses));
  }
  if (const std::string note = note_on_unseen(recording); !note.empty()) {
    say("note: " + note);
  }
}

CommandResult record(const RecordOptions& options) {
  const std::vector<std::string>& words = program_words();
  if (options.output == "-") {
    return Status::usage("a recording is a directory and cannot be written to a pipe; `sooth analyze --live -- " +
                         words.front() + "` analyses a run without storing it");
  }
  RecordJob job;
  job.words = words;
  job.directory = options.output;
  job.options = options.recording;
  job.timeout = options.timeout;
  job.warn = say;
  const Result<ProgramRecording> recording = record_program(job);
  if (!recording.ok()) {
    return recording.status();
  }
  tell(*recording, options.recording.filter);
  return static_cast<ExitCode>(recording->end.shell_status());
}

}  // namespace

void add_record_command(CLI::App& root, CommandResult& result) {
  CLI::App* command = root.add_subcommand("record", "Run a program and record what its threads do");
  auto options = std::make_shared<RecordOptions>();
  command->add_option("-o,--output", options->output, "The directory to make (default: sooth-PROGRAM.trace)")
      ->type_name("DIR");
  add_recording_options(*command, options->recording);
  add_engine_option(*command);
  add_recording_filter(*command, "--filter", options->recording);
  add_count_option(*command, "--max-trace", options->recording.max_bytes,
                   "End the recording at this size, like 2G; the program goes on. 0: no limit");
  add_thinning_option(*command, options->recording);
  add_duration_option(*command, "--timeout", options->timeout,
                      "Kill the program after that time, and say where its threads were", "none");
  command->footer(
      "Usage: sooth record [OPTIONS] -- PROGRAM ARGUMENTS. The exit status is the program's own (128 + signal).\n"
      "SIGUSR2 sent to `sooth record` ends the recording; the program goes on.");
  run_with_program(*command, result, [options] { return record(*options); });
}

}  // namespace sooth
