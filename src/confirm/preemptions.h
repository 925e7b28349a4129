// Where the turn was taken from threads that could have gone on, in numbers and in words.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "confirm/code_names.h"
#include "launch/controlled_run.h"
#include "schedule/control_file.h"
#include "schedule/run_log.h"

namespace sooth {

// Its thread did not block, wait, yield or end.
bool could_go_on(const control::Stretch& stretch);
// Stretches whose thread could have gone on, but another was let run: places in the list, from 0.
std::vector<std::size_t> preemptions_of(const std::vector<control::Stretch>& stretches);

// A plan that logs where threads are at each step, for describe_preemptions().
RunPlan with_places(RunPlan plan);
// "preempt T1 between the read at account.cc:12:3 and the write at account.cc:13:3, and let T2 run", for each
// preemption of the run, which had with_places(). Without places it says how far the thread has come.
std::vector<std::string> describe_preemptions(const RunLog& log, CodeNames& names);

}  // namespace sooth
