// Which suspicions look like something that one thread hands to another.
#pragma once

#include <functional>
#include <vector>

#include "pipeline/proof.h"

namespace sooth {

// Fills Finding::hand_over of races that are still suspected, if the trace is exact and has values. What was not looked at
// in time says nothing.
void recognise_hand_overs(std::vector<Claim>& claims, const TraceCapture& capture, const Tables& tables,
                          const std::function<bool()>& out_of_time);

}  // namespace sooth
