// Sets of events that are closed under what a reordering cannot do without.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/flat_map.h"
#include "base/stop_poll.h"
#include "predict/trace_index.h"
#include "predict/window.h"

namespace sooth {

// Which reads bring the writes that they saw into a set.
enum class ReadRule : std::uint8_t {
  kAll,         // every one
  kBinding,     // those that bind: then the set in trace order has every binding read see the write that it saw
  kAdmissible,  // those that bind and for which no other write is admissible: what every reordering needs
};

// What a set is closed under, besides must-order.
struct ClosureRules {
  ReadRule reads = ReadRule::kBinding;
  // With two sections that exclude each other, the end of the one that is earlier in the trace; with a failed acquire
  // the beginning of the section that it met; with a condition wait the notify that it took; with a wait for a
  // semaphore the oldest post that was left.
  bool lock_order = true;
  StopPoll* poll = nullptr;  // when it stops, adding says false, and nothing follows from that
};

// A set of events that takes a prefix of each thread. Adding costs time in proportion to what is added; a copy costs
// memory in proportion to the threads and, under lock_order, to the locks met. All that comes before the window is in
// the set from the start, and nothing that comes after it ever is.
class PrefixClosure {
 public:
  // `targets` are events of different threads, in the window, that must never get into the set. Up to them their
  // threads are to get, which decides what reads in front of them bind.
  PrefixClosure(const TraceIndex& index, const Window& window, std::span<const EventIndex> targets, ClosureRules rules);

  // Adds all that must happen before the target: program order and must-order. Like the following: false when that
  // needs a target, or the release of a section that was never released; the set is of no use then.
  bool add_predecessors(EventIndex target);
  // Adds the event, and all that the rules demand.
  bool add(EventIndex event);

  bool contains(EventIndex e) const { return index_->position(e) < length_[index_->thread(e)]; }
  std::span<const std::uint32_t> lengths() const { return length_; }  // by thread
  std::uint64_t size() const;
  // By thread: the reads among the first so many events bind, if the set is what happens. All of them in a trace
  // without branches, and under ReadRule::kAll.
  std::span<const std::uint32_t> binding() const { return binding_; }
  // The reads among the first so many events of the thread are to bind.
  bool bind(std::uint32_t thread, std::uint32_t length);
  // The events in trace order.
  std::vector<EventId> in_trace_order() const;

 private:
  // The sections of one lock in the set. Of each thread only the last one can lack its release.
  struct Lock {
    EventIndex latest = 0;  // acquire + 1; 0: none
    EventIndex latest_exclusive = 0;
    std::vector<SectionIndex> last;  // of each thread
  };

  void want(EventIndex e);
  bool close();
  bool visit(EventIndex e);
  void raise_binding(std::uint32_t thread, std::uint32_t length);
  void read(EventIndex e);
  bool enter(SectionIndex s);
  void note(SectionIndex s);
  bool want_release(const LockSection& section);

  const TraceIndex* index_;
  ClosureRules rules_;
  bool has_branches_;                   // that matter
  std::vector<std::uint32_t> limit_;    // by thread: how many events may be in
  std::vector<std::uint32_t> length_;   // by thread: how many are
  std::vector<std::uint32_t> visited_;  // by thread: for how many of them the rules hold
  std::vector<std::uint32_t> binding_;  // by thread, see above
  std::vector<std::uint32_t> read_;     // by thread: for how many of them that about reads holds
  std::vector<std::uint32_t> work_;     // threads with visited < length, or read < both length and binding
  std::vector<bool> in_work_;
  FlatMap<Lock> locks_;
};

// The sync-preserving closure of the targets (Mathur, Pavlogiannis, Viswanathan 2021, here over must-order): all that
// must precede them, closed under all the rules. In trace order it is a correct reordering after which all targets are
// next. nullopt: no reordering that keeps the order of the sections of each lock does that, or `poll` has stopped it.
std::optional<PrefixClosure> sync_preserving_closure(const TraceIndex& index, const Window& window,
                                                     std::span<const EventIndex> targets, StopPoll* poll = nullptr);

}  // namespace sooth
