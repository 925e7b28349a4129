// Sync-preserving races (Mathur, Pavlogiannis, Viswanathan, POPL 2021), from their definition with explicit sets.
//
// The closure of a set of events is the smallest superset that has, with each event, its must-order predecessors;
// with each read, the writes that it saw, byte by byte; and with two sections of one lock, at least one of them
// exclusive, the release of the one acquired first. A conflicting pair is a race when neither access is in the
// closure of the must-order predecessors of both: the closure in trace order then leads to the race, with all
// sections of a lock in their old order.
#pragma once

#include <span>
#include <vector>

#include "race/pair_table.h"
#include "trace/event.h"

namespace sooth::oracle {

std::vector<Candidate> syncp_conflicts(std::span<const Event> trace);

}  // namespace sooth::oracle
