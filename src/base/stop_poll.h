// How work that takes long finds out that its time is over: it asks at every step, and the clock is looked at now and
// then.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>

namespace sooth {

// Of one piece of work in one thread. Once the answer is "stop" it stays so: whoever finds `stopped()` afterwards knows
// that what the work returned may be half of it, and is never to be taken for a "no".
class StopPoll {
 public:
  // Steps, each of some ten nanoseconds, between two looks at the clock.
  static constexpr std::uint64_t kStride = 2048;

  // Never stops.
  StopPoll() = default;
  // `out_of_time` must outlive it; empty: never stops. The clock of tests is such a function, too.
  explicit StopPoll(const std::function<bool()>& out_of_time)
      : out_of_time_(out_of_time ? &out_of_time : nullptr), left_(out_of_time ? 0 : kForEver) {}

  // Before work of so many steps: whether not to begin it. Looks at the clock at the first call, too.
  bool stop(std::uint64_t steps = 1) {
    if (steps < left_) {
      left_ -= steps;
      return false;
    }
    return look();
  }
  bool stopped() const { return stopped_; }

 private:
  static constexpr std::uint64_t kForEver = std::numeric_limits<std::uint64_t>::max();

  bool look() {
    stopped_ = stopped_ || (out_of_time_ != nullptr && (*out_of_time_)());
    left_ = stopped_ ? 0 : out_of_time_ != nullptr ? kStride : kForEver;
    return stopped_;
  }

  const std::function<bool()>* out_of_time_ = nullptr;
  std::uint64_t left_ = kForEver;
  bool stopped_ = false;
};

// For code that may be called without one.
inline bool stops(StopPoll* poll, std::uint64_t steps = 1) { return poll != nullptr && poll->stop(steps); }
inline bool stopped(const StopPoll* poll) { return poll != nullptr && poll->stopped(); }

}  // namespace sooth
