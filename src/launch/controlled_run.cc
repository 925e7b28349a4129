#include "launch/controlled_run.h"

#include <filesystem>
#include <string_view>

#include "launch/captured_process.h"
#include "launch/control_files.h"
#include "launch/descendants.h"
#include "launch/emulator.h"
#include "launch/engine.h"
#include "launch/environment.h"
#include "launch/gdb_script.h"
#include "launch/preflight.h"
#include "launch/program_path.h"
#include "trace/format/small_file.h"

namespace sooth {
namespace {

using Words = std::vector<std::string>;

// What the program shall find in its environment, said to gdb: gdb itself must not load the library.
Result<Words> gdb_words(const Words& program, const Words& environment, const std::string& script) {
  const Result<std::string> gdb = find_program("gdb");
  if (!gdb.ok()) {
    return Status::usage("gdb is not installed, or not in PATH; install the package gdb, or replay without --gdb");
  }
  // A shell in between would be the first program to load the library. Addresses stay as gdb sets them by itself: not
  // random.
  Words words = {*gdb, "-q", "-ex", "set startup-with-shell off", "-ex", "source " + script};
  for (const std::string& entry : environment) {
    const std::string name = entry.substr(0, entry.find('='));
    if (name == "LD_PRELOAD" || name == control::kControlVariable || name == control::kLogVariable ||
        name == "GOMP_SPINCOUNT") {
      words.insert(words.end(), {"-ex", "set environment " + name + " = " + entry.substr(name.size() + 1)});
    }
  }
  words.insert(words.end(), {"-ex", "run", "--args"});
  words.insert(words.end(), program.begin(), program.end());
  return words;
}

Status run_through(const Words& words, const Words& environment, const ControlledRunOptions& options,
                   const std::string& script, RunOutcome& outcome) {
  Words started = started_words(words);
  if (options.under_gdb && engine() == Engine::kValgrind) {
    return Status::usage("gdb does not know the program under Valgrind; replay without --gdb");
  }
  if (options.under_gdb && emulator().has_value()) {
    return Status::usage("gdb does not know the program under an emulator; replay without --gdb");
  }
  if (options.under_gdb) {
    SOOTH_RETURN_IF_ERROR(write_small_file(script, gdb_script()));
    Result<Words> with_gdb = gdb_words(words, environment, script);
    if (!with_gdb.ok()) {
      return with_gdb.status();
    }
    started = std::move(*with_gdb);
  }
  SpawnOptions spawn;
  spawn.fixed_addresses = true;
  Result<ChildProcess> child =
      ChildProcess::start(started, options.under_gdb ? current_environment() : environment, spawn);
  if (!child.ok()) {
    return child.status();
  }
  outcome.end = child->wait([] {}, options.timeout);
  outcome.timed_out = child->timed_out();
  return {};
}

// `shared`: the folder with its files.
Status run_caught(const Words& words, const Words& environment, const ControlledRunOptions& options,
                  const std::string& shared, RunOutcome& outcome) {
  const CaptureLimits limits{options.timeout, options.max_output, options.cancel, options.give_up_at,
                             options.input,   options.isolation,  shared};
  Result<Captured> captured = run_captured(started_words(words), environment, limits);
  if (!captured.ok()) {
    return captured.status();
  }
  outcome.end = captured->end;
  outcome.timed_out = captured->timed_out;
  outcome.cancelled = captured->cancelled;
  outcome.output = std::move(captured->output);
  outcome.errors = std::move(captured->errors);
  outcome.output_hash = captured->output_hash;
  return {};
}

// From ranges of the control file to sites of the plan.
void name_sites(RunLog& log, const std::vector<std::uint32_t>& order) {
  const auto name = [&order](RacingThread& thread) {
    thread.range = thread.range < order.size() ? order[thread.range] : control::kNone;
  };
  for (ProcessLog& process : log.processes) {
    for (CreatedRace& race : process.races) {
      name(race.here);
      for (RacingThread& other : race.others) {
        name(other);
      }
    }
  }
}

}  // namespace

Result<ControlledProgram> ControlledProgram::prepare(const std::vector<std::string>& words) {
  adopt_orphans();
  inherited_signals();  // before a command that makes many runs changes how it takes signals
  ControlledProgram program;
  const Result<PreparedProgram> prepared = prepare_program(words.front());
  if (!prepared.ok()) {
    return prepared.status();
  }
  const Result<std::string> path = find_program(words.front());
  if (!path.ok()) {
    return path.status();
  }
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(*path, error);
  program.path_ = error ? *path : absolute.lexically_normal().string();
  program.words_ = words;
  program.library_ = prepared->library;
  program.instrumented_ = prepared->instrumented;
  program.notes_ = prepared->notes;
  return program;
}

Result<RunOutcome> ControlledProgram::run(const RunPlan& wanted, const ControlledRunOptions& options) const {
  RunPlan plan = wanted;
  plan.flags |= options.end_hangs ? control::kEndHangs : 0;
  std::vector<std::uint32_t> order;
  const Result<ControlFiles> files = ControlFiles::create(encode_control(plan, &order), options.max_records);
  if (!files.ok()) {
    return files.status();
  }
  const Result<Words> environment =
      controlled_environment(current_environment(), library_, files->control_path(), files->log_path());
  if (!environment.ok()) {
    return environment.status();
  }
  RunOutcome outcome;
  const auto start = std::chrono::steady_clock::now();
  const bool through = options.pass_through || options.under_gdb;
  SOOTH_RETURN_IF_ERROR(through ? run_through(words_, *environment, options, files->gdb_script_path(), outcome)
                                : run_caught(words_, *environment, options, files->directory(), outcome));
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  Result<RunLog> log = files->read_log();
  if (!log.ok()) {
    return log.status();
  }
  outcome.log = std::move(*log);
  outcome.timed_out = outcome.timed_out || outcome.log.state == control::RunState::kHung;
  name_sites(outcome.log, order);
  return outcome;
}

}  // namespace sooth
