// A schedule that a person can mail: one text file from which `sooth replay` makes a run happen again.
//
//   sooth schedule 1
//   program ./account 3            for people; the arguments are those on the command line of replay
//   plan directed                  strategy TEXT, directed, or stretches
//   seed 7
//   site 1 rw account 0x1a40 0x1a58     code of the pair: which of the two, kinds (r, w, a), module, begin, end
//   thread 2 1 0                   thread 2 is the first that thread 1 creates
//   run 1 14+3 blocked 9f3c01d2    thread 1 runs until it has done 14 operations and 3 accesses, then blocks; running hash
//   end ended 12                   how the process ended, and how many stretches it had
//
// With a plan that the seed decides, `run` lines are check points: replay compares them with what happens. With `stretches` they are what is
// followed. Runs in which something from outside took part (RunLog) are kept as stretches.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "schedule/control_file.h"
#include "schedule/run_log.h"

namespace sooth {

struct ScheduleFile {
  std::string program;             // as typed, for people
  RunPlan plan;                    // its stretches are the `run` lines, in both forms
  std::uint64_t stretch_count = 0;  // of the whole run: the last check point may come earlier
  control::RunState end = control::RunState::kEnded;
};

// From what was to be done and what happened. A run that its seed decides keeps at most `max_checkpoints` lines, evenly spread
// with the last one always among them.
ScheduleFile make_schedule(const std::string& program, const RunPlan& plan, const RunLog& log, std::size_t max_checkpoints = 64);

std::string print_schedule(const ScheduleFile& schedule);
// Any bytes may be thrown at it; `path` is for the sentences, which name the line.
Result<ScheduleFile> parse_schedule(std::string_view text, const std::string& path);

// Compares a run with the schedule: empty when it is the same, else a sentence that names the first difference: "stretch 17: thread 2 was to
// block after 5 operations, but ended". `exact` false: only what lies before a race that was reached counts.
std::string first_divergence(const ScheduleFile& schedule, const RunLog& log);

}  // namespace sooth
