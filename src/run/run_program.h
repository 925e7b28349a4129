// From a program to proven, replayable races: record, analyse, prove, confirm, one report.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "base/status.h"
#include "pipeline/analysis.h"
#include "race/finding.h"
#include "run/confirm_findings.h"
#include "run/record_program.h"
#include "run/search_loop.h"

namespace sooth {

// Told as the work goes on; each may be empty.
struct RunProgress {
  std::function<void(const ProgramRecording&)> recorded;
  std::function<void(std::uint64_t events, std::uint64_t done, std::uint64_t total)>
      analyzing;                                                         // bytes of the recording
  std::function<void(std::uint64_t done, std::uint64_t total)> proving;  // findings
  std::function<void(std::uint64_t done, std::uint64_t total)> asking;   // pairs of sites
  std::function<void(const SearchProgress&)> searching;
};

struct RunJob {
  RecordJob record;
  std::string analyses;      // names, by commas; empty: what analyses_for() chooses
  AnalysisOptions analysis;  // without detectors and callbacks
  IdentityOptions identity;  // what is the user's code, and where it lies
  StatelessLibraries stateless;
  ConfirmJob confirm;          // 0 trials: nothing is tried
  bool keeps_trace = false;    // the report may name it
  bool deterministic = false;  // no measured times in notes
  WeakMemory weak_memory = WeakMemory::kWhereItMatters;
  bool reruns = true;        // false: the program is run once, whatever that costs
  bool chooses_jobs = true;  // controlled runs do not overlap when they might disturb each other, whatever is asked
  // For proofs and controlled runs, from the end of the recorded run on; 0: as long as it takes. The pass over the trace is always made.
  std::chrono::milliseconds budget{60'000};
  std::uint64_t max_recordings = 0;  // the first one included; 0: as many as the rule of the planner asks for
  // Of a controlled run; 0: from what the recorded one took.
  std::chrono::milliseconds timeout{0};
  RunProgress progress;
};

struct RunResult {
  ProgramEnd end;       // of the recorded run
  Report report;        // ids are filled, equal findings merged; notes tell what it does not cover
  int interrupted = 0;  // by this signal: the report is what was known until then
};

// A program that makes several recordings, because it forks, gives one report. A signal while the program runs is for
// the program: what it recorded until it ended is analysed, and nothing is tried, for runs that nobody stops might not
// end. Later a signal ends the work, and the report tells how far it came. Fails when the program cannot be started, or
// when nothing that it left can be analysed. Afterwards signals are held (hold_signals()): the report can be stored
// first.
Result<RunResult> run_program(const RunJob& job);

}  // namespace sooth
