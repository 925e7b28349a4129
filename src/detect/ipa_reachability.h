// Pairwise reachability of a growing trace: where to start, which search to go on with, and what other threads have to
// say.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "detect/ipa_history.h"
#include "detect/ipa_search.h"

namespace sooth {

struct IpaLimits {
  std::size_t steps = 100'000;  // lock steps remembered, of all threads together
  std::size_t walk = 4'096;     // states looked at to find where a search may start
  std::size_t reuse = 512;      // lock steps that a search may start too early, for the sake of what it knows already
  std::size_t search_states = 8'192;  // of one search, before another one takes over
  std::size_t states_per_step = 4;    // that a known search may take to decide, for each lock step since its start
  std::size_t states = 1'000'000;     // of all searches together, before all start anew
  std::size_t searches = 4;           // of two threads
  std::uint32_t shapes = 4;           // told apart of each set of locks: see LockShapes
  std::uint32_t tries_for_lower = 8;  // pairs of accesses of two sites that strategy II may say no to, where I says yes
  IpaSearch::Moves moves = IpaSearch::Moves::kLeaps;
  bool ask_the_run = true;  // look at the recorded run before searching; off for tests
  bool compare = false;     // also search for each target anew, to have the figures of Table VI
};

// Two accesses that must-order leaves unordered and no lock protects. `first` comes first in the trace; nothing is
// known of what comes after `second`.
struct IpaTarget {
  ThreadId ta{};  // of `first`
  ThreadId tb{};  // of `second`
  EventId first{};
  EventId second{};
  LockPosition a = 0;
  LockPosition b = 0;
};

enum class Reachable : std::uint8_t {
  kNo,          // whatever the other threads do
  kForgotten,   // it would take more of the histories than is remembered
  kTwoThreads,  // by strategy I: as far as these two threads go
  kAllThreads,  // by strategy II: the others can stay where they are
};

// How to get there: the recorded run up to (not including) `moment`, then these lock steps with all that their threads
// do around them, then the two threads run up to the target.
struct IpaPlan {
  EventId moment{};
  std::vector<EventId> steps;
};

// A state in which two threads wait for each other: the acquires, in order of the trace.
struct IpaDeadlock {
  ThreadId first_thread{};
  LockPosition first = 0;
  ThreadId second_thread{};
  LockPosition second = 0;
};

// The procedure check_reach of IPA. Both strategies are answered by one search: in strategy II the others stay where
// they are at the start, so rule S2 is a wall in front of the first step that needs one of their locks, or something
// that they have not done.
//
// A start is a state of the recorded run, so it can be reached. Nothing is lost by starting there if every lock that
// one thread holds is not taken by the other one on its way to the target, or cannot have been taken before:
// docs/ipa.md, which also says why the last matching notify and wait alone will not do.
class IpaReachability {
 public:
  IpaReachability(LockHistories& histories, const IpaLimits& limits) : histories_(histories), limits_(limits) {}

  // With `all_threads` false strategy II is not asked. `plan`, when given, is set for kAllThreads.
  Reachable decide(const IpaTarget& target, bool all_threads, IpaPlan* plan = nullptr);

  // Whatever position ta was in before with the shape (LockShapes) that it has in target.a, which is not vague: if it
  // could be there while tb is in target.b, it could be in target.a. docs/ipa.md says why.
  bool comes_back(const IpaTarget& target) const;

  // Deadlock states met since the last call.
  std::vector<IpaDeadlock> take_deadlocks() { return std::exchange(deadlocks_, {}); }
  const IpaCounts& counts() const { return counts_; }
  // What the same targets would cost without reuse, when limits.compare.
  const IpaCounts& counts_anew() const { return counts_anew_; }
  std::uint64_t answered_by_run() const { return answered_by_run_; }  // targets that needed no search
  std::uint64_t searches_begun() const { return searches_begun_; }
  std::uint64_t restarts() const { return restarts_; }  // times that limits.states was reached

 private:
  // A state of the recorded run.
  struct Moment {
    EventId moment{};
    LockPosition a = 0;
    LockPosition b = 0;
  };
  struct RunningSearch {
    EventId moment{};
    IpaSearch search;
    std::uint64_t last_use = 0;
    std::size_t deadlocks_seen = 0;
  };

  bool run_leads_there(const IpaTarget& target, LockPosition b_at_first) const;
  // No order of the steps to the target is lost by starting there.
  bool may_start_at(LockPosition a, LockPosition b, const IpaTarget& target) const;
  bool keeps_out_nobody(ThreadId holder, LockPosition at, ThreadId other, LockPosition from, LockPosition to) const;
  std::optional<Moment> find_start(const IpaTarget& target, LockPosition b_at_first) const;
  RunningSearch* find_search(const IpaTarget& target);
  RunningSearch& begin_search(const IpaTarget& target, const Moment& start);
  static constexpr std::size_t kFreeSteps = 32;  // of states_per_step, in any case
  // Nothing: it would take more than `most` new states.
  std::optional<bool> search_reaches(RunningSearch& running, const IpaTarget& target, std::size_t most);
  void give_up(const IpaTarget& target, const RunningSearch& search);
  // Strategy II: from the moment on, all other threads can stay where they are.
  bool others_may_rest(const IpaTarget& target, const Moment& start) const;
  void make_plan(const RunningSearch& running, const IpaTarget& target, IpaPlan& plan) const;

  LockHistories& histories_;
  const IpaLimits limits_;
  std::map<std::pair<ThreadId, ThreadId>, std::list<RunningSearch>> searches_;  // the smaller thread first
  std::uint64_t uses_ = 0;
  std::size_t states_ = 0;
  std::vector<IpaDeadlock> deadlocks_;
  IpaCounts counts_;
  IpaCounts counts_anew_;
  std::uint64_t answered_by_run_ = 0;
  std::uint64_t searches_begun_ = 0;
  std::uint64_t restarts_ = 0;
};

}  // namespace sooth
