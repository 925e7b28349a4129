#include "detect/syncp_history.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace sooth {

// What was forgotten while the thread was packed it is taken to know.
void SyncpHistory::begin(ThreadId thread) {
  while (raw(thread) >= threads_.size()) {
    threads_.emplace_back().clock = forgotten_;
  }
  Thread& t = threads_[raw(thread)];
  if (const Packed* packed = t.packed ? packed_.find(raw(thread)) : nullptr) {
    t.clock = packed->clock.unpack();
    t.closure = packed->closure.unpack();
    t.packed = false;
    packed_.erase(raw(thread));
    learn(thread, forgotten_);
  }
}

void SyncpHistory::end(ThreadId thread) {
  Thread& t = of(thread);
  t.ended = true;
  packed_[raw(thread)] = {PackedClock(t.clock), PackedClock(t.closure)};
  t.packed = true;
  t.clock = {};
  t.closure = {};
  const std::uint32_t end = t.first_version + static_cast<std::uint32_t>(t.states.size());
  for (std::uint32_t version = std::max(t.unpacked_from, t.first_version); version < end; ++version) {
    State& state = t.states[version - t.first_version];
    size_ -= size_of(state);
    state.clock = PackedClock(std::get<VectorClock>(state.clock));
    size_ += size_of(state);
  }
  t.unpacked_from = end;
}

std::size_t SyncpHistory::size_of(const State& state) {
  if (const VectorClock* clock = std::get_if<VectorClock>(&state.clock)) {
    return 1 + clock->times().size() / 16;
  }
  return 1 + std::get<PackedClock>(state.clock).memory() / 64;
}

Time SyncpHistory::advance(ThreadId thread) {
  VectorClock& clock = of(thread).clock;
  const Time time = clock[thread] + 1;
  clock.set(thread, time);
  return time;
}

PastEvent SyncpHistory::latest(ThreadId thread) {
  Thread& t = of(thread);
  const Time time = t.clock[thread];
  if (t.changed) {
    VectorClock past = t.clock;
    past.set(thread, time - 1);  // the past of an event is without it
    t.states.push_back({time, std::move(past)});
    t.changed = false;
    size_ += size_of(t.states.back());
  }
  return {thread, time, t.first_version + static_cast<std::uint32_t>(t.states.size()) - 1};
}

void SyncpHistory::learn(ThreadId thread, const VectorClock& message) {
  Thread& t = of(thread);
  if (!t.clock.covers(message)) {
    t.clock.join(message);
    t.changed = true;
    ++t.segment;
  }
}

void SyncpHistory::learn(ThreadId thread, const PastEvent& event) {
  Thread& t = of(thread);
  if (event.time <= t.clock[event.thread]) {
    return;  // and its past is known with it
  }
  include_past(event, t.clock);
  t.clock.set(event.thread, event.time);
  t.changed = true;
  ++t.segment;
}

std::uint32_t SyncpHistory::lock_index(std::uint64_t lock) {
  std::uint32_t& id = lock_ids_[lock];
  if (id == 0) {
    locks_.emplace_back();
    id = static_cast<std::uint32_t>(locks_.size());
  }
  return id - 1;
}

SyncpHistory::Sections* SyncpHistory::sections_of(Lock& lock, ThreadId thread) {
  if (raw(thread) >= lock.index.size()) {
    lock.index.resize(raw(thread) + 1);
  }
  std::uint32_t& position = lock.index[raw(thread)];
  if (position == 0) {
    lock.by_thread.push_back({thread, {}});
    position = static_cast<std::uint32_t>(lock.by_thread.size());
  }
  return &lock.by_thread[position - 1];
}

void SyncpHistory::acquire(ThreadId thread, std::uint64_t lock, bool exclusive, EventId id) {
  Thread& t = of(thread);
  const std::uint32_t index = lock_index(lock);
  std::vector<Section>& list = sections_of(locks_[index], thread)->list;
  if (list.empty()) {
    t.locks.push_back(index);
  }
  const std::uint64_t before = list.empty() ? 0 : list.back().exclusive_order;
  Section section;
  section.acquire = t.clock[thread];
  section.exclusive = exclusive;
  section.order = raw(id) + 1;
  section.exclusive_order = exclusive ? section.order : before;
  list.push_back(section);
  t.acquires.push_back({section.acquire, index});
  ++t.segment;
  size_ += 2;
}

void SyncpHistory::release(ThreadId thread, std::uint64_t lock) {
  const PastEvent event = latest(thread);
  Section& section = sections_of(locks_[lock_index(lock)], thread)->list.back();
  section.release = event.time;
  section.version = event.version;
}

void SyncpHistory::include_past(const PastEvent& event, VectorClock& set) const {
  const Thread& thread = threads_[raw(event.thread)];
  // Of a forgotten state the oldest one left is a superset, which is what forgetting may cost.
  const std::uint32_t state = event.version - std::min(event.version, thread.first_version);
  const auto& clock = thread.states[state].clock;
  if (const VectorClock* known = std::get_if<VectorClock>(&clock)) {
    set.join(*known);
  } else {
    std::get<PackedClock>(clock).join_to(set);
  }
  if (set[event.thread] + 1 < event.time) {
    set.set(event.thread, event.time - 1);
  }
}

const VectorClock& SyncpHistory::closure(ThreadId thread) {
  Thread& t = of(thread);
  if (t.closure_segment != t.segment) {
    t.closure_segment = t.segment;
    const VectorClock closed = t.closure;
    t.closure.join(t.clock);
    saturate(t.closure, closed, thread, std::numeric_limits<Time>::max());
  }
  return t.closure;
}

bool SyncpHistory::saturate(VectorClock& set, const VectorClock& closed, ThreadId thread, Time time) {
  ++closures_;
  done_ = closed;
  for (;;) {
    if (set[thread] >= time) {
      return false;
    }
    ++round_;
    touched_.clear();
    touch_new_sections(set);
    if (touched_.empty()) {
      return true;
    }
    for (const std::uint32_t lock : touched_) {
      settle(locks_[lock], set);
    }
  }
}

void SyncpHistory::touch(std::uint32_t lock) {
  // A lock that one thread takes asks for nothing.
  if (locks_[lock].touched != round_ && locks_[lock].by_thread.size() > 1) {
    locks_[lock].touched = round_;
    touched_.push_back(lock);
    ++locks_visited_;
  }
}

// Puts the locks of acquires that came into the set since done_ on the list.
void SyncpHistory::touch_new_sections(const VectorClock& set) {
  for (std::uint32_t i = 0; i < threads_.size(); ++i) {
    const ThreadId thread{i};
    const Time from = done_[thread];
    const Time to = set[thread];
    if (from >= to) {
      continue;
    }
    done_.set(thread, to);
    const Thread& t = threads_[i];
    const auto before = [](Time time, const Acquire& acquire) { return time < acquire.time; };
    const auto first = std::upper_bound(t.acquires.begin(), t.acquires.end(), from, before);
    const auto last = std::upper_bound(first, t.acquires.end(), to, before);
    // Forgotten acquires are no longer known one by one; many need not be looked at one by one.
    if (from < forgotten_[thread] || static_cast<std::size_t>(last - first) > t.locks.size()) {
      for (const std::uint32_t lock : t.locks) {
        touch(lock);
      }
      continue;
    }
    for (auto it = first; it != last; ++it) {
      touch(it->lock);
    }
  }
}

const SyncpHistory::Section* SyncpHistory::latest(const Sections& sections, Time time) {
  const auto it = std::upper_bound(sections.list.begin(), sections.list.end(), time,
                                   [](Time t, const Section& section) { return t < section.acquire; });
  return it == sections.list.begin() ? nullptr : &*std::prev(it);
}

// Applies the rule to the sections of one lock. Only the latest section of a thread in the set can lack its release.
void SyncpHistory::settle(const Lock& lock, VectorClock& set) {
  std::uint64_t last = 0;
  std::uint64_t last_exclusive = 0;
  candidates_.clear();
  for (const Sections& sections : lock.by_thread) {
    const Section* section = latest(sections, set[sections.thread]);
    candidates_.push_back(section);
    if (section != nullptr) {
      last = std::max(last, section->order);
      last_exclusive = std::max(last_exclusive, section->exclusive_order);
    }
  }
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    const Section* section = candidates_[i];
    const ThreadId thread = lock.by_thread[i].thread;
    if (section == nullptr || section->order >= (section->exclusive ? last : last_exclusive) ||
        (section->release != 0 && section->release <= set[thread])) {
      continue;
    }
    include_past({thread, section->release, section->version}, set);
    set.set(thread, std::max(set[thread], section->release));
  }
}

void SyncpHistory::LatestTwo::add(ThreadId by, std::uint64_t number) {
  if (number > order) {
    next_order = by == thread ? next_order : order;
    order = number;
    thread = by;
  } else if (by != thread) {
    next_order = std::max(next_order, number);
  }
}

const SyncpHistory::KnownSections& SyncpHistory::known_sections(ThreadId thread, std::uint32_t lock) {
  if (known_sections_.size() > kMostKnownSections) {
    known_sections_.clear();
  }
  KnownSections& known = known_sections_[std::uint64_t{raw(thread)} << 32 | lock];
  const VectorClock& set = closure(thread);
  if (known.segment != of(thread).segment) {
    known = {of(thread).segment, {}, {}};
    for (const Sections& sections : locks_[lock].by_thread) {
      if (const Section* section = latest(sections, set[sections.thread])) {
        known.any.add(sections.thread, section->order);
        known.exclusive.add(sections.thread, section->exclusive_order);
      }
    }
  }
  return known;
}

bool SyncpHistory::overtaken(ThreadId knower, ThreadId thread, Time time, std::uint64_t lock) {
  const std::uint32_t index = *lock_ids_.find(lock) - 1;
  const Lock& users = locks_[index];
  const Section& own = *latest(users.by_thread[users.index[raw(thread)] - 1], time);
  const KnownSections& known = known_sections(knower, index);
  return own.order < (own.exclusive ? known.any : known.exclusive).without(thread);
}

void SyncpHistory::begin_idle_period() {
  for (std::uint32_t i = 0; i < threads_.size(); ++i) {
    threads_[i].idle_since = threads_[i].clock[ThreadId{i}];  // of one that has ended it does not matter
  }
}

void SyncpHistory::forget_common_past(Idle idle) {
  std::vector<const Thread*> running;
  for (std::uint32_t i = 0; i < threads_.size(); ++i) {
    const Thread& thread = threads_[i];
    const bool skipped = idle == Idle::kIsSkipped && thread.clock[ThreadId{i}] == thread.idle_since;
    if (!thread.ended && !skipped) {
      running.push_back(&thread);
    }
  }
  if (running.empty()) {
    return;
  }
  for (std::uint32_t i = 0; i < threads_.size(); ++i) {
    Time common = std::numeric_limits<Time>::max();
    for (const Thread* thread : running) {
      common = std::min(common, thread->clock[ThreadId{i}]);
    }
    forgotten_.set(ThreadId{i}, std::max(common, forgotten_[ThreadId{i}]));
  }
  for (std::uint32_t i = 0; i < threads_.size(); ++i) {
    if (!threads_[i].packed) {
      learn(ThreadId{i}, forgotten_);
    }
  }
  for (std::uint32_t i = 0; i < threads_.size(); ++i) {
    trim(threads_[i], forgotten_[ThreadId{i}]);
  }
  for (Lock& lock : locks_) {
    for (Sections& sections : lock.by_thread) {
      trim(sections, forgotten_[sections.thread]);
    }
  }
}

// Drops states that only events up to `time` have, and acquires up to it.
void SyncpHistory::trim(Thread& thread, Time time) {
  while (thread.states.size() > 1 && thread.states[1].from <= time) {
    size_ -= size_of(thread.states.front());
    thread.states.pop_front();
    ++thread.first_version;
  }
  while (!thread.acquires.empty() && thread.acquires.front().time <= time) {
    thread.acquires.pop_front();
    --size_;
  }
}

// The latest section up to `time` stays: it may be the one that lacks its release.
void SyncpHistory::trim(Sections& sections, Time time) {
  const Section* kept = latest(sections, time);
  if (kept != nullptr) {
    const std::ptrdiff_t count = kept - sections.list.data();
    sections.list.erase(sections.list.begin(), sections.list.begin() + count);
    size_ -= static_cast<std::size_t>(count);
  }
}

}  // namespace sooth
