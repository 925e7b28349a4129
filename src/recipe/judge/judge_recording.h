// For tests: how the judge of value witnesses gets along with a real recording.
#pragma once

#include <string>

#include "deep/program.h"
#include "race/witness.h"

namespace sooth {

// Empty when all is well: the code of every thread explains all its events, and reorderings that must be right are: the
// recorded order up to some event, with what two threads do next. Else one line for each of the first problems.
std::string judge_recording(const DeepProgram& program, const TraceView& trace);

}  // namespace sooth
