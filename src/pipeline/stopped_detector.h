// What is left of a detector that was stopped: what it has found.
#pragma once

#include <memory>

#include "detect/detector.h"

namespace sooth {

// Keeps what the detector has found, after finish(), and gives back all its memory. What is consumed later it does not
// see.
std::unique_ptr<Detector> stop_detector(std::unique_ptr<Detector> detector);

}  // namespace sooth
