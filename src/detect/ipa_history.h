// Time-stamped lock histories: what each thread did with locks, and what it knew of the others when it did.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "base/flat_map.h"
#include "order/clock_pool.h"
#include "order/lock_set.h"
#include "order/must_order.h"
#include "order/thread_clocks.h"
#include "trace/event.h"

namespace sooth {

// How many lock steps a thread has made. A thread at position p makes step p next.
using LockPosition = std::uint32_t;
inline constexpr LockPosition kNever = std::numeric_limits<LockPosition>::max();

// The outermost acquire, or the last release, of a lock.
struct LockStep {
  std::uint64_t lock = 0;
  EventId id{};
  Time time = 0;                  // of its thread; no other step of the thread has it
  ClockId clock = kNoClock;       // what the thread knew of the others
  LockSetId held = kNoLocks;      // before the step
  LockPosition release = kNever;  // of an acquire: the step that ends the section
  SiteId site{};
  StackId stack = kNoStack;
  bool acquire = false;
  bool shared = false;  // mode of the section
  bool waits = true;    // of an acquire: for as long as it takes
};

// Whether a section of the one mode keeps out one of the other.
constexpr bool modes_exclude(bool shared, bool other_shared) { return !shared || !other_shared; }

// Histories of all threads, recorded from a trace in its order. The beginning of a history may be forgotten; positions
// keep their numbers. A local time ends with every lock step and every outgoing must-order edge, so that times tell
// lock positions apart.
class LockHistories {
 public:
  LockHistories() : must_order_(*this) {}
  LockHistories(const LockHistories&) = delete;
  LockHistories& operator=(const LockHistories&) = delete;

  // An event that is no access.
  void step(const Event& e, EventId id, StackId stack);
  // Around an access, for the edges of atomics. Plain accesses need begin_access() only.
  void begin_access(const Event& e, EventId id) {
    lane(e.thread).last = id;
    if (e.op > Op::kWrite) {
      now_ = id;
      must_order_.incoming(e);
    }
  }
  void end_access(const Event& e) { must_order_.outgoing(e); }

  // Forgets the oldest steps of every thread that has more than `keep`; calls for threads that have little are cheap.
  void trim(std::size_t keep);

  LockPosition first(ThreadId thread) const { return lane(thread).base; }
  LockPosition end(ThreadId thread) const {
    return lane(thread).base + static_cast<LockPosition>(lane(thread).steps.size());
  }
  // first() <= position < end().
  const LockStep& at(ThreadId thread, LockPosition position) const {
    const Lane& lane = lanes_[raw(thread)];
    return lane.steps[position - lane.base];
  }
  // Held at the position; first() <= position <= end().
  LockSetId held(ThreadId thread, LockPosition position) const {
    return position < end(thread) ? at(thread, position).held : locks_.of(thread);
  }
  // Nothing that the thread did since then is forgotten.
  bool remembers(ThreadId thread, EventId moment) const { return moment >= lane(thread).known_from; }
  // Where the thread was before the event `moment` happened; first() when that is forgotten.
  LockPosition position_at(ThreadId thread, EventId moment) const;
  // ... at its local time `time`.
  LockPosition position_at_time(ThreadId thread, Time time) const;
  // The first position from `from` on at which the thread acquires the lock in a mode that excludes `shared`; kNever.
  LockPosition next_acquire(ThreadId thread, std::uint64_t lock, bool shared, LockPosition from) const;
  // The last such position before `before`; kNever when there is none, or it is forgotten.
  LockPosition last_acquire(ThreadId thread, std::uint64_t lock, bool shared, LockPosition before) const;

  // What the thread knows at the latest when it leaves the position, whatever happens between the steps around it.
  const VectorClock& clock_at(ThreadId thread, LockPosition position) {
    return position < end(thread) ? pool_[at(thread, position).clock] : clocks_.of(thread);
  }
  // Must-order puts the step of `first` before that of `second`.
  bool precedes(ThreadId first, LockPosition p, ThreadId second, LockPosition q) const {
    return at(first, p).time <= pool_[at(second, q).clock][first];
  }
  // Everything that `clock` knows of the thread happened before the event `moment`. False when that is forgotten.
  bool known_before(const VectorClock& clock, ThreadId thread, EventId moment) const;

  const VectorClock& clock(ThreadId thread) { return clocks_.of(thread); }
  Time time(ThreadId thread) { return clocks_.time(thread); }
  LockSetId locks_of(ThreadId thread) const { return locks_.of(thread); }
  // Number of releases so far.
  std::uint32_t releases(ThreadId thread) const { return lane(thread).releases; }
  LockSetTable& lock_sets() { return locks_.table(); }
  const LockSetTable& lock_sets() const { return locks_.table(); }
  std::uint32_t thread_count() const { return static_cast<std::uint32_t>(lanes_.size()); }
  std::uint64_t step_count() const { return step_count_; }  // ever

  // MustOrder's host.
  const VectorClock& current(ThreadId thread) { return clocks_.of(thread); }
  void sent(ThreadId thread) { tick(thread); }
  void receive(ThreadId thread, const VectorClock& message);
  void rest(ThreadId thread);

 private:
  // Positions of acquires.
  struct Uses {
    std::vector<LockPosition> exclusive;
    std::vector<LockPosition> shared;
  };
  struct Lane {
    LockPosition base = 0;  // position of steps.front()
    std::vector<LockStep> steps;
    FlatMap<Uses> uses;           // by lock
    Time first_tick = 1;          // the local time that ended with ticks.front()
    std::vector<EventId> ticks;   // the events at which local times ended
    EventId last{};               // of the thread
    ClockId snapshot = kNoClock;  // what the clock knows of others; none: to be taken again
    std::uint32_t releases = 0;
    EventId known_from{};  // of the moments since then nothing is forgotten
  };

  Lane& lane(ThreadId thread) {
    if (raw(thread) >= lanes_.size()) {
      lanes_.resize(raw(thread) + 1);
    }
    return lanes_[raw(thread)];
  }
  const Lane& lane(ThreadId thread) const { return raw(thread) < lanes_.size() ? lanes_[raw(thread)] : kEmptyLane; }
  void add_step(const Event& e, EventId id, StackId stack, LockSetId held, bool acquire, bool shared);
  void tick(ThreadId thread);

  static const Lane kEmptyLane;

  ThreadClocks clocks_;
  LockSets locks_;
  ClockPool pool_;
  MustOrder<LockHistories, VectorClock> must_order_;
  std::vector<Lane> lanes_;  // by thread
  EventId now_{};
  std::uint64_t step_count_ = 0;
};

}  // namespace sooth
