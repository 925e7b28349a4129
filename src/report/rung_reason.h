// Why a finding stands on its rung, in the words that all formats for people share. Printable, as report/describe.h has it.
#pragma once

#include <string>
#include <vector>

#include "race/finding.h"

namespace sooth {

// What a run had for a result that others do not have, after "then": "printed "50" instead of "100"". Empty for one that
// failed in another way.
std::string other_result(const ReplaySummary& replay);
// What leads there, a sentence without a full stop each: where threads are preempted, and what atomics see that is old.
std::vector<std::string> ways_there(const Finding& finding);
// Why the finding stands on its rung, as a clause: "unordered by happens-before in the recorded run". The statistics
// tell what the analyses that found it promise.
std::string why_on_rung(const Finding& finding, const ReportStats& stats);
// What was done in vain to confirm it: "none of 100 controlled runs reached it". Empty when nothing was, or it is
// confirmed.
std::string attempts(const Finding& finding);

}  // namespace sooth
