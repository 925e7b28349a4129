// The Causally-Precedes order of one window of a trace, as a fixpoint over clocks.
#pragma once

#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include "trace/event.h"

namespace sooth {

// The rules are those of detect/cp.h. The predecessors of an event by must-order, by happens-before and by `<<` are
// closed under program order (rule (c) closes `<<`), so each set is a clock: for every thread the number of its
// events in the set. Between sections s1 of thread t and s2 the rules then ask for one comparison: some event of s1
// << some event of s2 exactly when the acquire of s1 << the last event of s2. And of the sections of t that the rules
// put before s2 the latest decides.
//
// Events are numbered from 0 in the order in which they are added.
class CpOrder {
 public:
  using Index = std::uint32_t;

  // The next event. The first of its thread when the result of is_new() before it was true.
  Index add_event(ThreadId thread);
  bool is_new(ThreadId thread) const { return raw(thread) >= local_.size() || local_[raw(thread)] == 0; }
  // Edges end at the event added last. `causal`: rule (d) applies.
  void add_must_edge(Index from, bool causal);

  // The event added last opens a section, or closes the one of its thread. Happens-before between sections follows.
  void open_section(std::uint64_t lock, bool exclusive);
  void close_section(std::uint64_t lock);

  // Rule (a): two events, each in a section of the lock, conflict; one section is exclusive.
  void add_conflict(std::uint64_t lock, Index first, Index second);

  // After all of the above.
  void solve();
  // After solve(), for first < second of different threads: neither `<<` nor must-order orders them.
  bool unordered(Index first, Index second) const;
  // How often the window was swept.
  std::uint64_t sweeps() const { return sweeps_; }

 private:
  static constexpr Index kNone = std::numeric_limits<Index>::max();
  // A clock for each event: row i has one component per thread of the window.
  using Clocks = std::vector<std::uint32_t>;

  struct Node {
    std::uint32_t thread = 0;    // numbered within the window
    std::uint32_t position = 0;  // within the thread, from 1
    Index previous = kNone;      // of the same thread
  };
  enum class EdgeKind : std::uint8_t { kMust, kCausalMust, kLock };
  struct Edge {
    Index from;
    Index to;
    EdgeKind kind;
  };
  struct Section {
    std::uint64_t lock = 0;
    std::uint32_t thread = 0;
    Index acquire = 0;
    Index release = kNone;
    bool exclusive = true;
    std::vector<Index> after;  // by thread: the latest release << acquire by rule (a) or (b), + 1; 0 for none
  };
  // The sections of a lock.
  struct Lock {
    struct ByThread {
      std::vector<std::uint32_t> all;
      std::vector<std::uint32_t> exclusive;
    };
    std::vector<ByThread> threads;
    Index exclusive_release = kNone;     // the latest
    std::vector<Index> shared_releases;  // since the latest exclusive acquire
  };

  Index last() const { return static_cast<Index>(nodes_.size() - 1); }
  std::uint32_t* row(Clocks& clocks, Index event) { return clocks.data() + std::size_t{event} * thread_count_; }
  const std::uint32_t* row(const Clocks& clocks, Index event) const {
    return clocks.data() + std::size_t{event} * thread_count_;
  }
  void join(Clocks& into, Index event, const Clocks& from, Index source);
  Lock::ByThread& sections_of(Lock& lock, std::uint32_t thread);
  // The section of the list that was opened latest, up to and including the event; the list has one.
  std::uint32_t section_at(const std::vector<std::uint32_t>& list, Index event) const;
  static bool raise(Section& section, std::uint32_t thread, Index release);

  // Fills the clocks of one closure: must-order edges only, or all.
  void close(Clocks& clocks, bool with_locks);
  // `<<` from the event on, with what rules (a) and (b) have given so far.
  void sweep(Index from);
  // Applies rule (b) everywhere; the earliest acquire that got a new predecessor, or kNone.
  Index apply_rule_b();
  bool apply_rule_b(Section& section);
  Index end_of(const Section& section) const;

  std::size_t thread_count_ = 0;
  std::vector<std::uint32_t> local_;  // by ThreadId: number within the window + 1
  std::vector<Index> latest_;         // by thread of the window: its latest event
  std::vector<Node> nodes_;
  std::vector<Edge> edges_;        // sorted by `to`
  std::vector<Section> sections_;  // sorted by acquire
  std::unordered_map<std::uint64_t, Lock> locks_;
  Clocks must_;
  Clocks happens_before_;
  Clocks causal_;  // `<<`
  std::uint64_t sweeps_ = 0;
};

}  // namespace sooth
