// A witness as a schedule: the reordering of a recorded run, in the words in which the scheduler of the program takes orders.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "race/finding.h"
#include "race/trace_store.h"
#include "schedule/protocol.h"
#include "schedule/run_log.h"

namespace sooth {

struct WitnessSchedule {
  std::vector<control::Stretch> stretches;
  std::vector<control::ThreadOrigin> threads;  // of all threads that the stretches name, but the first
  std::vector<std::string> places;             // one for each stretch: where it ends, for people
};

// Threads of the schedule are those of the trace. A stretch is what the witness has of one thread before it turns to another, counted
// as schedule/protocol.h says; one that contains nothing to count is left out. Threads in question end in front of what they do next: those of a race
// with StretchEnd::kPostponed, where the rule of directed runs takes over. Where nothing but plain accesses can lie between the end of a stretch
// and the next operation of its thread, or when accesses were left out of the trace, its accesses are not counted: kAnyAccesses.
//
// `trace` holds the events in front of events_named(finding), at least. The error says what is missing: the witness is not one of this
// trace, or a thread comes from nowhere. Linear in trace and witness.
Result<WitnessSchedule> schedule_of_witness(const Finding& finding, const TraceView& trace, const TraceInfo& info);

// Why a run along the schedule did not reach the finding, as a clause: "stretch 3: thread 2 was to run on after 5 operations, but blocked before that,
// on the way to a.cc:7:3 (9 stretches)". A run that followed the schedule to its end gets one, too.
std::string describe_divergence(const WitnessSchedule& schedule, const RunLog& log);

}  // namespace sooth
