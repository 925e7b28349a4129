// Runs of small random programs whose threads synchronise by locks that they made of atomics and semaphores.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/batch.h"

namespace sooth::oracle {

struct MadeLockRun {
  std::vector<Event> events;  // each at a site of its own, the number of the event
  std::vector<Value> values;
};

// Two or three threads, forked or not, with sections of exchanges or of semaphores of one, some of which look before they
// take, loops that find the lock taken, counters, flags that are no locks, and plain accesses in and outside of sections.
// Sometimes a thread gives back what it has not taken.
MadeLockRun made_lock_run(std::uint64_t seed);

// Section 16, read as it stands: whether the word at `address` excludes. Of runs without allocations.
bool excludes(const MadeLockRun& run, std::uint64_t address);

}  // namespace sooth::oracle
