#include "run/record_program.h"

#include <chrono>

#include "launch/preflight.h"
#include "launch/recording_set.h"

namespace sooth {

Result<ProgramRecording> record_program(const RecordJob& job) {
  const Result<PreparedProgram> program = prepare_program(job.words.front(), job.options.exclude);
  if (!program.ok()) {
    return program.status();
  }
  const Result<RecordingSet> set =
      job.directory.empty() ? RecordingSet::prepare_default(job.words.front()) : RecordingSet::prepare(job.directory);
  if (!set.ok()) {
    return set.status();
  }
  RecordingOptions options = job.options;
  options.exclude_code = program->exclude_code;
  RecordingTarget target;
  target.directory = set->absolute();
  const auto environment = recording_environment(current_environment(), program->library, target, options);
  if (!environment.ok()) {
    return environment.status();
  }
  for (const std::string& note : program->notes) {
    job.warn(note);
  }
  const auto start = std::chrono::steady_clock::now();
  Result<ChildProcess> child = ChildProcess::start(job.words, *environment);
  if (!child.ok()) {
    return child.status();
  }
  ProgramRecording recording;
  recording.end = child->wait([&] { set->stop(); }, job.timeout);
  recording.timed_out = child->timed_out();
  recording.interrupted = child->interrupted();
  recording.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  recording.unseen.insert(program->unseen.begin(), program->unseen.end());
  for (const std::string& directory : set->made()) {
    recording.made.push_back({directory, complete_recording(directory)});
    if (const Result<CompletedRecording>& completed = recording.made.back().completed; completed.ok()) {
      recording.unseen.insert(completed->unseen.begin(), completed->unseen.end());
    }
  }
  if (recording.made.empty()) {
    recording.why_none = "nothing was recorded: " + job.words.front() +
                         (program->instrumented ? " ended before its first instrumented function"
                                                : " is not instrumented, and started no program that is") +
                         ". " + kHowToInstrument;
  }
  return recording;
}

}  // namespace sooth
