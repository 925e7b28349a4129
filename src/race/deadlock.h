// A cycle of threads that can wait for each other's locks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "race/pair_table.h"

namespace sooth {

// Somebody believes that each thread can stop at its acquire at the same time: acquires[i] wants a lock that the
// thread of acquires[i + 1] holds, the last one wants one that the first holds. Two or more, of different threads,
// starting with the one that came first in the trace. `locks` of a record are those held before the acquire.
struct DeadlockCandidate {
  std::vector<AccessRecord> acquires;
  std::uint64_t cycles = 1;  // of these sites and locks, with this one; they differ in what else is held

  friend bool operator==(const DeadlockCandidate&, const DeadlockCandidate&) = default;
};

// Candidates by where they are and by the locks that they are about: two deadlocks of one helper function differ in
// these only. Programs with thousands of locks have many that are alike, so the first few of each place are kept, and the
// first of these stands for the rest.
class DeadlockIndex {
 public:
  static constexpr std::size_t kMostLocks = 4;  // of a place

  // The number of what stands for it, and whether that is `number` itself, as nothing was known that could.
  std::pair<std::size_t, bool> add(const DeadlockCandidate& cycle, std::size_t number) {
    std::vector<SiteId> sites;
    std::vector<std::uint64_t> locks;
    for (const AccessRecord& acquire : cycle.acquires) {
      sites.push_back(acquire.event.site);
      locks.push_back(acquire.event.object);
    }
    std::sort(sites.begin(), sites.end());
    std::sort(locks.begin(), locks.end());
    std::vector<Known>& here = by_sites_[std::move(sites)];
    const auto same = std::find_if(here.begin(), here.end(), [&](const Known& known) { return known.locks == locks; });
    if (same != here.end()) {
      return {same->number, false};
    }
    if (here.size() == kMostLocks) {
      return {here.front().number, false};
    }
    here.push_back({std::move(locks), number});
    return {number, true};
  }

 private:
  struct Known {
    std::vector<std::uint64_t> locks;  // ascending
    std::size_t number;
  };
  std::map<std::vector<SiteId>, std::vector<Known>> by_sites_;  // ascending
};

}  // namespace sooth
