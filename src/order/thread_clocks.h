// One vector clock per thread, each with its own component started at 1.
#pragma once

#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "order/packed_clock.h"
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

  // The thread is over: who joins it still asks for its clock, but most likely nobody does. A clock that is asked for
  // is back.
  void rest(ThreadId thread) {
    if (raw(thread) < clocks_.size() && !clocks_[raw(thread)].empty()) {
      resting_[raw(thread)] = PackedClock(clocks_[raw(thread)]);
      clocks_[raw(thread)] = VectorClock();
    }
  }
  std::size_t memory() const {
    std::size_t bytes = clocks_.capacity() * sizeof(VectorClock) + resting_.memory();
    for (const VectorClock& clock : clocks_) {
      bytes += clock.times().size() * sizeof(Time);
    }
    resting_.for_each([&](std::uint64_t, const PackedClock& clock) { bytes += clock.memory(); });
    return bytes;
  }

 private:
  // A clock is empty until its thread is used: 10,000 threads need not have 10,000 components each from the start.
  [[gnu::noinline]] VectorClock& start(ThreadId thread) {
    if (raw(thread) >= clocks_.size()) {
      clocks_.resize(raw(thread) + 1);
    }
    if (const PackedClock* resting = resting_.find(raw(thread))) {
      clocks_[raw(thread)] = resting->unpack();
      resting_.erase(raw(thread));
    } else {
      clocks_[raw(thread)].set(thread, 1);
    }
    return clocks_[raw(thread)];
  }

  std::vector<VectorClock> clocks_;
  FlatMap<PackedClock> resting_;  // of threads whose clock is empty although they have one
};

}  // namespace sooth
