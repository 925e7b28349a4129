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

// Whether these detectors report of a trace that the recorder filtered (TraceInfo::filtered; may be empty) what they
// would of all of it. The sentence of the error names an analysis that would not, and what to record or to ask for
// instead.
Status check_recorded_filter(const std::string& filtered, const std::vector<const DetectorInfo*>& detectors);
// What to give to --with for such a trace: of the default analyses those that it was recorded for, with hybrid in the
// place of happens-before where that cannot be. Empty: the default will do.
std::string analyses_of_recorded(const std::string& filtered);

}  // namespace sooth
