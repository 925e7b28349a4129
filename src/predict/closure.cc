#include "predict/closure.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace sooth {

PrefixClosure::PrefixClosure(const TraceIndex& index, const Window& window, std::span<const EventIndex> targets,
                             ClosureRules rules)
    : index_(&index),
      rules_(rules),
      has_branches_(index.has_branches() && rules.reads != ReadRule::kAll),
      limit_(window.limit),
      length_(window.floor),
      visited_(window.floor),
      binding_(index.thread_count(), has_branches_ ? 0 : std::numeric_limits<std::uint32_t>::max()),
      read_(window.floor),
      in_work_(index.thread_count()) {
  for (const EventIndex target : targets) {
    limit_[index.thread(target)] = index.position(target);
  }
  for (std::uint32_t t = 0; t < index.thread_count() && rules.lock_order; ++t) {
    for (const SectionIndex s : index.held_after(t, window.floor[t])) {
      note(s);
    }
  }
}

bool PrefixClosure::add_predecessors(EventIndex target) {
  if (has_branches_) {
    raise_binding(index_->thread(target), index_->branch_limit(index_->thread(target), index_->position(target)));
  }
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

bool PrefixClosure::bind(std::uint32_t thread, std::uint32_t length) {
  raise_binding(thread, length);
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
  if (length <= length_[t]) {
    return;
  }
  length_[t] = length;
  if (!in_work_[t]) {
    in_work_[t] = true;
    work_.push_back(t);
  }
  if (has_branches_) {
    raise_binding(t, index_->branch_limit(t, length - 1));
  }
}

void PrefixClosure::raise_binding(std::uint32_t thread, std::uint32_t length) {
  if (length > binding_[thread]) {
    binding_[thread] = length;
    if (!in_work_[thread]) {
      in_work_[thread] = true;
      work_.push_back(thread);
    }
  }
}

bool PrefixClosure::close() {
  while (!work_.empty()) {
    const std::uint32_t t = work_.back();
    work_.pop_back();
    in_work_[t] = false;
    if (length_[t] > limit_[t]) {
      return false;
    }
    const std::span<const EventIndex> events = index_->events_of(t);
    // Visiting may add to this very thread: then it comes up again.
    for (; visited_[t] < length_[t] && length_[t] <= limit_[t]; ++visited_[t]) {
      if (stops(rules_.poll) || !visit(events[visited_[t]])) {
        return false;
      }
    }
    for (; read_[t] < std::min(visited_[t], binding_[t]); ++read_[t]) {
      if (stops(rules_.poll, index_->seen(events[read_[t]]).size())) {
        return false;
      }
      read(events[read_[t]]);
    }
  }
  return true;
}

bool PrefixClosure::visit(EventIndex e) {
  for (const EventIndex before : index_->predecessors(e)) {
    want(before);
  }
  if (const SectionIndex holder = index_->taken_by(e); rules_.lock_order && holder != kNoSection) {
    want(index_->section(holder).acquire);
  }
  if (const ConditionIndex::Wait* wait =
          rules_.lock_order && was_woken(index_->event(e)) ? index_->conditions().wait(e) : nullptr) {
    want(wait->took);
  }
  if (const SemaphoreIndex::Operation* wait =
          rules_.lock_order && index_->event(e).op == Op::kSemWait ? index_->semaphores().operation(e) : nullptr;
      wait != nullptr && wait->took != kNoEvent) {
    want(wait->took);
  }
  const bool enters = rules_.lock_order && index_->event(e).op == Op::kAcquire && index_->section_of(e) != kNoSection;
  return !enters || enter(index_->section_of(e));
}

// The read binds: it sees the write that it saw, or is free to see another of its value.
void PrefixClosure::read(EventIndex e) {
  const std::span<const EventIndex> seen = index_->seen(e);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const EventIndex write = seen[i];
    if (write == kNoEvent ||
        (rules_.reads == ReadRule::kAdmissible && !index_->alternatives(e, index_->variables(e)[i]).empty())) {
      continue;
    }
    want(write);
    // What it stored depends on what its thread had read, an rmw's also on what it reads itself.
    if (has_branches_) {
      raise_binding(index_->thread(write), index_->position(write) + (is_read(index_->event(write).op) ? 1 : 0));
    }
  }
}

bool PrefixClosure::enter(SectionIndex s) {
  const LockSection& section = index_->section(s);
  Lock& lock = locks_[section.lock];
  const EventIndex excluded_by = section.shared ? lock.latest_exclusive : lock.latest;
  if (excluded_by > section.acquire + 1 && !want_release(section)) {
    return false;
  }
  for (const SectionIndex other : lock.last) {
    const LockSection& before = index_->section(other);
    if (index_->thread(before.acquire) != index_->thread(section.acquire) && before.acquire < section.acquire &&
        exclude_each_other(before, section) && !want_release(before)) {
      return false;
    }
  }
  note(s);
  return true;
}

// The section is in the set.
void PrefixClosure::note(SectionIndex s) {
  const LockSection& section = index_->section(s);
  Lock& lock = locks_[section.lock];
  lock.latest = std::max(lock.latest, section.acquire + 1);
  if (!section.shared) {
    lock.latest_exclusive = std::max(lock.latest_exclusive, section.acquire + 1);
  }
  for (SectionIndex& other : lock.last) {
    if (index_->thread(index_->section(other).acquire) == index_->thread(section.acquire)) {
      other = s;
      return;
    }
  }
  lock.last.push_back(s);
}

bool PrefixClosure::want_release(const LockSection& section) {
  if (section.release == kNoEvent) {
    return false;
  }
  want(section.release);
  return true;
}

std::optional<PrefixClosure> sync_preserving_closure(const TraceIndex& index, const Window& window,
                                                     std::span<const EventIndex> targets, StopPoll* poll) {
  if (stops(poll, index.thread_count())) {
    return std::nullopt;
  }
  PrefixClosure closure(index, window, targets, {.poll = poll});
  for (const EventIndex target : targets) {
    if (!closure.add_predecessors(target)) {
      return std::nullopt;
    }
  }
  return closure;
}

}  // namespace sooth
