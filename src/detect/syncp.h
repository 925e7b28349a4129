// Sync-preserving races: pairs that another schedule reaches with every lock taken in its recorded order.
#pragma once

#include <cstddef>
#include <memory>

#include "detect/detector.h"

namespace sooth {

// Mathur, Pavlogiannis, Viswanathan: Optimal Prediction of Synchronization-Preserving Races, POPL 2021, with must-order
// in the place of thread order, reader locks and bytes.
//
// The closure of a set of events is the smallest superset that has, with each event, its must-order predecessors; with
// each read (also an atomic one), the writes it saw, byte by byte; and with two sections of one lock, at least one of
// them exclusive, the release of the one acquired first. A conflicting pair is a race when neither access is in the
// closure of the must-order predecessors of both. That closure, in trace order, is a witness, so every pair is a race.
//
// For a second access e2 the lists of earlier accesses (one thread, site, kind and lock set) are asked for the latest
// e1 that races with it. What keeps this close to linear:
//  - Ordered by must-order and reads-from, or protected by a common lock: no race, and nothing is computed.
//  - Pasts grow along a thread, so closures do: the closure of e2's past is kept by thread, that of a pair by list and
//    thread, and both are resumed. An e1 that does not race with e2 does not race with later accesses of e2's thread
//    either, and is not asked about again.
//  - Of all lists that differ by the thread alone the latest e1 is wanted, so the list with the latest access is asked
//    first, and those that end before an e1 that was found are not.
//  - Answers change only when one of the threads learns something or enters a section, so a list keeps one access of
//    each stretch between such events.
//
// A race may be with any earlier access, so memory grows with the trace until the limits below. Forgetting adds no
// pair.
struct SyncpLimits {
  // When so many accesses, sections and states of threads (about 100 bytes each; a state is one for each 16 threads) have
  // come together since the last time, what all running threads know is forgotten: it races with nothing to come. The one thing
  // this can hide is a race with a thread that starts after that without having been forked.
  std::size_t remember = std::size_t{1} << 20;
  // When so many are left after that, threads without an event since the last time do not count as running: mostly they
  // wait for others and will learn of them. This can hide races of such a thread with accesses made before it goes on.
  std::size_t remember_for_idle = std::size_t{1} << 23;
  // Words (of 4 bytes) for how far the searches for races have come. When these are full, all of it is forgotten, and
  // found out again.
  std::size_t searches = std::size_t{1} << 24;
  // Of a cell with more groups of lists than this, and than threads, those of each thread are looked at.
  std::size_t few_groups = 16;
};
std::unique_ptr<Detector> make_syncp_detector(const SyncpLimits& limits);
std::unique_ptr<Detector> make_syncp_detector();

}  // namespace sooth
