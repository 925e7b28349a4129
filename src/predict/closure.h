// Sets of events that are closed under what a reordering cannot do without.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/flat_map.h"
#include "predict/trace_index.h"

namespace sooth {

// What a set is closed under, besides must-order.
struct ClosureRules {
  bool reads_from = true;  // with a read, the writes that it saw
  bool lock_order = true;  // with two sections that exclude each other, the end of the one that is earlier in the trace
};

// A set of events that takes a prefix of each thread. Adding costs time in proportion to what is added; a copy costs
// memory in proportion to the threads and, under lock_order, to the locks met.
class PrefixClosure {
 public:
  // `targets` are events of different threads that must never get into the set.
  PrefixClosure(const TraceIndex& index, std::span<const EventIndex> targets, ClosureRules rules);

  // Adds all that must happen before the target: program order and must-order. Like the following: false when that
  // needs a target, or the release of a section that was never released; the set is of no use then.
  bool add_predecessors(EventIndex target);
  // Adds the event, and all that the rules demand.
  bool add(EventIndex event);

  bool contains(EventIndex e) const { return index_->position(e) < length_[index_->thread(e)]; }
  std::span<const std::uint32_t> lengths() const { return length_; }  // by thread
  std::uint64_t size() const;
  // The events in trace order.
  std::vector<EventId> in_trace_order() const;

 private:
  // The sections of one lock in the set. Of each thread only the last one can lack its release.
  struct Lock {
    EventIndex latest = 0;            // acquire + 1; 0: none
    EventIndex latest_exclusive = 0;
    std::vector<SectionIndex> last;   // of each thread
  };

  void want(EventIndex e);
  bool close();
  bool visit(EventIndex e);
  bool enter(SectionIndex s);
  bool want_release(const LockSection& section);

  const TraceIndex* index_;
  ClosureRules rules_;
  std::vector<std::uint32_t> limit_;    // by thread: how many events may be in
  std::vector<std::uint32_t> length_;   // by thread: how many are
  std::vector<std::uint32_t> visited_;  // by thread: for how many of them the rules hold
  std::vector<std::uint32_t> work_;     // threads with visited < length
  FlatMap<Lock> locks_;
};

// The sync-preserving closure of the targets (Mathur, Pavlogiannis, Viswanathan 2021, here over must-order): all that
// must precede them, closed under all the rules. In trace order it is a correct reordering after which all targets are
// next. nullopt: no reordering that keeps the order of the sections of each lock does that.
std::optional<PrefixClosure> sync_preserving_closure(const TraceIndex& index, std::span<const EventIndex> targets);

}  // namespace sooth
