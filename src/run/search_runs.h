// The controlled runs of a search, whichever of its stages makes them: counted, and measured against each other.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "confirm/outcome.h"
#include "launch/controlled_run.h"
#include "race/finding.h"
#include "run/ended_hangs.h"
#include "run/search_job.h"
#include "run/work_limit.h"

namespace sooth {

class SearchRuns {
 public:
  // How many runs ended so, in the order of the first ones.
  using Ends = std::vector<std::pair<std::string, std::uint64_t>>;

  // Both must outlive it.
  SearchRuns(const WorkLimit& limit, const SearchJob& job)
      : limit_(limit), job_(job), program_(ControlledProgram::prepare(job.words)) {}

  // The error says why it cannot be controlled: then there are no runs.
  const Result<ControlledProgram>& program() const { return program_; }

  // From several threads.
  Result<RunOutcome> make(const RunPlan& plan) { return make(plan, job_.confirm.timeout); }
  Result<RunOutcome> make(const RunPlan& plan, std::chrono::milliseconds timeout);
  // By itself, or because nothing was going to happen any more.
  static bool has_ended(const RunOutcome& outcome) {
    return !outcome.timed_out || outcome.log.state == control::RunState::kHung;
  }

  // How long a run may take that is one of very many: far longer than those that ended.
  std::chrono::milliseconds patience();
  // Threads go round in circles, and that is the program's doing: `random` gives all of them their turns, nothing from
  // outside takes part, and the scheduler has let nobody go on its own.
  bool is_fair_and_busy(const RunPlan& plan, const RunLog& log);

  // Recorded runs count among the ends, too; make() does that by itself. While none is made.
  void note_end(Outcome outcome);

  std::uint64_t made() const { return made_; }
  // While no run is made.
  const ControlCounts& control() const { return control_; }
  const Ends& ends() const { return ends_; }

 private:
  Result<RunOutcome> make_once(const RunPlan& plan, std::chrono::milliseconds timeout, bool end_hangs);

  const WorkLimit& limit_;
  const SearchJob& job_;
  const Result<ControlledProgram> program_;
  EndedHangs hangs_;
  std::atomic<std::uint64_t> made_{0};
  std::mutex mutex_;  // of all below
  ControlCounts control_;
  Ends ends_;
  std::chrono::milliseconds longest_{0};  // of the runs that ended
  std::uint64_t most_points_ = 0;         // ... scheduling points
};

}  // namespace sooth
