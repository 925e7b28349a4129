// Witnesses judged, and the sync-preserving closure computed, straight from docs/semantics.md section 7.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "oracle/must_order.h"
#include "oracle/oracle.h"
#include "race/witness.h"

namespace sooth::oracle {

// All reads bind. Quadratic in events; for traces of a few dozen.
class Judge {
 public:
  explicit Judge(std::span<const Event> trace);

  // What is wrong with the witness; empty when it is right.
  std::string object_to(const Witness& witness) const;

 private:
  bool may_follow(std::span<const Index> order, Index e) const;
  std::string object_to_order(std::span<const Index> order) const;
  std::string object_to_race(const Witness& witness) const;
  std::string object_to_deadlock(const Witness& witness, std::span<const Index> order) const;

  std::span<const Event> trace_;
  Memory memory_;
  Relation must_;
  std::vector<Index> recorded_;
};

// The must-order predecessors of the targets, closed under must-order predecessors, the writes that reads saw and, for
// two acquires of a lock by sections that exclude each other, the release of the earlier; by repeating the rules until
// nothing changes. nullopt when that needs a target or a release that does not exist.
std::optional<std::set<Index>> sync_preserving_closure(std::span<const Event> trace, std::span<const Index> targets);

}  // namespace sooth::oracle
