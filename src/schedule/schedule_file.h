// A schedule that a person can mail: one text file from which `sooth replay` makes a run happen again.
//
//   sooth schedule 1
//   program ./account 3            for people; the arguments are those on the command line of replay
//   outcome signal 6 (Aborted)     for people too
//   plan directed                  strategy TEXT, directed, or stretches TEXT: TEXT goes on behind the last one
//   seed 7
//   site 1 rw account 0x1a40 0x1a58     code of the pair: which of the two (1, 2, 12), kinds (r, w, a), module, begin, end
//   thread 2 1 0                   thread 2 is the first that thread 1 creates
//   run 1 14+3 blocked 9f3c01d2    thread 1 runs until it has done 14 operations and 3 accesses, then blocks; running hash
//   skip 40                        40 stretches that are not listed
//   run 2 7+* preempted - timed-out     as far as the next operation; hash not checked; the thread was woken by its deadline
//   older 17 2                     with the flag c11-memory: atomic operation 17 of those with a choice takes the third newest
//   end ended 42                   how the process ended, and how many stretches it had; 42+: at least so many
//
// With a plan that the seed decides, `run` lines are check points: replay compares them with what happens. With
// `stretches` they are what is followed, and there are no gaps. Runs in which something from outside took part (RunLog)
// are kept as stretches. docs/replay.md is the whole story.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "schedule/control_file.h"
#include "schedule/run_log.h"

namespace sooth {

struct ScheduleFile {
  std::string program;                // as typed, for people
  std::string outcome;                // ProgramEnd::describe(), for people; may be empty
  RunPlan plan;                       // its stretches are the `run` lines, in both forms
  std::vector<std::uint64_t> places;  // of each of them among all stretches of the run, from 0; rising
  std::uint64_t stretch_count = 0;    // of the whole run: the last check point may come earlier
  // The run had more stretches than were counted, or was cut off at a moment that is not repeated.
  bool open_end = false;
  control::RunState end = control::RunState::kEnded;

  // Whether the plan and its seed decide the run; else the stretches do.
  bool by_seed() const { return plan.plan != control::Plan::kStretches; }
};

// From what was to be done and what happened in the first process. A run that its seed decides keeps at most
// `max_checkpoints` lines, evenly spread with the last one always among them. One that was led in front of a race by
// stretches keeps these, so that the race is created again; what comes behind it is up to the seed. All others keep
// every stretch. `outcome` is for the caller to fill.
ScheduleFile make_schedule(const std::string& program, const RunPlan& plan, const RunLog& log,
                           std::size_t max_checkpoints = 64);

std::string print_schedule(const ScheduleFile& schedule);
// The inverse. Any bytes may be thrown at it; `path` is for the sentences, which name the line.
Result<ScheduleFile> parse_schedule(std::string_view text, const std::string& path);

// The plan that makes the run happen again: without the check points, which are for first_divergence().
RunPlan replay_plan(const ScheduleFile& schedule);

// Compares a run with the schedule: empty when it is the same, else a sentence that names the first difference:
// "stretch 17: thread T2 was to block after 5 operations and 3 accesses, but ended after 5 operations". Stretches are
// numbered from 1.
std::string first_divergence(const ScheduleFile& schedule, const RunLog& log);

}  // namespace sooth
