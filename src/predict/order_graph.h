// The order that every correct reordering of a set of events must keep, as far as simple rules infer it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include "base/flat_map.h"
#include "base/stop_poll.h"
#include "predict/trace_index.h"
#include "predict/window.h"

namespace sooth {

// Which reads must see the write that they saw.
struct FixedReads {
  bool by_value = false;                     // only those for which no other write is admissible
  std::span<const std::uint32_t> binding{};  // by thread: only those among the first so many events
  // Whether a write that is not among the events may come at all. Not called unless by_value.
  std::function<bool(EventIndex)> may_come{};
};

// Over the events of a window up to the first `lengths` of each thread, which contain their must-order predecessors and
// what the reads saw that bind. What comes before the window is before all of them. Memory and the time of each pass:
// events times threads. When `poll` has stopped, nothing that it says counts.
class OrderGraph {
 public:
  OrderGraph(const TraceIndex& index, const Window& window, std::span<const std::uint32_t> lengths,
             const FixedReads& reads, StopPoll* poll = nullptr);

  // `from` comes before `to` in every reordering.
  void add(EventIndex from, EventIndex to) { extra_[to].push_back(from); }
  // Brings before() up to date with all edges. False when they form a cycle: no reordering exists.
  bool close();
  bool before(EventIndex a, EventIndex b) const {
    if (is_past(b)) {
      return is_past(a) && a < b;
    }
    return clock(b)[index_.thread(a)] > index_.position(a) && a != b;
  }

  // Adds what follows from the sections of locks; `is_final(section)` tells those that never end. Returns false when
  // some section must end that has no release among the events: it is put into `must_end`.
  template <typename IsFinal>
  bool infer_lock_order(IsFinal&& is_final, std::vector<SectionIndex>& must_end);
  // Adds what follows from the writes that reads saw.
  void infer_read_order();
  // Writes that are not among the events, but must be: they are the only ones left that some read may see.
  const std::vector<EventIndex>& missing() const { return missing_; }
  // The edges added, by where they lead: to writes, acquires of sections and, where other writes were admissible, to
  // reads.
  const FlatMap<std::vector<EventIndex>>& added() const { return extra_; }
  // Whether the write is ordered with every other write of its variables, or the acquire with every section that
  // excludes its own.
  bool is_settled(EventIndex e) const;
  // Whether the latter two added anything new since close().
  bool changed() const { return changed_; }
  // The one write that the read must see in its i-th variable, if it must: kNoEvent for what was there before the
  // window.
  std::optional<EventIndex> fixed_write(EventIndex read, std::size_t i) const;

 private:
  // Of one lock or variable, for each thread that has any, in program order.
  using ByThread = std::vector<std::vector<std::uint32_t>>;

  // The writes of the variable among the events; nullptr when there is none.
  const ByThread* writes_of(VariableIndex v) const {
    const std::uint32_t* slot = write_slots_.find(v);
    return slot == nullptr ? nullptr : &writes_[*slot - 1];
  }

  std::span<const std::uint32_t> clock(EventIndex e) const {
    return {clocks_.data() + row_of(index_.thread(e), index_.position(e)), threads_};
  }
  std::size_t row_of(std::uint32_t thread, std::uint32_t position) const {
    return (first_row_[thread] + position - floor_[thread]) * threads_;
  }
  bool is_past(EventIndex e) const { return index_.position(e) < floor_[index_.thread(e)]; }
  bool contains(EventIndex e) const { return e != kNoEvent && index_.position(e) < lengths_[index_.thread(e)]; }
  // The last event that is known to happen in the section.
  EventIndex end_of(const LockSection& section) const {
    const std::uint32_t t = index_.thread(section.acquire);
    return contains(section.release) ? section.release : index_.events_of(t)[lengths_[t] - 1];
  }
  void infer(EventIndex from, EventIndex to) {
    if (!before(from, to)) {
      contradiction_ = contradiction_ || is_past(to);
      add(from, to);
      changed_ = true;
    }
  }
  bool join_clocks(EventIndex e, std::span<const std::uint32_t> done);
  void collect(EventIndex e);
  void infer_around(EventIndex read, EventIndex write, const ByThread& writes);
  void infer_from_alternatives(EventIndex read, std::size_t i, const ByThread& writes);
  bool is_hidden(EventIndex write, EventIndex read, const ByThread& writes) const;

  const TraceIndex& index_;
  const std::vector<std::uint32_t> floor_, lengths_;
  const bool by_value_;
  const std::function<bool(EventIndex)> may_come_;
  std::vector<EventIndex> missing_;
  const std::vector<std::uint32_t> binding_;  // by thread, see FixedReads
  bool contradiction_ = false;                // something must come before what has happened
  const std::size_t threads_;
  std::vector<std::size_t> first_row_;               // by thread
  std::vector<std::uint32_t> clocks_;                // row of an event: of each thread, how many are not after it
  FlatMap<std::vector<EventIndex>> extra_;           // to -> from
  FlatMap<std::uint32_t> lock_slots_, write_slots_;  // into the following, + 1
  std::vector<ByThread> sections_;                   // SectionIndex
  std::vector<ByThread> writes_;                     // EventIndex
  bool changed_ = false;
  StopPoll* const poll_;
};

template <typename IsFinal>
bool OrderGraph::infer_lock_order(IsFinal&& is_final, std::vector<SectionIndex>& must_end) {
  for (const ByThread& lock : sections_) {
    for (const std::vector<SectionIndex>& earlier : lock) {
      for (const SectionIndex s : earlier) {
        if (stops(poll_, lock.size())) {
          return false;
        }
        const LockSection& a = index_.section(s);
        for (const std::vector<SectionIndex>& later : lock) {
          if (&later == &earlier) {
            continue;
          }
          // Those that end after `a` begins; a section that never ends is the last of its thread.
          auto other = std::partition_point(later.begin(), later.end(), [&](SectionIndex b) {
            return !before(a.acquire, end_of(index_.section(b)));
          });
          other = other == later.end() && !later.empty() && is_final(later.back()) ? std::prev(other) : other;
          other = std::find_if(other, later.end(),
                               [&](SectionIndex b) { return exclude_each_other(a, index_.section(b)); });
          if (other == later.end()) {
            continue;
          }
          if (contains(a.release)) {
            infer(a.release, index_.section(*other).acquire);  // program order implies the rest
          } else {
            must_end.push_back(s);
          }
        }
      }
    }
  }
  return must_end.empty();
}

}  // namespace sooth
