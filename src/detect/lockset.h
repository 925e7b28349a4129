// Lockset races: variables that no lock consistently protects.
#pragma once

#include <memory>

#include "detect/detector.h"

namespace sooth {

// docs/semantics.md section 6: Eraser's state machine (Savage et al., TOCS 1997) decides when a variable is worth a
// report, and the pairs are those accesses that no lock protects. Order between threads is ignored.
std::unique_ptr<Detector> make_lockset_detector();

}  // namespace sooth
