#include "predict/allowed_events.h"

#include <algorithm>

namespace sooth {

AllowedEvents::AllowedEvents(const TraceIndex& index, const Window& window, const PrefixClosure& need,
                             ClosureRules rules)
    : index_(index),
      window_(window),
      need_(need),
      has_branches_(index.has_branches() && rules.reads != ReadRule::kAll),
      length_(need.lengths().begin(), need.lengths().end()),
      may_bind_(need.binding().begin(), need.binding().end()),
      followed_(window.floor),
      refused_(window.limit),
      poll_(rules.poll) {
  do {
    changed_ = false;
    end_sections();
    begin_sections();
    wake_waits();
    let_through();
    if (rules.reads != ReadRule::kAll && !index.reads_are_fixed()) {
      follow_reads();
    }
  } while (changed_ && !stopped(poll_));
}

// Adds the event and what it needs, unless that is a target. What a thread cannot execute it cannot get behind.
bool AllowedEvents::include(EventIndex e) {
  const std::uint32_t thread = index_.thread(e);
  if (index_.position(e) < length_[thread]) {
    return true;
  }
  if (index_.position(e) >= refused_[thread]) {
    return false;
  }
  if (stops(poll_, length_.size())) {
    return false;
  }
  PrefixClosure with = need_;
  if (!with.add(e)) {
    refused_[thread] = index_.position(e);
    return false;
  }
  for (std::uint32_t t = 0; t < length_.size(); ++t) {
    length_[t] = std::max(length_[t], with.lengths()[t]);
    if (has_branches_ && length_[t] > window_.floor[t]) {
      raise_binding(t, index_.branch_limit(t, length_[t] - 1));
    }
  }
  changed_ = true;
  return true;
}

void AllowedEvents::raise_binding(std::uint32_t thread, std::uint32_t length) {
  if (length > may_bind_[thread]) {
    may_bind_[thread] = length;
    changed_ = true;
  }
}

void AllowedEvents::follow_reads() {
  for (std::uint32_t t = 0; t < length_.size(); ++t) {
    for (; followed_[t] < std::min(length_[t], may_bind_[t]); ++followed_[t]) {
      const EventIndex read = index_.events_of(t)[followed_[t]];
      const std::span<const EventIndex> seen = index_.seen(read);
      for (std::size_t i = 0; i < seen.size(); ++i) {
        if (stops(poll_)) {
          return;
        }
        allow_write(seen[i]);
        for (const EventIndex write : index_.alternatives(read, index_.variables(read)[i])) {
          allow_write(write);
        }
      }
    }
  }
}

void AllowedEvents::allow_write(EventIndex write) {
  if (write == kNoEvent || window_.is_past(index_, write) || !include(write) || !has_branches_) {
    return;
  }
  raise_binding(index_.thread(write), index_.position(write) + (is_read(index_.event(write).op) ? 1 : 0));
}

void AllowedEvents::end_sections() {
  const FlatMap<Users> users = users_of_locks();
  for (std::uint32_t t = 0; t < length_.size(); ++t) {
    for (const SectionIndex s : index_.held_after(t, length_[t])) {
      const LockSection& section = index_.section(s);
      const Users& of_lock = *users.find(section.lock);
      if (section.release != kNoEvent && (section.shared ? of_lock.exclusive : of_lock.several)) {
        include(section.release);
      }
    }
  }
}

// Any section of the lock may be what a failed acquire needs.
void AllowedEvents::begin_sections() {
  const std::span<const EventIndex> all = index_.failed_acquires();
  std::vector<std::uint32_t> locks;
  for (auto e = std::lower_bound(all.begin(), all.end(), window_.begin); e != all.end(); ++e) {
    if (index_.position(*e) < length_[index_.thread(*e)]) {
      locks.push_back(index_.section(index_.taken_by(*e)).lock);
    }
  }
  std::sort(locks.begin(), locks.end());
  locks.erase(std::unique(locks.begin(), locks.end()), locks.end());
  for (const std::uint32_t lock : locks) {
    std::vector<std::vector<EventIndex>> acquires(length_.size());  // by thread
    for (const SectionIndex s : index_.sections_of_lock(lock)) {
      const EventIndex acquire = index_.section(s).acquire;
      if (index_.position(acquire) >= length_[index_.thread(acquire)]) {
        acquires[index_.thread(acquire)].push_back(acquire);
      }
    }
    include_first(std::move(acquires));
  }
}

// Of events by thread, in program order, those that may come. A thread that can go on to one has been through those
// before.
void AllowedEvents::include_first(std::vector<std::vector<EventIndex>> events) {
  for (const std::vector<EventIndex>& own : events) {
    static_cast<void>(std::partition_point(own.begin(), own.end(), [this](EventIndex e) { return include(e); }));
  }
}

// Any notify may be what wakes a wait.
void AllowedEvents::wake_waits() {
  const ConditionIndex& conditions = index_.conditions();
  std::vector<bool> wanted(conditions.condition_count());
  for (const ConditionIndex::Wait& wait : conditions.waits()) {
    if (wait.event >= window_.begin && index_.position(wait.event) < length_[index_.thread(wait.event)]) {
      wanted[conditions.vigil(wait.vigil).condition] = true;
    }
  }
  for (std::uint32_t c = 0; c < wanted.size(); ++c) {
    std::vector<std::vector<EventIndex>> notifies(length_.size());  // by thread
    for (const ConditionNotify& notify : wanted[c] ? conditions.notifies(c) : std::span<const ConditionNotify>{}) {
      if (index_.position(notify.event) >= length_[index_.thread(notify.event)]) {
        notifies[index_.thread(notify.event)].push_back(notify.event);
      }
    }
    include_first(std::move(notifies));
  }
}

// Any post may be what lets a wait through.
void AllowedEvents::let_through() {
  for (const SemaphoreIndex::Semaphore& semaphore : index_.semaphores().semaphores()) {
    const auto may_come = [this](EventIndex wait) {
      return wait >= window_.begin && index_.position(wait) < length_[index_.thread(wait)];
    };
    if (stops(poll_, semaphore.waits.size()) ||
        std::none_of(semaphore.waits.begin(), semaphore.waits.end(), may_come)) {
      continue;
    }
    std::vector<std::vector<EventIndex>> posts(length_.size());  // by thread
    for (const EventIndex post : semaphore.posts) {
      if (index_.position(post) >= length_[index_.thread(post)]) {
        posts[index_.thread(post)].push_back(post);
      }
    }
    include_first(std::move(posts));
  }
}

FlatMap<AllowedEvents::Users> AllowedEvents::users_of_locks() const {
  FlatMap<Users> users;
  for (std::uint32_t t = 0; t < length_.size(); ++t) {
    const auto note = [&](const LockSection& section) {
      Users& of_lock = users[section.lock];
      of_lock.several = of_lock.several || (of_lock.any && of_lock.first_thread != t);
      of_lock.exclusive = of_lock.exclusive || !section.shared;
      of_lock.first_thread = of_lock.any ? of_lock.first_thread : t;
      of_lock.any = true;
    };
    for (const SectionIndex s : index_.held_after(t, window_.floor[t])) {
      note(index_.section(s));
    }
    const std::span<const SectionIndex> all = index_.sections_of(t);
    auto s = std::partition_point(all.begin(), all.end(), [&](SectionIndex past) {
      return index_.position(index_.section(past).acquire) < window_.floor[t];
    });
    for (; s != all.end() && index_.position(index_.section(*s).acquire) < length_[t]; ++s) {
      note(index_.section(*s));
    }
  }
  return users;
}

}  // namespace sooth
