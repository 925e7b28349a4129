// A witness as a schedule: the reordering of a recorded run, in the words in which the scheduler of the program takes
// orders.
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

// Threads of the schedule are those of the trace. A stretch is what the witness has of one thread before it turns to
// another, counted as schedule/protocol.h says; one that contains nothing to count is left out. Threads in question end
// in front of what they do next: those of a race with StretchEnd::kPostponed, where the rule of directed runs takes
// over. Accesses of a stretch are not counted (kAnyAccesses) where only accesses can lie between its end and the next
// operation of its thread.
//
// Accesses may have been left out of a trace that is not exact, so their number is a lower bound. Of such a trace there
// are two schedules, to be tried in turn: one that takes the number for what it is, and one that counts operations
// only.
//
// An access that was not executed has no place in the trace: behind its last event in the witness the thread goes on,
// another way than it did, until it comes to a site of the pair. There are several schedules to be tried in turn. If
// the witness has steps on the way there in between those of other threads: with these steps, for some numbers of
// accesses to memory of its own, which witnesses leave out. Then with the whole way at the end; then with the whole way
// as soon as the thread leaves its recorded path.
//
// `trace` holds the events in front of events_named(finding), at least. The error says what is missing: the witness is
// not one of this trace, or a thread comes from nowhere. Linear in trace and witness.
Result<std::vector<WitnessSchedule>> schedules_of_witness(const Finding& finding, const TraceView& trace,
                                                          const TraceInfo& info);

// For a race without a witness: the recorded run up to the second access, but the thread of the first access stops in
// front of it, and with it those that then wait for it to end, to release a lock or to notify them. That proves nothing, so a run has
// to try. Empty when the thread of the second access is among those that wait, or when it takes more than
// `max_stretches`, or when an access was not executed. Otherwise as above.
Result<std::vector<WitnessSchedule>> schedules_of_recorded_run(const Finding& race, const TraceView& trace,
                                                               const TraceInfo& info, std::size_t max_stretches);

// Why a run along the schedule did not reach the finding, as a clause: "stretch 3: thread T2 was to run on after 5
// operations, but blocked before that, on the way to a.cc:7:3 (9 stretches)". A run that followed the schedule to its
// end gets one, too.
std::string describe_divergence(const WitnessSchedule& schedule, const RunLog& log);

}  // namespace sooth
