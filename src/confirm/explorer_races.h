// Two threads of an explored run that stand in front of conflicting accesses at the same time: a data race that is
// there to be seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "confirm/explorer_steps.h"
#include "schedule/control_file.h"
#include "schedule/run_log.h"

namespace sooth {

struct Meeting {
  std::size_t point = 0;    // index in Execution::points
  std::uint32_t here = 0;   // came to its access there
  std::uint32_t other = 0;  // was in front of its own already

  const ExploredStep& here_step(const Execution& execution) const { return *execution.points[point].pending[here]; }
  const ExploredStep& other_step(const Execution& execution) const { return *execution.points[point].pending[other]; }
};

// All of them, in the order of the run.
std::vector<Meeting> meetings_in(const Execution& execution);

// A schedule that goes as far as the meeting, stops both threads in front of their accesses, which counts as a race
// created, and then goes on anyhow. `log`: of the run that `execution` is.
RunPlan plan_of_meeting(const Meeting& meeting, const Execution& execution, const RunLog& log);

}  // namespace sooth
