// The fewest preemptions with which a run still fails: what somebody who looks for the bug has to understand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "confirm/code_names.h"
#include "launch/controlled_run.h"
#include "schedule/schedule_file.h"

namespace sooth {

// What becomes of the two parts of a stretch that is not to be preempted.
enum class Rejoin : std::uint8_t {
  kGoOn,   // the thread goes on at once with what it did later
  kDefer,  // it does not begin before it did the rest
};
// The schedule without these of its preemptions, which are in rising order. Whoever does not run again behind one loses
// that stretch. Nobody knows whether a program can follow it.
std::vector<control::Stretch> without_preemptions(std::vector<control::Stretch> stretches,
                                                  const std::vector<std::size_t>& which, Rejoin how);

struct MinimizeOptions {
  std::uint64_t max_runs = 400;
  std::function<bool()> cancelled = [] { return false; };
};

// Makes a run; the error says why the program cannot be run.
using MakeRun = std::function<Result<RunOutcome>(const RunPlan&)>;
using IsFailure = std::function<bool(const RunOutcome&)>;

struct MinimizedRun {
  RunPlan plan;    // Plan::kStretches; behind its last one threads run in turn
  RunOutcome run;  // what it led to
  std::uint64_t before = 0, preemptions = 0, runs = 0;
  // Without any single one of them no run failed, of two that were tried for each; else runs or time were over before.
  bool is_minimal = false;
};

// Makes runs with fewer and fewer preemptions for as long as they fail as `failed` did. nullopt: already the stretches of
// `failed`, when they are followed, do not lead to that failure.
Result<std::optional<MinimizedRun>> minimize(const MakeRun& run, const IsFailure& fails_alike, const RunOutcome& failed,
                                             const MinimizeOptions& options);

// The same in words, and to be kept.
struct FewestPreemptions {
  std::uint64_t preemptions = 0, before = 0;  // now, and in the run that it was made from
  std::uint64_t runs = 0;                     // that this took
  bool is_minimal = false;                    // as MinimizedRun::is_minimal
  std::vector<std::string> sentences;         // describe_preemptions()
  std::vector<std::string> older_values;      // describe_older()
  ScheduleFile schedule;
};

// From the schedule of a run that failed. nullopt: the failure cannot be repeated, or not along fewer preemptions.
Result<std::optional<FewestPreemptions>> fewest_preemptions(const MakeRun& run, const IsFailure& fails_alike,
                                                            const ScheduleFile& failed, CodeNames& names,
                                                            const MinimizeOptions& options);

}  // namespace sooth
