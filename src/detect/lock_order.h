// Deadlock prediction: cycles of threads that wait for each other's locks.
#pragma once

#include <cstdint>
#include <memory>

#include "detect/detector.h"

namespace sooth {

struct LockOrderLimits {
  std::size_t max_threads = 1'000;       // of a cycle; the steps run out long before, except in long rings
  std::uint64_t max_steps = 20'000'000;  // of the search
  // Moments that are told apart for one thread, site, lock and set of locks held; at least 2.
  std::size_t max_moments = 16;
  // Uses of locks (thread, site, lock, locks held) that come together before those are left out for which others stand.
  std::size_t few_uses = 1'024;
  // ... and before those of threads that are over are thinned out.
  std::size_t max_uses = 65'536;
  // As ThreadSanitizer: also cycles that cannot happen, because one thread alone makes them, a lock keeps its threads apart,
  // or must-order does. Of ten acquires at most.
  bool all_orders = false;
};

// Reports what docs/deadlocks.md calls a lock cycle: acquires of different threads, each of a lock that the next
// thread holds, such that no lock keeps two of them apart and must-order leaves them all unordered. It looks at locks
// and must-order only, so every deadlock that another schedule of the recorded steps can reach contains a reported
// cycle, but a cycle may be a false alarm.
//
// One pass remembers, for each (thread, lock and mode, site, locks held), when it happened; finish() searches. Memory
// grows with the number of those, not with the trace. What is exact and what the limits cost: docs/deadlocks.md.
std::unique_ptr<Detector> make_deadlock_detector();
std::unique_ptr<Detector> make_deadlock_detector(const LockOrderLimits& limits);
std::unique_ptr<Detector> make_deadlock_detector(const DetectorOptions& options);

}  // namespace sooth
