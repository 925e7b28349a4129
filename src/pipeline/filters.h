// Which filter may stand in front of which analyses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "filter/tree.h"
#include "pipeline/registry.h"

namespace sooth {

// The filter of that name, set up for these detectors. An error when there is none, or when it would lose pairs of one
// of the detectors, or make it report pairs that it would not: the sentence says of which, and names the filter to use
// instead.
Result<TreeOptions> choose_filter(const std::string& name, const std::vector<const DetectorInfo*>& detectors,
                                  std::uint64_t locations);

}  // namespace sooth
