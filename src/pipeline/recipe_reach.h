// What `--stats` says of branches that the recorded run did not take: how far recipe followed them, and what stopped it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "recipe/execute/thread_trace.h"

namespace sooth {

// Figures by reason, the most frequent first; then the branches that were not followed to their end, one by one, in the
// order of the program, as far as their number is bearable. A side of a branch that several threads did not take counts
// once, with the way that came furthest.
std::vector<std::pair<std::string, std::string>> reach_of_detours(const SymbolicProgram& program);

}  // namespace sooth
