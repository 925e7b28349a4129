// Causally-Precedes and Weak-Causally-Precedes (WCP paper, Definitions 2 and 3) as fixpoints of their rules, over the
// happens-before of docs/semantics.md.
//
// What the paper leaves open, for both orders `<<`:
//  - Must-order takes the place of thread order: the order is `<<` or must-order, and `<<` is closed under composition
//    with happens-before, which contains must-order.
//  - Reader locks: the rules about two sections of a lock hold when at least one of the two is exclusive. Two shared
//    sections may overlap, so nothing follows from their order, even when they contain conflicting accesses.
//  - Rule (a) and (b) relate sections of different threads only. Re-entrant acquires count once; a section without
//    release contains all later events of its thread.
//  - A must-order edge between threads that starts or ends inside a section is `<<`: its sender holds a lock after the
//    event, or its receiver holds one before it. Swapping the sections around such an edge would reverse it, and
//    without this WCP reports pairs where the trace has neither a race nor a deadlock.
#pragma once

#include <span>
#include <vector>

#include "oracle/must_order.h"
#include "race/pair_table.h"

namespace sooth::oracle {

struct PartialOrderOptions {
  bool edges_in_sections = true;  // the last rule above; tests turn it off to see why it is there
};

Relation cp_order(std::span<const Event> trace, const PartialOrderOptions& options = {});
Relation wcp_order(std::span<const Event> trace, const PartialOrderOptions& options = {});

// Conflicting pairs that the order leaves unordered.
std::vector<Candidate> cp_conflicts(std::span<const Event> trace);
std::vector<Candidate> wcp_conflicts(std::span<const Event> trace);

}  // namespace sooth::oracle
