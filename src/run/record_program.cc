#include "run/record_program.h"

#include <chrono>
#include <optional>
#include <utility>

#include "launch/captured_process.h"
#include "launch/engine.h"
#include "launch/preflight.h"
#include "launch/recording_set.h"
#include "run/hang_watch.h"

namespace sooth {

namespace {

// What has to be there before a program is recorded.
struct Preparation {
  PreparedProgram program;
  RecordingSet set;
  std::vector<std::string> environment;
};

Result<Preparation> prepare(const std::vector<std::string>& words, const std::string& directory,
                            RecordingOptions options) {
  Result<PreparedProgram> program = prepare_program(words.front(), options.exclude);
  if (!program.ok()) {
    return std::move(program).status();
  }
  Result<RecordingSet> set =
      directory.empty() ? RecordingSet::prepare_default(words.front()) : RecordingSet::prepare(directory);
  if (!set.ok()) {
    return std::move(set).status();
  }
  options.exclude_code = program->exclude_code;
  RecordingTarget target;
  target.directory = set->absolute();
  Result<std::vector<std::string>> environment =
      recording_environment(current_environment(), program->library, target, options);
  if (!environment.ok()) {
    return std::move(environment).status();
  }
  return Preparation{std::move(*program), std::move(*set), std::move(*environment)};
}

std::vector<MadeRecording> complete_all(const RecordingSet& set) {
  std::vector<MadeRecording> made;
  for (const std::string& directory : set.made()) {
    made.push_back({directory, complete_recording(directory)});
  }
  return made;
}

Result<std::optional<InputKeeper>> keep_input(const std::string& spool) {
  if (spool.empty()) {
    return std::optional<InputKeeper>();
  }
  Result<InputKeeper> keeper = InputKeeper::open(spool, kMostInput);
  if (!keeper.ok()) {
    return std::move(keeper).status();
  }
  return std::optional<InputKeeper>(std::move(*keeper));
}

}  // namespace

Result<ProgramRecording> record_program(const RecordJob& job) {
  const Result<Preparation> ready = prepare(job.words, job.directory, job.options);
  if (!ready.ok()) {
    return ready.status();
  }
  for (const std::string& note : ready->program.notes) {
    job.warn(note);
  }
  Result<std::optional<InputKeeper>> input = keep_input(job.input_spool);
  if (!input.ok()) {
    return std::move(input).status();
  }
  SpawnOptions spawn;
  spawn.input = input->has_value() ? (*input)->for_program() : -1;
  const auto start = std::chrono::steady_clock::now();
  Result<ChildProcess> child = ChildProcess::start(started_words(job.words), ready->environment, spawn);
  if (!child.ok()) {
    return child.status();
  }
  if (input->has_value()) {
    (*input)->begin();
  }
  ProgramRecording recording;
  std::optional<HangWatch> watch;
  // What a pipe gave the program is not known before its end.
  if (job.hang_after.count() != 0 && engine() == Engine::kHooks && spawn.input < 0) {
    watch.emplace(HangWatchJob{job.words, ready->set.absolute(), job.options.schedule, job.options.seed, job.hang_after,
                               input->has_value() ? (*input)->known() : KeptInput()},
                  child->pid(), [&] { child->give_up(); });
  }
  recording.end = child->wait([&] { ready->set.stop(); }, job.timeout);
  recording.hung = watch && watch->stop() && child->timed_out();
  recording.timed_out = child->timed_out();
  if (input->has_value()) {
    recording.input = (*input)->end();
    recording.input_cut = (*input)->cut();
  }
  recording.interrupted = child->interrupted();
  recording.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  recording.unseen.insert(ready->program.unseen.begin(), ready->program.unseen.end());
  recording.made = complete_all(ready->set);
  for (const MadeRecording& each : recording.made) {
    if (each.completed.ok()) {
      recording.unseen.insert(each.completed->unseen.begin(), each.completed->unseen.end());
    }
  }
  if (recording.made.empty()) {
    recording.why_none = "nothing was recorded: " + job.words.front() +
                         (ready->program.instrumented ? " ended before its first instrumented function"
                                                      : " is not instrumented, and started no program that is") +
                         ". " + kHowToInstrument;
  }
  return recording;
}

Result<AgainRecorded> record_again(const RecordAgain& job) {
  const Result<Preparation> ready = prepare(job.words, job.directory, job.options);
  if (!ready.ok()) {
    return ready.status();
  }
  Result<Captured> captured = run_captured(started_words(job.words), ready->environment,
                                           {job.timeout, 64 << 10, job.cancel, job.give_up_at, job.input});
  if (!captured.ok()) {
    return std::move(captured).status();
  }
  AgainRecorded again{captured->end, captured->timed_out, std::move(captured->errors), {}};
  if (!captured->cancelled) {
    again.made = complete_all(ready->set);
  }
  return again;
}

}  // namespace sooth
