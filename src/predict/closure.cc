#include "predict/closure.h"

#include <algorithm>
#include <numeric>

namespace sooth {

PrefixClosure::PrefixClosure(const TraceIndex& index, std::span<const EventIndex> targets, ClosureRules rules)
    : index_(&index), rules_(rules), length_(index.thread_count()), visited_(index.thread_count()) {
  for (std::uint32_t t = 0; t < index.thread_count(); ++t) {
    limit_.push_back(static_cast<std::uint32_t>(index.events_of(t).size()));
  }
  for (const EventIndex target : targets) {
    limit_[index.thread(target)] = index.position(target);
  }
}

bool PrefixClosure::add_predecessors(EventIndex target) {
  if (index_->position(target) > 0) {
    want(index_->events_of(index_->thread(target))[index_->position(target) - 1]);
  }
  for (const EventIndex before : index_->predecessors(target)) {
    want(before);
  }
  return close();
}

bool PrefixClosure::add(EventIndex event) {
  want(event);
  return close();
}

std::uint64_t PrefixClosure::size() const { return std::accumulate(length_.begin(), length_.end(), std::uint64_t{0}); }

std::vector<EventId> PrefixClosure::in_trace_order() const {
  std::vector<EventId> order;
  order.reserve(size());
  EventIndex end = 0;
  for (std::uint32_t t = 0; t < length_.size(); ++t) {
    if (length_[t] > 0) {
      end = std::max(end, index_->events_of(t)[length_[t] - 1] + 1);
    }
  }
  if (size() >= end / 16) {  // sorting would cost more than looking at all
    for (EventIndex e = 0; e < end; ++e) {
      if (contains(e)) {
        order.push_back(EventId{e});
      }
    }
    return order;
  }
  for (std::uint32_t t = 0; t < length_.size(); ++t) {
    for (const EventIndex e : index_->events_of(t).first(length_[t])) {
      order.push_back(EventId{e});
    }
  }
  std::sort(order.begin(), order.end());
  return order;
}

void PrefixClosure::want(EventIndex e) {
  const std::uint32_t t = index_->thread(e);
  const std::uint32_t length = index_->position(e) + 1;
  if (length > length_[t]) {
    if (visited_[t] == length_[t]) {
      work_.push_back(t);
    }
    length_[t] = length;
  }
}

bool PrefixClosure::close() {
  while (!work_.empty()) {
    const std::uint32_t t = work_.back();
    const std::span<const EventIndex> events = index_->events_of(t);
    while (visited_[t] < length_[t]) {
      if (length_[t] > limit_[t] || !visit(events[visited_[t]])) {
        return false;
      }
      ++visited_[t];
    }
    // Visiting may have put other threads behind this one.
    work_.erase(std::find(work_.begin(), work_.end(), t));
  }
  return true;
}

bool PrefixClosure::visit(EventIndex e) {
  for (const EventIndex before : index_->predecessors(e)) {
    want(before);
  }
  if (rules_.reads_from) {
    for (const EventIndex write : index_->seen(e)) {
      if (write != kNoEvent) {
        want(write);
      }
    }
  }
  const bool enters = rules_.lock_order && index_->event(e).op == Op::kAcquire && index_->section_of(e) != kNoSection;
  return !enters || enter(index_->section_of(e));
}

bool PrefixClosure::enter(SectionIndex s) {
  const LockSection& section = index_->section(s);
  Lock& lock = locks_[section.lock];
  const EventIndex excluded_by = section.shared ? lock.latest_exclusive : lock.latest;
  if (excluded_by > section.acquire + 1 && !want_release(section)) {
    return false;
  }
  lock.latest = std::max(lock.latest, section.acquire + 1);
  if (!section.shared) {
    lock.latest_exclusive = std::max(lock.latest_exclusive, section.acquire + 1);
  }
  SectionIndex* own = nullptr;
  for (SectionIndex& other : lock.last) {
    const LockSection& before = index_->section(other);
    if (index_->thread(before.acquire) == index_->thread(section.acquire)) {
      own = &other;
    } else if (before.acquire < section.acquire && exclude_each_other(before, section) && !want_release(before)) {
      return false;
    }
  }
  if (own != nullptr) {
    *own = s;
  } else {
    lock.last.push_back(s);
  }
  return true;
}

bool PrefixClosure::want_release(const LockSection& section) {
  if (section.release == kNoEvent) {
    return false;
  }
  want(section.release);
  return true;
}

std::optional<PrefixClosure> sync_preserving_closure(const TraceIndex& index, std::span<const EventIndex> targets) {
  PrefixClosure closure(index, targets, {});
  for (const EventIndex target : targets) {
    if (!closure.add_predecessors(target)) {
      return std::nullopt;
    }
  }
  return closure;
}

}  // namespace sooth
