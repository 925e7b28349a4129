// Finds the cycles in what threads acquired while they held other locks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "detect/lock_order.h"
#include "order/lock_set.h"
#include "order/vector_clock.h"
#include "race/deadlock.h"

namespace sooth {

// When a thread acquired something: at `acquire`, knowing `since` of the other threads. A moment may stand for several
// acquires of one thread: then it has the clock of the first and the time of the last, so that it is unordered with
// whatever one of them is unordered with, and maybe with more.
struct LockMoment {
  AccessRecord acquire;  // `locks`: held before it
  std::shared_ptr<const VectorClock> since;
};

// One thread acquiring one lock in one mode at one site with one set of locks held. The moments are in trace order.
struct CycleUse {
  ThreadId thread{};
  std::vector<LockMoment> moments;
};

// Enumerates, in a fixed order, the cycles that docs/deadlocks.md defines. Uses that differ in thread and moment only
// are one *kind*; a cycle has no kind twice, so it is a path of kinds for which threads and moments can be chosen.
// Short cycles come first, so that a search that stops early has found those.
class LockCycleSearch {
 public:
  // All must outlive the search.
  LockCycleSearch(const std::vector<CycleUse>& uses, const LockSetTable& lock_sets, const LockOrderLimits& limits);

  void run();

  // By sites and locks, in order of discovery.
  const std::vector<DeadlockCandidate>& found() const { return found_; }
  std::uint64_t steps() const { return steps_; }
  bool out_of_steps() const { return steps_ >= limits_.max_steps; }
  // All cycles of fewer threads are found.
  std::size_t length() const { return length_; }
  // There may be cycles of more than max_threads threads.
  bool cut() const { return cut_; }

 private:
  struct Kind {
    std::uint64_t lock = 0;
    bool shared = false;
    LockSetId held = kNoLocks;
    std::vector<const CycleUse*> uses;  // of different threads
    bool on_cycle = false;              // as far as the graph of locks tells
  };
  using KindIndex = std::uint32_t;

  void add_kinds(const std::vector<CycleUse>& uses);
  // Locks that lie on a cycle of the graph "acquired while holding" get the number of their component.
  void find_components();
  void index_holders();

  // `waiting` wants a lock that `other` holds in a mode that excludes it.
  bool waits_for(const Kind& waiting, const Kind& other) const;
  bool may_follow(const Kind& next) const;
  void extend();
  bool choose_for_last();
  bool choose(std::size_t position);
  bool fits(const LockMoment& moment) const;
  void note();

  const LockSetTable& lock_sets_;
  const LockOrderLimits limits_;
  std::vector<Kind> kinds_;                                            // in order of appearance
  std::unordered_map<std::uint64_t, std::uint32_t> component_;         // by lock; no entry: on no cycle
  std::unordered_map<std::uint64_t, std::vector<KindIndex>> holders_;  // by lock held, ascending
  std::size_t thread_count_ = 0;
  std::size_t length_ = 2;     // of the cycles that are being searched
  bool longer_paths_ = false;  // some path of that length is no cycle
  std::vector<KindIndex> path_;
  std::vector<const LockMoment*> chosen_;  // for each kind of the path
  DeadlockIndex index_;                    // into found_
  std::vector<DeadlockCandidate> found_;
  std::uint64_t steps_ = 0;
  bool cut_ = false;
};

}  // namespace sooth
