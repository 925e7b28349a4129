// From the pairs of the detectors to findings for people.
#pragma once

#include <vector>

#include "detect/detector.h"
#include "pipeline/proof.h"
#include "pipeline/registry.h"
#include "predict/trace_index.h"
#include "race/finding.h"
#include "trace/tables.h"
#include "trace/tools/thread_slots.h"

namespace sooth {

struct FinishedDetector {
  const DetectorInfo* info = nullptr;
  const Detector* detector = nullptr;
  const ThreadSlots* slots = nullptr;  // what its threads are, if they are slots

  AccessRecord named(AccessRecord record) const {
    record.event.thread = slots == nullptr ? record.event.thread : slots->thread(record.event.thread, record.id);
    return record;
  }
};

// One claim for each pair of sites and variable, found by all that name it, on the highest rung that any of them justifies without a
// witness. The accesses, counts and distance are those of the detector with the strongest guarantee. One more for each
// deadlock.
std::vector<Claim> make_claims(const std::vector<FinishedDetector>& detectors, const Tables& tables, bool exact);

// One finding for each misuse. They were seen to happen, so nothing is left to prove.
std::vector<Finding> misuse_findings(const std::vector<FinishedDetector>& detectors, const Tables& tables, bool exact);

// One finding for each block that was violated, or that is split: docs/semantics.md, section 17.
std::vector<Finding> atomicity_findings(const std::vector<FinishedDetector>& detectors, const Tables& tables,
                                        bool exact);

// An access as a report shows it. The locks are those held, in any order.
Access make_access(const AccessRecord& record, const std::vector<LockMode>& locks, const Tables& tables);

// The locks that a thread holds after the first `length` of its events, and in front of the event.
std::vector<LockMode> held_locks_after(const TraceIndex& index, std::uint32_t thread, std::uint32_t length);
std::vector<LockMode> locks_at(const TraceIndex& index, EventId id);

}  // namespace sooth
