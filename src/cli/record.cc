// sooth record: runs a program under the run time library and leaves a recording behind.
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/numbers.h"
#include "cli/recording_options.h"
#include "launch/child_process.h"
#include "launch/complete_recording.h"
#include "launch/preflight.h"
#include "launch/recording_set.h"
#include "pipeline/filters.h"

namespace sooth {
namespace {

struct RecordOptions {
  std::vector<std::string> extras;  // neither options nor behind `--`
  std::string output;
  RecordingOptions recording;
};

// The analysis that knows of calls that were not recorded.
constexpr char kCallsAnalysis[] = "rdit";

void say(const std::string& sentence) { std::fprintf(stderr, "sooth: %s\n", sentence.c_str()); }

// Everything after the program's end: its status is decided, so what goes wrong here is only told.
void finish(const RecordingSet& set, const PreparedProgram& prepared, const std::string& program, const std::string& filter) {
  const bool instrumented = prepared.instrumented;
  const std::vector<std::string> made = set.made();
  if (made.empty()) {
    say("nothing was recorded: " +
        (instrumented ? program + " ended before its first instrumented function"
                      : program + " is not instrumented, and started no program that is") +
        ". " + kHowToInstrument);
    return;
  }
  std::set<std::string> unseen(prepared.unseen.begin(), prepared.unseen.end());
  for (const std::string& directory : made) {
    const Result<CompletedRecording> recording = complete_recording(directory);
    if (!recording.ok()) {
      say(recording.status().message());
      continue;
    }
    for (const std::string& note : recording->notes) {
      say("note: " + note);
    }
    unseen.insert(recording->unseen.begin(), recording->unseen.end());
    const std::string analyses = recording->has_calls ? kCallsAnalysis : analyses_of_recorded(filter);
    if (recording->has_calls) {
      say("note: what excluded code does was not recorded, only when it was called; " + std::string(kCallsAnalysis) +
          " takes into account what it may have done");
    }
    say("recorded " + std::to_string(recording->threads) + (recording->threads == 1 ? " thread in " : " threads in ") +
        directory + " (" + short_size(recording->bytes) + "); next: sooth analyze " + directory +
        (analyses.empty() ? "" : " --with " + analyses));
  }
  if (!unseen.empty()) {
    std::string names;
    for (const std::string& name : unseen) {
      names += (names.empty() ? "" : ", ") + name;
    }
    say("note: calls into " + names + " (not instrumented) are not seen, and what orders threads inside may be missed");
  }
}

CommandResult record(const RecordOptions& options) {
  const std::vector<std::string>& words = program_words();
  if (!options.extras.empty()) {
    const std::string& word = options.extras.front();
    return Status::usage(word.starts_with('-') ? "record has no option `" + word + "`. Try `sooth record --help`."
                                               : "write `--` in front of the program: `sooth record -- " + word + "`");
  }
  if (words.empty()) {
    return Status::usage("record needs a program: `sooth record [OPTIONS] -- PROGRAM ARGUMENTS`");
  }
  if (options.output == "-") {
    return Status::usage("a recording is a directory and cannot be written to a pipe; `sooth analyze --live -- " + words.front() +
                         "` analyses a run without storing it");
  }
  const Result<PreparedProgram> program = prepare_program(words.front(), options.recording.exclude);
  if (!program.ok()) {
    return program.status();
  }
  const Result<RecordingSet> set =
      RecordingSet::prepare(options.output.empty() ? default_recording_name(words.front()) : options.output);
  if (!set.ok()) {
    return set.status();
  }
  RecordingOptions recording = options.recording;
  recording.exclude_code = program->exclude_code;
  RecordingTarget target;
  target.directory = set->absolute();
  const auto environment = recording_environment(current_environment(), program->library, target, recording);
  if (!environment.ok()) {
    return environment.status();
  }
  for (const std::string& note : program->notes) {
    say(note);
  }
  Result<ChildProcess> child = ChildProcess::start(words, *environment);
  if (!child.ok()) {
    return child.status();
  }
  const ProgramEnd end = child->wait([&] { set->stop(); });
  finish(*set, *program, words.front(), options.recording.filter);
  return static_cast<ExitCode>(end.shell_status());
}

}  // namespace

void add_record_command(CLI::App& root, CommandResult& result) {
  CLI::App* command = root.add_subcommand("record", "Run a program and record what its threads do");
  auto options = std::make_shared<RecordOptions>();
  command->add_option("-o,--output", options->output, "The directory to make (default: sooth-PROGRAM.trace)")
      ->type_name("DIR");
  add_recording_options(*command, options->recording);
  add_recording_filter(*command, "--filter", options->recording);
  add_count_option(*command, "--max-trace", options->recording.max_bytes,
                   "End the recording at so many bytes, like 2G; the program goes on. 0: no limit");
  command->footer("Usage: sooth record [OPTIONS] -- PROGRAM ARGUMENTS. The exit status is the program's own (128 + signal).\n"
                  "SIGUSR2 sent to `sooth record` ends the recording; the program goes on.");
  command->allow_extras();
  command->callback([options, command, &result] {
    options->extras = command->remaining();
    result = record(*options);
  });
}

}  // namespace sooth
