// Sync-preserving races (Mathur, Pavlogiannis, Viswanathan, POPL 2021), from their definition with explicit sets.
//
// The closure of a set of events is the smallest superset that has, with each event, its must-order predecessors;
// with each read, the writes that it saw, byte by byte; and with two sections of one lock, at least one of them
// exclusive, the release of the one acquired first. A conflicting pair is a race when neither access is in the
// closure of the must-order predecessors of both: the closure in trace order then leads to the race, with all
// sections of a lock in their old order.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "oracle/must_order.h"
#include "oracle/oracle.h"
#include "race/pair_table.h"
#include "trace/event.h"

namespace sooth::oracle {

// The closures of one well-formed trace.
class SyncPreservingClosures {
 public:
  // `hard`: the hard part of must-order in its place (section 7); a wait for a semaphore takes the post that it took.
  explicit SyncPreservingClosures(std::span<const Event> trace, bool hard = false);

  // Of the must-order predecessors of all targets, in trace order. nullopt when a target is in it.
  std::optional<std::vector<Index>> before(std::span<const Index> targets) const;

 private:
  std::vector<Index> releases_due(const std::vector<bool>& set, Index e) const;

  const Relation must_;
  const std::vector<Section> sections_;
  std::vector<std::vector<Index>> seen_;  // by event: the writes that a read saw
};

std::vector<Candidate> syncp_conflicts(std::span<const Event> trace);

}  // namespace sooth::oracle
