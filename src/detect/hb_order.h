// Happens-before of the recorded run as vector clocks: docs/semantics.md section 4.
#pragma once

#include "base/flat_map.h"
#include "order/held_locks.h"
#include "order/must_order.h"
#include "order/thread_clocks.h"

namespace sooth {

// Follows everything that orders; accesses are the business of whoever asks for clocks. For an event that is both, an
// atomic access, call incoming(), look at the clock, then call outgoing().
//
// Locks is HeldLocks, or LockSets for whoever wants to know the sets, too.
template <typename Locks>
class HbOrder {
 public:
  HbOrder() : must_order_(*this) {}
  HbOrder(const HbOrder&) = delete;
  HbOrder& operator=(const HbOrder&) = delete;

  // What the thread knows. References last until a thread is used for the first time.
  const VectorClock& clock(ThreadId thread) { return clocks_.of(thread); }
  Locks& locks() { return locks_; }
  const Locks& locks() const { return locks_; }

  void incoming(const Event& e) { must_order_.incoming(e); }
  void outgoing(const Event& e) { must_order_.outgoing(e); }

  void acquire(const Event& e) {
    const Released* lock = locks_.acquire(e) ? released_.find(e.object) : nullptr;
    if (lock == nullptr) {
      return;
    }
    VectorClock& own = clocks_.of(e.thread);
    if (lock->releaser != e.thread) {
      own.join(lock->exclusive);
    }
    if (!is_shared(e)) {
      own.join(lock->shared);
    }
  }

  void release(const Event& e) {
    HeldLock section;
    if (!locks_.release(e, &section)) {
      return;
    }
    Released& lock = released_[e.object];
    if (section.shared) {
      lock.shared.join(clocks_.of(e.thread));
    } else {
      lock.exclusive = clocks_.of(e.thread);
      lock.releaser = e.thread;
      lock.shared.clear();  // the section came after them all
    }
    clocks_.advance(e.thread);
  }

  // Whether all sections of the lock that have ended happen before what the thread does next.
  bool knows_sections(ThreadId thread, std::uint64_t lock) {
    const Released* released = released_.find(lock);
    const VectorClock& own = clocks_.of(thread);
    return released == nullptr || (own.covers(released->exclusive) && own.covers(released->shared));
  }

  // The thread is over: its clock is packed until somebody asks for it.
  void rest(ThreadId thread) { clocks_.rest(thread); }

  // MustOrder's host.
  const VectorClock& current(ThreadId thread) { return clocks_.of(thread); }
  void sent(ThreadId thread) { clocks_.advance(thread); }
  void restart(ThreadId thread) { locks_.restart(thread); }
  void receive(ThreadId thread, const VectorClock& message) { clocks_.of(thread).join(message); }

 private:
  // What the releases of a lock say to later acquires.
  struct Released {
    VectorClock exclusive;  // the latest exclusive release
    VectorClock shared;     // shared releases since
    ThreadId releaser{};    // whose release `exclusive` is
  };

  ThreadClocks clocks_;
  Locks locks_;
  FlatMap<Released> released_;  // by lock
  MustOrder<HbOrder, VectorClock> must_order_;
};

}  // namespace sooth
