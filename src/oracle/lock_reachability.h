// Which events can be next at the same time when only locks and must-order count: the exhaustive walk through the
// lockset graph that IPA avoids. Exponential in the number of threads; for traces of about 40 events of 4 threads.
#pragma once

#include <set>
#include <span>
#include <utility>
#include <vector>

#include "oracle/must_order.h"
#include "race/pair_table.h"

namespace sooth::oracle {

struct LockReachability {
  // Events of different threads, the earlier first, that are both next in some state: everything that must come before
  // them has happened. Whether a lock is free for them does not matter.
  std::set<std::pair<Index, Index>> meetings;
  // Acquires that wait for each other's threads in some state, the earlier first.
  std::set<std::pair<Index, Index>> deadlocks;
  bool complete = true;  // false: stopped at the bound, absence means nothing
};

// Like explore(), but reads may see anything.
LockReachability lock_reachability(std::span<const Event> trace, std::size_t max_states = 200'000);
// The same for two threads alone: the locks of all others are free, and whatever they have to do first is done.
LockReachability lock_reachability_of(std::span<const Event> trace, ThreadId ta, ThreadId tb);

// Conflicting accesses among the meetings, the earlier first.
std::vector<Candidate> meeting_conflicts(std::span<const Event> trace);
// ... among those of each two threads alone: strategy I of IPA.
std::vector<Candidate> pairwise_meeting_conflicts(std::span<const Event> trace);

}  // namespace sooth::oracle
