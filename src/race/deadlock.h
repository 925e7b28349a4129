// A cycle of threads that can wait for each other's locks.
#pragma once

#include <cstdint>
#include <vector>

#include "race/pair_table.h"

namespace sooth {

// Somebody believes that each thread can stop at its acquire at the same time: acquires[i] wants a lock that the
// thread of acquires[i + 1] holds, the last one wants one that the first holds. Two or more, of different threads,
// starting with the one that came first in the trace. `locks` of a record are those held before the acquire.
struct DeadlockCandidate {
  std::vector<AccessRecord> acquires;
  std::uint64_t cycles = 1;  // of these sites, with this one; they differ in the locks or in what else is held

  friend bool operator==(const DeadlockCandidate&, const DeadlockCandidate&) = default;
};

}  // namespace sooth
