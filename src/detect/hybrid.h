// Hybrid races: pairs that neither must-order nor a common lock keeps apart.
#pragma once

#include <memory>

#include "detect/detector.h"

namespace sooth {

// docs/semantics.md section 5: phase 1 of RaceFuzzer (Sen, PLDI 2008), after O'Callahan and Choi (PPoPP 2003).
// Constant work for an access whose variable has a lock that all its accesses hold, or whose accesses are ordered;
// otherwise the log of the variable is walked.
std::unique_ptr<Detector> make_hybrid_detector();
// `hybrid:hard`: the same with hard order, which atomics and semaphores are no part of.
std::unique_ptr<Detector> make_hard_hybrid_detector();

}  // namespace sooth
