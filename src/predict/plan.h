// From a plan, which looks at locks and must-order only, to a witness that the checker can judge.
#pragma once

#include "predict/trace_index.h"
#include "race/pair_table.h"
#include "race/witness.h"

namespace sooth {

// The plan with everything that its threads do on the way: what lies between two of its lock events happens as late as
// must-order allows. Whether reads then see what they saw is for the checker to say. Linear in the trace up to
// plan.moment and in what the two threads do from there. The index covers the trace up to the later access.
Witness follow_plan(const TraceIndex& index, const RacePlan& plan);

}  // namespace sooth
