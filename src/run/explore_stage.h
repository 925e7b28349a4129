// Of a program that is small enough, every schedule: a part of `sooth run`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "confirm/code_names.h"
#include "launch/controlled_run.h"
#include "race/finding.h"
#include "report/identity.h"

namespace sooth {

struct ExploreStageJob {
  std::string program;       // as typed
  std::string path;          // of the executable
  std::string report_name;   // the file that the report goes to, for commands
  IdentityOptions identity;  // of the races
  std::uint64_t runs = 0;    // at most
  // Accesses that recordings have: an explored one of the same thread at the same place came there by the same calls, if
  // all of these did.
  std::vector<Access> recorded;
  std::string trace;  // a recording that may have more of them
  std::uint32_t jobs = 1;
  std::function<Result<RunOutcome>(const RunPlan&)> run;  // called from several threads
  std::function<bool()> cancelled;                        // likewise
  std::function<void()> on_run = [] {};
};

struct ExploreStageResult {
  std::vector<Finding> races;  // confirmed, with ids and a replay, each once
  std::uint64_t runs = 0;
  bool complete = false;  // every schedule was made, but for the order of independent steps
  std::string told;       // a sentence, if it is
};

// Fails when the program cannot be run so. Deadlocks and crashes are for whoever hands in `run` to see.
Result<ExploreStageResult> explore_stage(const ExploreStageJob& job);

// Whoever explores keeps no stacks, and a place in the library is nobody's: see ExploreStageJob::recorded. Threads get the
// names that recordings have for them.
void add_recorded_stacks(const std::vector<Access>& recorded, std::vector<Finding>& findings);

// Puts them into the findings: one on the same lines gets the proof, if it has none.
void merge_explored(std::vector<Finding> races, std::vector<Finding>& findings, const UserCode& user_code);

}  // namespace sooth
