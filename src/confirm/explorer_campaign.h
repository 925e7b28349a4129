// Explores a program: makes the runs that the search asks for, and keeps what came of them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "confirm/explorer.h"
#include "confirm/test_campaign.h"
#include "launch/controlled_run.h"
#include "race/finding.h"
#include "schedule/schedule_file.h"

namespace sooth {

struct ExploreOptions {
  ExplorerOptions search;       // wants_meeting is ours
  bool spurious_wakes = false;  // also what waits do that end for no reason, once in a thread
  bool weak_memory = false;     // also what atomics see that is not the newest
  std::uint64_t runs = 10'000;  // at most; those that only stop at a race again do not count
  std::uint32_t jobs = 1;
  std::function<bool()> cancelled = [] { return false; };  // asked from several threads
  std::function<void(std::uint64_t runs)> on_run = [](std::uint64_t) {
  };  // after each run, from the thread of the caller
};

// Two threads stood in front of conflicting accesses.
struct ExploredRace {
  ExploredStep first, second;
  std::uint32_t first_thread = 0, second_thread = 0;
  std::uint64_t runs = 0;  // in which it was seen
  // In all of them a thread was kept from running before it (kUsualDelay), and no other run has both accesses unordered.
  bool by_delay = true;
  bool by_spurious_wake = true;  // the same of waits for a condition that ended for no reason
  bool stops = false;            // a run along `schedule` stops both threads there; else it only comes through
  ScheduleFile schedule;
};

struct ExploredDeadlock {
  std::vector<BlockedThread> blocked;  // of the first such run
  std::uint64_t runs = 0;
  ScheduleFile schedule;
};

struct ExploreResult {
  // Of all runs; run i has "seed" i, from 1. What is usual plays no part: Outcome::failed() tells failures.
  TestResult tests;
  std::map<std::uint64_t, std::string> outputs;  // standard output by hash
  std::vector<ExploredRace> races;               // in the order in which they were met
  std::vector<ExploredDeadlock> deadlocks;       // likewise; by where the threads are blocked
  std::uint64_t runs = 0, redundant = 0, diverged = 0, cut = 0;
  bool is_exhausted = false;  // the search has nothing left to ask for
  bool is_repeatable = true;  // nothing from outside took part in any run
  bool has_waiting_loops = false;

  // Whether all was seen that the options let the program do.
  bool is_complete() const { return is_exhausted && diverged == 0 && cut == 0 && is_repeatable && runs > 0; }
  std::uint64_t outcomes() const;  // different ends and outputs
  bool has_failures() const;
};

// The result does not depend on `jobs`. `program`: as typed, for schedules; `run` is called from several threads. The
// error says why the program cannot be run; whatever it does is no error.
Result<ExploreResult> explore(const std::function<Result<RunOutcome>(const RunPlan&)>& run, const std::string& program,
                              CodeNames& names, const ExploreOptions& options);

// Races, and deadlocks in which each thread waits for a lock that the next holds. `command_of` makes the line that
// replays a schedule, whose name is for people: "race-1"; its error is passed on.
using CommandOf = std::function<Result<std::string>(const std::string& name, const ScheduleFile&)>;
Result<Report> report_of(const ExploreResult& result, const std::string& program, CodeNames& names,
                         const CommandOf& command_of);

}  // namespace sooth
