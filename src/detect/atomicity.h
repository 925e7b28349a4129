// `atomicity`: blocks that the recorded run violates, and critical sections that are split.
#pragma once

#include <memory>

#include "detect/detector.h"

namespace sooth {

// Blocks are what DetectorOptions::is_atomic says. Finds no races.
std::unique_ptr<Detector> make_atomicity_detector(const DetectorOptions& options);

}  // namespace sooth
