// Runs a program once under the controlled scheduler of the run time library.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "launch/child_process.h"
#include "launch/kept_input.h"
#include "schedule/control_file.h"
#include "schedule/run_log.h"

namespace sooth {

struct ControlledRunOptions {
  std::chrono::milliseconds timeout{60'000};  // of the whole run, then the process group is killed; 0: none
  bool pass_through =
      false;  // the program's output goes where ours goes, and its input comes from there; else captured
  std::size_t max_output = 1 << 20;           // bytes kept of each captured stream: its end
  std::uint64_t max_records = 1 << 22;        // room of the log
  bool end_hangs = false;                     // control::kEndHangs
  bool under_gdb = false;                     // starts gdb with the program, which passes everything through
  const std::atomic<bool>* cancel = nullptr;  // a captured run is killed soon after it has become true
  // When it is given up in the same way, whatever the timeout.
  std::chrono::steady_clock::time_point give_up_at = std::chrono::steady_clock::time_point::max();
  KeptInput input = {};                  // of a captured run
  const Isolation* isolation = nullptr;  // a captured run gets name spaces of its own
};

struct RunOutcome {
  ProgramEnd end;          // of gdb, when there is one
  bool timed_out = false;  // it hung: its time was over, or, of RunState::kHung, nobody did anything more
  bool cancelled = false;
  RunLog log;                     // RacingThread::range is the place in RunPlan::sites, or control::kNone
  std::string output, errors;     // captured
  std::string files;              // for whoever reads files that the run wrote
  std::uint64_t output_hash = 0;  // of all of it, also of what was not kept
  double seconds = 0;             // wall clock
};

// A program that was looked at once (preflight) and is run many times. Address space randomisation is off where the
// system allows it.
class ControlledProgram {
 public:
  // `words`: name and arguments. The error says why it cannot be controlled.
  static Result<ControlledProgram> prepare(const std::vector<std::string>& words);

  // Captured runs have a process group of their own, of which nothing is left when this returns, and may be made from
  // several threads at a time. A run that passes through is as with ChildProcess: one at a time, its time limit kills
  // the program alone.
  Result<RunOutcome> run(const RunPlan& plan, const ControlledRunOptions& options) const;

  const std::vector<std::string>& words() const { return words_; }
  const std::string& path() const { return path_; }        // of the executable, absolute
  const std::string& library() const { return library_; }  // the run time library that is loaded into it
  bool instrumented() const { return instrumented_; }      // false: only programs that it starts can be controlled
  const std::vector<std::string>& notes() const { return notes_; }  // what the user should know, one sentence each

 private:
  std::vector<std::string> words_;
  std::string path_, library_;
  bool instrumented_ = true;
  std::vector<std::string> notes_;
};

}  // namespace sooth
