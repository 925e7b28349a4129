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
#include "confirm/test_campaign.h"
#include "launch/controlled_run.h"
#include "schedule/control_file.h"
#include "schedule/run_log.h"

namespace sooth {

// Stretches whose thread could have gone on, but another was let run: places in the list, from 0.
std::vector<std::size_t> preemptions_of(const std::vector<control::Stretch>& stretches);

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

struct MinimizedRun {
  RunPlan plan;    // Plan::kStretches; behind its last one threads run in turn
  RunOutcome run;  // what it led to
  std::uint64_t before = 0, preemptions = 0, runs = 0;
  // Without any single one of them no run failed, of two that were tried for each; else runs or time were over before.
  bool is_minimal = false;
};

// Makes runs with fewer and fewer preemptions for as long as they fail as `failed` did. nullopt: already the stretches of
// `failed`, when they are followed, do not lead to that failure. The error says why the program cannot be run.
Result<std::optional<MinimizedRun>> minimize(const std::function<Result<RunOutcome>(const RunPlan&)>& run,
                                             const std::function<bool(const RunOutcome&)>& fails_alike,
                                             const RunOutcome& failed, const MinimizeOptions& options);

// The same for an end of a campaign, with sentences. What cannot be repeated, and a hang, which takes too long, is left as it is.
// `program`: as typed.
Status minimize_end(const std::function<Result<RunOutcome>(const RunPlan&)>& run, const std::string& program,
                    CodeNames& names, const MinimizeOptions& options, TestEnd& end);

// A plan that logs where threads are at each step, for describe_preemptions().
RunPlan with_places(RunPlan plan);
// "preempt T1 between the read at account.cc:12:3 and the write at account.cc:13:3, and let T2 run", for each
// preemption of the run, which had with_places(). Without places it says how far the thread has come.
std::vector<std::string> describe_preemptions(const RunLog& log, CodeNames& names);

}  // namespace sooth
