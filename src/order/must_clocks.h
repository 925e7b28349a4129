// What must come before what, in any schedule: forks, joins and the like, not locks.
#pragma once

#include "order/must_order.h"
#include "order/thread_clocks.h"
#include "order/vector_clock.h"
#include "trace/event.h"

namespace sooth {

// A clock for each thread, by MustOrder.
class MustClocks {
 public:
  MustClocks() : order_(*this) {}

  Epoch now(ThreadId thread) { return {thread, clocks_.time(thread)}; }
  bool knows(ThreadId thread, Epoch earlier) { return clocks_.of(thread).knows(earlier); }
  void learn(const Event& event) {
    order_.incoming(event);
    order_.outgoing(event);
    if (event.op == Op::kEnd) {
      clocks_.rest(event.thread);
    } else if (event.op == Op::kJoin) {
      clocks_.rest(static_cast<ThreadId>(event.object));  // it was asked for once more
    }
  }

  // MustOrder's host.
  const VectorClock& current(ThreadId thread) { return clocks_.of(thread); }
  void sent(ThreadId thread) { clocks_.advance(thread); }
  void receive(ThreadId thread, const VectorClock& message) { clocks_.of(thread).join(message); }

 private:
  ThreadClocks clocks_;
  MustOrder<MustClocks, VectorClock> order_;
};

}  // namespace sooth
