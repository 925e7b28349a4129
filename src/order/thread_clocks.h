// One vector clock per thread, each with its own component started at 1.
#pragma once

#include <vector>

#include "order/vector_clock.h"

namespace sooth {

class ThreadClocks {
 public:
  // References last until a thread is used for the first time.
  VectorClock& of(ThreadId thread) {
    VectorClock* clock = clocks_.data() + raw(thread);
    if (clock < clocks_.data() + clocks_.size() && !clock->empty()) [[likely]] {
      return *clock;
    }
    return start(thread);
  }
  Time time(ThreadId thread) { return of(thread)[thread]; }
  // Later events of the thread are not known to whoever has the clock as it is now.
  void advance(ThreadId thread) {
    VectorClock& clock = of(thread);
    clock.set(thread, clock[thread] + 1);
  }

 private:
  // A clock is empty until its thread is used: 10,000 threads need not have 10,000 components each from the start.
  [[gnu::noinline]] VectorClock& start(ThreadId thread) {
    if (raw(thread) >= clocks_.size()) {
      clocks_.resize(raw(thread) + 1);
    }
    clocks_[raw(thread)].set(thread, 1);
    return clocks_[raw(thread)];
  }

  std::vector<VectorClock> clocks_;
};

}  // namespace sooth
