#include "predict/order_graph.h"

#include <algorithm>

namespace sooth {

OrderGraph::OrderGraph(const TraceIndex& index, const Window& window, std::span<const std::uint32_t> lengths,
                       const FixedReads& reads, StopPoll* poll)
    : index_(index),
      floor_(window.floor),
      lengths_(lengths.begin(), lengths.end()),
      by_value_(reads.by_value),
      may_come_(reads.may_come),
      binding_(reads.binding.begin(), reads.binding.end()),
      threads_(lengths.size()),
      poll_(poll) {
  std::size_t rows = 0;
  for (std::uint32_t t = 0; t < threads_ && !stopped(poll_); ++t) {
    first_row_.push_back(rows);
    rows += lengths_[t] - floor_[t];
    for (const SectionIndex s : index_.held_after(t, floor_[t])) {
      collect(index_.section(s).acquire);
    }
    for (const EventIndex e : index_.events_of(t).first(lengths_[t]).subspan(floor_[t])) {
      if (stops(poll_, 1 + index_.variables(e).size())) {
        break;
      }
      collect(e);
    }
  }
  if (!stops(poll_, rows * threads_ / 16)) {
    clocks_.resize(rows * threads_);
  }
}

std::optional<EventIndex> OrderGraph::fixed_write(EventIndex read, std::size_t i) const {
  const bool binds = index_.position(read) < binding_[index_.thread(read)];
  if (!binds || (by_value_ && !index_.alternatives(read, index_.variables(read)[i]).empty())) {
    return std::nullopt;
  }
  const EventIndex write = index_.seen(read)[i];
  return write == kNoEvent || is_past(write) ? kNoEvent : write;
}

void OrderGraph::collect(EventIndex e) {
  // Threads come one after the other, so the list of this one is the last, if there is one.
  const auto list = [](FlatMap<std::uint32_t>& slots, std::vector<ByThread>& lists, std::uint32_t key,
                       auto&& is_of_thread) -> std::vector<std::uint32_t>& {
    std::uint32_t& slot = slots[key];
    if (slot == 0) {
      lists.emplace_back();
      slot = static_cast<std::uint32_t>(lists.size());
    }
    ByThread& all = lists[slot - 1];
    if (all.empty() || !is_of_thread(all.back().back())) {
      all.emplace_back();
    }
    return all.back();
  };
  const SectionIndex s = index_.section_of(e);
  if (s != kNoSection && index_.section(s).acquire == e) {
    list(lock_slots_, sections_, index_.section(s).lock, [&](SectionIndex other) {
      return index_.thread(index_.section(other).acquire) == index_.thread(e);
    }).push_back(s);
  }
  if (is_write(index_.event(e).op)) {
    for (const VariableIndex v : index_.variables(e)) {
      list(write_slots_, writes_, v, [&](EventIndex other) {
        return index_.thread(other) == index_.thread(e);
      }).push_back(e);
    }
  }
}

bool OrderGraph::close() {
  changed_ = false;
  if (contradiction_ || stopped(poll_)) {
    return false;
  }
  std::vector<std::uint32_t> done = floor_;
  std::size_t left = clocks_.size() / std::max<std::size_t>(threads_, 1);
  for (bool progress = true; progress && left > 0;) {
    progress = false;
    for (std::uint32_t t = 0; t < threads_; ++t) {
      if (stops(poll_)) {
        return false;
      }
      while (done[t] < lengths_[t] && join_clocks(index_.events_of(t)[done[t]], done)) {
        if (stops(poll_, 1 + index_.seen(index_.events_of(t)[done[t]]).size() + threads_ / 16)) {
          return false;
        }
        ++done[t];
        --left;
        progress = true;
      }
    }
  }
  return left == 0;
}

// False when not all that comes before the event has its clock yet.
bool OrderGraph::join_clocks(EventIndex e, std::span<const std::uint32_t> done) {
  const auto ready = [&](EventIndex from) { return index_.position(from) < done[index_.thread(from)]; };
  const std::span<const EventIndex> must = index_.predecessors(e);
  const std::vector<EventIndex>* extra = extra_.find(e);
  const auto for_each_write = [&](auto&& visit) {
    EventIndex last = kNoEvent;  // neighbouring bytes mostly come from one write
    for (std::size_t i = 0; i < index_.seen(e).size(); ++i) {
      const std::optional<EventIndex> write = fixed_write(e, i);
      if (write.has_value() && *write != last && *write != kNoEvent && !visit(*write)) {
        return false;
      }
      last = write.value_or(kNoEvent);
    }
    return true;
  };
  if (!std::all_of(must.begin(), must.end(), ready) || !for_each_write(ready) ||
      (extra != nullptr && !std::all_of(extra->begin(), extra->end(), ready))) {
    return false;
  }
  const std::uint32_t t = index_.thread(e);
  const std::uint32_t position = index_.position(e);
  std::uint32_t* row = clocks_.data() + row_of(t, position);
  if (position > floor_[t]) {
    std::copy(row - threads_, row, row);
  } else {
    std::copy(floor_.begin(), floor_.end(), row);
  }
  const auto join = [&](EventIndex from) {
    if (is_past(from)) {
      return true;
    }
    const std::span<const std::uint32_t> other = clock(from);
    for (std::size_t u = 0; u < threads_; ++u) {
      row[u] = std::max(row[u], other[u]);
    }
    return true;
  };
  std::for_each(must.begin(), must.end(), join);
  for_each_write(join);
  if (extra != nullptr) {
    std::for_each(extra->begin(), extra->end(), join);
  }
  row[t] = position + 1;
  return true;
}

void OrderGraph::infer_read_order() {
  for (std::uint32_t t = 0; t < threads_; ++t) {
    for (const EventIndex read : index_.events_of(t).first(lengths_[t]).subspan(floor_[t])) {
      for (std::size_t i = 0; i < index_.seen(read).size(); ++i) {
        const std::optional<EventIndex> write = fixed_write(read, i);
        const ByThread* writes = writes_of(index_.variables(read)[i]);
        if (stops(poll_, 1 + (writes != nullptr ? writes->size() : 0))) {
          return;
        }
        if (write.has_value() && writes != nullptr) {
          infer_around(read, *write, *writes);
        } else if (!write.has_value() && index_.position(read) < binding_[t]) {
          infer_from_alternatives(read, i, writes != nullptr ? *writes : ByThread{});
        }
      }
    }
  }
}

// Every other write comes before `write` or after `read`. Of each thread the tightest is enough.
void OrderGraph::infer_around(EventIndex read, EventIndex write, const ByThread& writes) {
  for (const std::vector<EventIndex>& own : writes) {
    const auto after = std::partition_point(
        own.begin(), own.end(), [&](EventIndex w) { return write != kNoEvent && (w == write || !before(write, w)); });
    if (after != own.end() && *after != read) {
      infer(read, *after);
    }
    const auto before_read =
        std::partition_point(own.begin(), own.end(), [&](EventIndex w) { return before(w, read); });
    if (before_read != own.begin() && write != kNoEvent && *std::prev(before_read) != write &&
        !before(write, *std::prev(before_read))) {  // between the two: the rule above makes that a cycle
      infer(*std::prev(before_read), write);
    }
  }
}

// Another write always comes between the two. kNoEvent: any write always comes before the read.
bool OrderGraph::is_hidden(EventIndex write, EventIndex read, const ByThread& writes) const {
  return std::any_of(writes.begin(), writes.end(), [&](const std::vector<EventIndex>& own) {
    // The last of the thread that comes before the read is the one most likely to come after the write.
    auto last = std::partition_point(own.begin(), own.end(), [&](EventIndex w) { return before(w, read); });
    return last != own.begin() && *--last != write && (write == kNoEvent || before(write, *last));
  });
}

// The read sees one of several writes. When all but one have become impossible it is that one; when all have, there is
// no order.
void OrderGraph::infer_from_alternatives(EventIndex read, std::size_t i, const ByThread& writes) {
  std::vector<EventIndex> possible;  // kNoEvent: what was there before the window
  const auto consider = [&](EventIndex write) {
    const EventIndex w = write == kNoEvent || is_past(write) ? kNoEvent : write;
    if (possible.size() > 1 || std::find(possible.begin(), possible.end(), w) != possible.end() || w == read) {
      return;
    }
    const bool own = w != kNoEvent && index_.thread(w) == index_.thread(read);
    const bool out = w == kNoEvent || contains(w) ? (w != kNoEvent && before(read, w)) || is_hidden(w, read, writes)
                                                  : own || !may_come_(w);
    if (!out) {
      possible.push_back(w);
    }
  };
  consider(index_.seen(read)[i]);
  for (const EventIndex write : index_.alternatives(read, index_.variables(read)[i])) {
    if (possible.size() > 1 || stops(poll_, 1 + writes.size())) {
      return;
    }
    consider(write);
  }
  if (possible.size() > 1) {
    return;
  }
  if (possible.empty()) {
    contradiction_ = changed_ = true;
  } else if (possible.front() != kNoEvent && !contains(possible.front())) {
    missing_.push_back(possible.front());
  } else {
    if (possible.front() != kNoEvent) {
      infer(possible.front(), read);
    }
    infer_around(read, possible.front(), writes);
  }
}

bool OrderGraph::is_settled(EventIndex e) const {
  if (stops(poll_, 1 + index_.variables(e).size())) {
    return false;
  }
  const auto ordered = [&](EventIndex other) { return other == e || before(e, other) || before(other, e); };
  // In program order the events of a thread are before `e`, then unordered with it, then after it.
  const auto all_ordered = [&](const std::vector<EventIndex>& own) {
    const auto unordered = std::partition_point(own.begin(), own.end(), [&](EventIndex w) { return before(w, e); });
    return unordered == own.end() || ordered(*unordered);
  };
  if (const SectionIndex s = index_.section_of(e); s != kNoSection) {
    const LockSection& section = index_.section(s);
    for (const std::vector<SectionIndex>& own : sections_[*lock_slots_.find(section.lock) - 1]) {
      auto other = std::partition_point(own.begin(), own.end(),
                                        [&](SectionIndex o) { return before(index_.section(o).acquire, e); });
      other = std::find_if(other, own.end(),
                           [&](SectionIndex o) { return exclude_each_other(section, index_.section(o)); });
      if (other != own.end() && !ordered(index_.section(*other).acquire)) {
        return false;
      }
    }
    return true;
  }
  const std::span<const VariableIndex> variables = index_.variables(e);
  return std::all_of(variables.begin(), variables.end(), [&](VariableIndex v) {
    const ByThread& writes = writes_[*write_slots_.find(v) - 1];
    return std::all_of(writes.begin(), writes.end(), all_ordered);
  });
}

}  // namespace sooth
