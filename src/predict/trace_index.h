// What reordering a trace in memory needs to know about each event, in about 20 bytes per event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/flat_map.h"
#include "predict/condition_index.h"
#include "predict/semaphore_index.h"
#include "race/witness.h"

namespace sooth {

using SectionIndex = std::uint32_t;
inline constexpr SectionIndex kNoSection = ~SectionIndex{0};
// Bytes of one generation that no access of the trace tells apart.
using VariableIndex = std::uint32_t;

// An outermost acquire with its last release (docs/semantics.md section 2).
struct LockSection {
  EventIndex acquire = kNoEvent;
  EventIndex release = kNoEvent;  // kNoEvent: still open at the end of the trace
  std::uint32_t lock = 0;         // dense
  bool shared = false;
  SectionIndex oldest_open = 0;  // in sections_of(thread): the first that was not closed when this one began
};

constexpr bool exclude_each_other(const LockSection& a, const LockSection& b) {
  return a.lock == b.lock && !(a.shared && b.shared);
}

// Order beyond must-order (docs/semantics.md section 3) that every reordering is to keep as well: `from` stands before
// `to` in the trace, and in every reordering that has `to`.
struct ExtraOrder {
  EventIndex from = kNoEvent;
  EventIndex to = kNoEvent;
};

// What of must-order the index has as predecessors.
enum class KeptOrder : std::uint8_t {
  kHard,        // what correct reorderings keep (docs/semantics.md section 7): atomics are memory, and semaphores are
                // counters; in a trace with calls that were not recorded all of it
  kButAtomics,  // all but rule 7, for who decides by values what atomics see; with such calls all of it
  kMust,        // all of it
};

// Built in two linear passes (what memory is told apart, then everything else); read-only afterwards, so several
// searches may share it. The view must outlive it. Threads are named by their number.
class TraceIndex {
 public:
  // `extra` is sorted by `to`; predecessors() has it, so that all that keeps must-order keeps it. Recorded values and
  // branches of the trace decide which writes a read may see.
  explicit TraceIndex(const TraceView& trace, std::span<const ExtraOrder> extra = {},
                      KeptOrder kept = KeptOrder::kHard);

  const TraceView& trace() const { return trace_; }
  std::size_t size() const { return trace_.events.size(); }
  const Event& event(EventIndex e) const { return trace_.events[e]; }
  // What it found or left by the record; nullptr: that is not known.
  const Value* value(EventIndex e) const {
    return trace_.values.empty() || trace_.values[e].size == 0 ? nullptr : &trace_.values[e];
  }
  // See KeptOrder.
  bool is_hard() const { return hard_; }
  // Branches free reads from having to see an admissible write; without them every read binds.
  bool has_branches() const { return !trace_.branches.empty(); }
  // Whether every read must see the very write that it saw: no branch frees it, and no other write has its value.
  bool reads_are_fixed() const { return trace_.branches.empty() && alternatives_.empty(); }

  std::uint32_t thread_count() const { return static_cast<std::uint32_t>(thread_begin_.size() - 1); }
  std::uint32_t thread(EventIndex e) const { return raw(trace_.events[e].thread); }
  // In program order.
  std::span<const EventIndex> events_of(std::uint32_t thread) const {
    return {by_thread_.data() + thread_begin_[thread], thread_begin_[thread + 1] - thread_begin_[thread]};
  }
  // Position in events_of(thread(e)).
  std::uint32_t position(EventIndex e) const { return position_[e]; }

  // Direct predecessors by what is kept of must-order (docs/semantics.md section 3) in other threads. What program order
  // or an earlier predecessor of the thread implies may be left out. A condition wait that only one notify can wake has
  // that, too, and a wait for a semaphore the posts without which it cannot come.
  std::span<const EventIndex> predecessors(EventIndex e) const {
    const std::uint32_t at = predecessors_at_[e];
    return at == 0 ? std::span<const EventIndex>{} : std::span(pool_).subspan(at + 1, pool_[at]);
  }

  // What an access touches; a free touches what any access of the trace touches of its block. Empty for no access.
  std::span<const VariableIndex> variables(EventIndex e) const {
    const std::uint32_t v = variable_[e];
    if (v == kNoVariable) {
      return {};
    }
    const std::uint32_t at = v & ~kListBit;
    return (v & kListBit) == 0 ? std::span(&variable_[e], 1) : std::span(pool_).subspan(at + 1, pool_[at]);
  }
  // Parallel to variables(), for events that read: the write seen; kNoEvent is the initial value.
  std::span<const EventIndex> seen(EventIndex e) const {
    const std::uint32_t v = variable_[e];
    if (v == kNoVariable || !is_read(event(e).op)) {
      return {};
    }
    const std::uint32_t at = v & ~kListBit;
    return (v & kListBit) == 0 ? std::span(&detail_[e], 1) : std::span(pool_).subspan(at + 1 + pool_[at], pool_[at]);
  }

  // Writes whose recorded value is what the read found in the variable, in trace order: these and the one seen are
  // admissible. The last may be kNoEvent: what was there at first. Empty when no other write than the one seen is.
  std::span<const EventIndex> alternatives(EventIndex read, VariableIndex v) const {
    const ValueGroup* group = alternatives_.find(std::uint64_t{read} << 32 | v);
    return group == nullptr ? std::span<const EventIndex>{}
                            : std::span(same_value_).subspan(group->begin, group->count);
  }
  // The last write of the variable in front of `end`, an event of the trace or its size; kNoEvent: none. Only for
  // variables that have alternatives.
  EventIndex last_write(VariableIndex v, EventIndex end) const;
  // Of how many reads: the first so many events of the thread contain all of its reads that bind, when the thread
  // executes up to the event at `reach`, or is about to (docs/semantics.md section 7).
  std::uint32_t branch_limit(std::uint32_t thread, std::uint32_t reach) const;
  // In ascending order the positions of events that the thread makes when it has passed a branch, each the first behind
  // one.
  std::span<const std::uint32_t> branches_of(std::uint32_t thread) const {
    return thread < branches_.size() ? std::span<const std::uint32_t>(branches_[thread])
                                     : std::span<const std::uint32_t>{};
  }

  // Of a failed acquire the section in which it found its lock taken, of several the first: some section that keeps it
  // out must be open whenever it happens. kNoSection for other events, when the thread holds the lock itself, and when
  // the trace does not tell who did.
  SectionIndex taken_by(EventIndex e) const { return event(e).op == Op::kAcquireFailed ? detail_[e] : kNoSection; }
  // All events that have one, in trace order.
  std::span<const EventIndex> failed_acquires() const { return failed_; }
  // The sections of a lock that one of them is about, by their acquires.
  std::span<const SectionIndex> sections_of_lock(std::uint32_t lock) const {
    const std::vector<SectionIndex>* all = failed_on_.find(lock);
    return all == nullptr ? std::span<const SectionIndex>{} : std::span<const SectionIndex>(*all);
  }
  // Whether the failed acquire fails while the section is open.
  bool keeps_out(const LockSection& section, EventIndex failed) const {
    return section.lock == sections_[detail_[failed]].lock && !(section.shared && is_shared(event(failed)));
  }

  // Waits for condition variables, and what may wake them.
  const ConditionIndex& conditions() const { return conditions_; }

  // Semaphores that are counters.
  const SemaphoreIndex& semaphores() const { return semaphores_; }

  // The section that the event opens or closes; kNoSection for other events and re-entrant ones.
  SectionIndex section_of(EventIndex e) const {
    const Op op = event(e).op;
    return op == Op::kAcquire || op == Op::kRelease ? detail_[e] : kNoSection;
  }
  const LockSection& section(SectionIndex s) const { return sections_[s]; }
  std::span<const LockSection> sections() const { return sections_; }
  // In order of their acquires.
  std::span<const SectionIndex> sections_of(std::uint32_t thread) const {
    return {sections_by_thread_.data() + section_begin_[thread], section_begin_[thread + 1] - section_begin_[thread]};
  }
  // The sections the thread is in after the first `length` of its events, in order of their acquires.
  std::vector<SectionIndex> held_after(std::uint32_t thread, std::uint32_t length) const;

  // Bytes that the index occupies.
  std::size_t memory() const;

 private:
  friend class TraceIndexBuilder;
  static constexpr VariableIndex kNoVariable = ~VariableIndex{0};
  static constexpr std::uint32_t kListBit = 1u << 31;  // variable_: an offset into pool_

  struct ValueGroup {
    std::uint32_t begin = 0, count = 0;  // in same_value_
  };

  TraceView trace_;
  bool hard_;
  ConditionIndex conditions_;
  SemaphoreIndex semaphores_;
  std::vector<std::uint32_t> thread_begin_;  // into by_thread_; one more than there are threads
  std::vector<EventIndex> by_thread_;
  std::vector<std::uint32_t> position_;  // by event, as the following three
  std::vector<std::uint32_t> variable_;
  std::vector<std::uint32_t> detail_;             // of a read: the write seen; of lock events: the section
  std::vector<EventIndex> failed_;                // see failed_acquires()
  FlatMap<std::vector<SectionIndex>> failed_on_;  // see sections_of_lock()
  std::vector<std::uint32_t> predecessors_at_;    // into pool_; 0: none
  std::vector<std::uint32_t> pool_;  // lists: their length, then the elements (for variables: twice as many)
  std::vector<LockSection> sections_;
  std::vector<std::uint32_t> section_begin_;  // into sections_by_thread_
  std::vector<SectionIndex> sections_by_thread_;
  FlatMap<ValueGroup> alternatives_;  // by read and variable
  std::vector<EventIndex> same_value_;
  FlatMap<std::vector<EventIndex>> writes_;           // by variable, of those that have alternatives
  std::vector<std::vector<std::uint32_t>> branches_;  // by thread; empty without branches
};

}  // namespace sooth
