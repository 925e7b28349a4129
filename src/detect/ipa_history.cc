#include "detect/ipa_history.h"

#include <algorithm>
#include <utility>

#include "order/role.h"

namespace sooth {
namespace {

// The first of `positions`, which ascend, from `from` on.
LockPosition first_from(const std::vector<LockPosition>& positions, LockPosition from) {
  const auto it = std::lower_bound(positions.begin(), positions.end(), from);
  return it == positions.end() ? kNever : *it;
}

LockPosition last_before(const std::vector<LockPosition>& positions, LockPosition before) {
  const auto it = std::lower_bound(positions.begin(), positions.end(), before);
  return it == positions.begin() ? kNever : *(it - 1);
}

void forget_before(std::vector<LockPosition>& positions, LockPosition base) {
  positions.erase(positions.begin(), std::lower_bound(positions.begin(), positions.end(), base));
}

}  // namespace

const LockHistories::Lane LockHistories::kEmptyLane;

void LockHistories::step(const Event& e, EventId id, StackId stack) {
  now_ = id;
  lane(e.thread).last = id;
  const LockSetId held = locks_.of(e.thread);
  switch (role_of(e.op)) {
    case Role::kAcquire:
      if (locks_.acquire(e)) {
        add_step(e, id, stack, held, true, is_shared(e));
      }
      return;
    case Role::kRelease:
      if (HeldLock section; locks_.release(e, &section)) {
        add_step(e, id, stack, held, false, section.shared);
      }
      return;
    case Role::kAlloc:
    case Role::kEdge:
    case Role::kAccess:
    case Role::kFree: must_order_.incoming(e); return must_order_.outgoing(e);
    case Role::kNone:
      if (e.op == Op::kEnd) {
        rest(e.thread);
      }
      return;
  }
}

void LockHistories::add_step(const Event& e, EventId id, StackId stack, LockSetId held, bool acquire, bool shared) {
  const Time time = clocks_.time(e.thread);
  Lane& mine = lane(e.thread);
  if (mine.snapshot == kNoClock) {
    mine.snapshot = pool_.add(clocks_.of(e.thread).of_others(e.thread));
  }
  pool_.hold(mine.snapshot);
  const LockPosition position = end(e.thread);
  Uses& uses = mine.uses[e.object];
  std::vector<LockPosition>& acquires = shared ? uses.shared : uses.exclusive;
  if (acquire) {
    acquires.push_back(position);
  } else {
    ++mine.releases;
    if (!acquires.empty()) {  // else it is forgotten
      mine.steps[acquires.back() - mine.base].release = position;
    }
  }
  mine.steps.push_back({e.object, id, time, mine.snapshot, held, kNever, e.site, stack, acquire, shared,
                        !acquire || may_wait_for_ever(e)});
  ++step_count_;
  tick(e.thread);
}

void LockHistories::tick(ThreadId thread) {
  clocks_.advance(thread);
  lane(thread).ticks.push_back(now_);
}

void LockHistories::receive(ThreadId thread, const VectorClock& message) {
  clocks_.of(thread).join(message);
  Lane& mine = lane(thread);
  pool_.drop(mine.snapshot);
  mine.snapshot = kNoClock;
}

void LockHistories::rest(ThreadId thread) {
  clocks_.rest(thread);
  pool_.drop(std::exchange(lane(thread).snapshot, kNoClock));
}

void LockHistories::trim(std::size_t keep) {
  for (Lane& lane : lanes_) {
    // Half as much again, so that a step is moved a constant number of times.
    if (lane.steps.size() > keep + keep / 2) {
      const std::size_t count = lane.steps.size() - keep;
      for (std::size_t i = 0; i < count; ++i) {
        pool_.drop(lane.steps[i].clock);
      }
      lane.known_from = std::max(lane.known_from, advance(lane.steps[count - 1].id, 1));
      lane.steps.erase(lane.steps.begin(), lane.steps.begin() + static_cast<std::ptrdiff_t>(count));
      lane.base += static_cast<LockPosition>(count);
      lane.uses.for_each([&](std::uint64_t, Uses& uses) {
        forget_before(uses.exclusive, lane.base);
        forget_before(uses.shared, lane.base);
      });
    }
    if (lane.ticks.size() > 4 * (keep + keep / 2)) {
      const std::size_t count = lane.ticks.size() - 4 * keep;
      lane.known_from = std::max(lane.known_from, advance(lane.ticks[count - 1], 1));
      lane.ticks.erase(lane.ticks.begin(), lane.ticks.begin() + static_cast<std::ptrdiff_t>(count));
      lane.first_tick += static_cast<Time>(count);
    }
  }
}

LockPosition LockHistories::position_at(ThreadId thread, EventId moment) const {
  const Lane& mine = lane(thread);
  const auto it = std::partition_point(mine.steps.begin(), mine.steps.end(),
                                       [&](const LockStep& step) { return step.id < moment; });
  return mine.base + static_cast<LockPosition>(it - mine.steps.begin());
}

LockPosition LockHistories::position_at_time(ThreadId thread, Time time) const {
  const Lane& mine = lane(thread);
  const auto it = std::partition_point(mine.steps.begin(), mine.steps.end(),
                                       [&](const LockStep& step) { return step.time < time; });
  return mine.base + static_cast<LockPosition>(it - mine.steps.begin());
}

LockPosition LockHistories::next_acquire(ThreadId thread, std::uint64_t lock, bool shared, LockPosition from) const {
  const Uses* uses = lane(thread).uses.find(lock);
  if (uses == nullptr) {
    return kNever;
  }
  const LockPosition exclusive = first_from(uses->exclusive, from);
  return shared ? exclusive : std::min(exclusive, first_from(uses->shared, from));
}

LockPosition LockHistories::last_acquire(ThreadId thread, std::uint64_t lock, bool shared, LockPosition before) const {
  const Uses* uses = lane(thread).uses.find(lock);
  if (uses == nullptr) {
    return kNever;
  }
  const LockPosition exclusive = last_before(uses->exclusive, before);
  const LockPosition other = shared ? kNever : last_before(uses->shared, before);
  return exclusive == kNever || (other != kNever && other > exclusive) ? other : exclusive;
}

bool LockHistories::known_before(const VectorClock& clock, ThreadId thread, EventId moment) const {
  const Time time = clock[thread];
  if (time == 0) {
    return true;
  }
  const Lane& theirs = lane(thread);
  if (!remembers(thread, moment)) {
    return false;
  }
  if (time < theirs.first_tick) {
    return true;
  }
  // A time that has not ended is known by a join only: to all that the thread did.
  const std::size_t tick = time - theirs.first_tick;
  return (tick < theirs.ticks.size() ? theirs.ticks[tick] : theirs.last) < moment;
}

}  // namespace sooth
