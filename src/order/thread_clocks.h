// One vector clock per thread, each with its own component started at 1.
#pragma once

#include <vector>

#include "order/vector_clock.h"

namespace sooth {

class ThreadClocks {
 public:
  // References last until a thread is used for the first time.
  VectorClock& of(ThreadId thread) {
    if (raw(thread) >= clocks_.size()) {
      clocks_.resize(raw(thread) + 1);
    }
    VectorClock& clock = clocks_[raw(thread)];
    if (clock[thread] == 0) {
      clock.set(thread, 1);
    }
    return clock;
  }
  Time time(ThreadId thread) { return of(thread)[thread]; }
  // Later events of the thread are not known to whoever has the clock as it is now.
  void advance(ThreadId thread) {
    VectorClock& clock = of(thread);
    clock.set(thread, clock[thread] + 1);
  }

 private:
  std::vector<VectorClock> clocks_;
};

}  // namespace sooth
