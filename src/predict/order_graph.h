// The order that every correct reordering of a set of events must keep, as far as simple rules infer it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "base/flat_map.h"
#include "predict/trace_index.h"

namespace sooth {

// Over the first `lengths` events of each thread, which contain their must-order predecessors and, when reads bind,
// what their reads saw. Memory and the time of each pass: events times threads.
class OrderGraph {
 public:
  OrderGraph(const TraceIndex& index, std::span<const std::uint32_t> lengths, bool reads_bind);

  // `from` comes before `to` in every reordering.
  void add(EventIndex from, EventIndex to) { extra_[to].push_back(from); }
  // Brings before() up to date with all edges. False when they form a cycle: no reordering exists.
  bool close();
  bool before(EventIndex a, EventIndex b) const {
    return clock(b)[index_.thread(a)] > index_.position(a) && a != b;
  }

  // Adds what follows from the sections of locks; `is_final(section)` tells those that never end. Returns false when
  // some section must end that has no release among the events: it is put into `must_end`.
  template <typename IsFinal>
  bool infer_lock_order(IsFinal&& is_final, std::vector<SectionIndex>& must_end);
  // Adds what follows from the writes that reads saw.
  void infer_read_order();
  // The edges added, by where they lead. They end at writes and acquires of sections only.
  const FlatMap<std::vector<EventIndex>>& added() const { return extra_; }
  // Whether the write is ordered with every other write of its variables, or the acquire with every section that
  // excludes its own.
  bool is_settled(EventIndex e) const;
  // Whether the latter two added anything new since close().
  bool changed() const { return changed_; }

 private:
  // Of one lock or variable, by thread, in program order.
  using ByThread = std::vector<std::vector<std::uint32_t>>;

  std::span<const std::uint32_t> clock(EventIndex e) const {
    return {clocks_.data() + (first_row_[index_.thread(e)] + index_.position(e)) * threads_, threads_};
  }
  bool contains(EventIndex e) const { return e != kNoEvent && index_.position(e) < lengths_[index_.thread(e)]; }
  // The last event that is known to happen in the section.
  EventIndex end_of(const LockSection& section) const {
    const std::uint32_t t = index_.thread(section.acquire);
    return contains(section.release) ? section.release : index_.events_of(t)[lengths_[t] - 1];
  }
  void infer(EventIndex from, EventIndex to) {
    if (!before(from, to)) {
      add(from, to);
      changed_ = true;
    }
  }
  bool join_clocks(EventIndex e, std::span<const std::uint32_t> done);
  void collect(EventIndex e);
  void infer_around(EventIndex read, EventIndex write, const ByThread& writes);

  const TraceIndex& index_;
  const std::vector<std::uint32_t> lengths_;
  const bool reads_bind_;
  const std::size_t threads_;
  std::vector<std::size_t> first_row_;              // by thread
  std::vector<std::uint32_t> clocks_;               // row of an event: of each thread, how many are not after it
  FlatMap<std::vector<EventIndex>> extra_;          // to -> from
  FlatMap<std::uint32_t> lock_slots_, write_slots_; // into the following, + 1
  std::vector<ByThread> sections_;                  // SectionIndex
  std::vector<ByThread> writes_;                    // EventIndex
  bool changed_ = false;
};

template <typename IsFinal>
bool OrderGraph::infer_lock_order(IsFinal&& is_final, std::vector<SectionIndex>& must_end) {
  for (const ByThread& lock : sections_) {
    for (const std::vector<SectionIndex>& earlier : lock) {
      for (const SectionIndex s : earlier) {
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
