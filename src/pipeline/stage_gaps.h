// What the analyses that look at a trace again, once all detectors are done, did not look at or cannot answer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/proof.h"
#include "race/gap.h"

namespace sooth {

struct StageBounds {
  std::string_view name;         // of the analysis
  std::string_view ends;         // what its pairs are pairs of: "sites"
  std::uint64_t unknown;         // pairs without an answer
  std::string_view why;          // ... of the first
  std::uint64_t far_pairs;       // pairs some of whose accesses no window has together
  std::uint64_t window;          // events
  std::string_view why_not_all;  // not empty: some pairs may not have been found
};

// "1 pair", "2 pairs".
std::string counted(std::uint64_t number, const char* thing);

std::vector<Gap> stage_gaps(const StageBounds& bounds, const TraceCapture& capture);

}  // namespace sooth
