// Phase 1 of directed tests: pairs that may race, from recorded runs of a program.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "base/status.h"
#include "confirm/directed_tests.h"
#include "launch/controlled_run.h"

namespace sooth {

// Records a run with a random schedule of this seed, and asks the analysis `hybrid` which pairs of places have a common
// variable and no common lock; and which critical sections are split. The recording is not kept; the run ends at `timeout`, or soon after `cancel` has become
// true. Places without code that can be watched are left out.
Result<std::vector<DirectedPair>> find_test_pairs(const ControlledProgram& program, std::uint64_t seed,
                                                  std::chrono::milliseconds timeout, const std::atomic<bool>* cancel);

}  // namespace sooth
