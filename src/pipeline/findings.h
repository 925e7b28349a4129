// From the pairs of the detectors to findings for people.
#pragma once

#include <vector>

#include "detect/detector.h"
#include "pipeline/registry.h"
#include "race/finding.h"
#include "trace/tables.h"

namespace sooth {

struct FinishedDetector {
  const DetectorInfo* info = nullptr;
  const Detector* detector = nullptr;
};

// One finding for each pair of sites, found by all that name it, on the highest rung any of them justifies. The
// accesses, counts and distance are those of the detector with the strongest guarantee. One more for each deadlock. Sorted
// by rung, then by event.
std::vector<Finding> make_findings(const std::vector<FinishedDetector>& detectors, const Tables& tables, bool exact);

}  // namespace sooth
