// Vector clocks over dense thread ids, and epochs: one component of such a clock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/event.h"

namespace sooth {

// Local time of a thread. 0: before its first event. It advances at releases and other outgoing edges only, so 32 bits
// hold traces with 4 billion of those per thread.
using Time = std::uint32_t;

// A thread and its local time in one word. The default is no event at all, which is ordered before everything.
class Epoch {
 public:
  constexpr Epoch() = default;
  constexpr Epoch(ThreadId thread, Time time) : bits_(std::uint64_t{raw(thread)} << 32 | time) {}

  constexpr ThreadId thread() const { return ThreadId(bits_ >> 32); }
  constexpr Time time() const { return static_cast<Time>(bits_); }

  friend constexpr bool operator==(Epoch, Epoch) = default;

 private:
  std::uint64_t bits_ = 0;
};

class VectorClock;

// A clock looked at many times while it does not change: bounds in registers. Valid until the clock changes.
class ClockView {
 public:
  ClockView() = default;
  inline explicit ClockView(const VectorClock& clock);

  Time operator[](ThreadId thread) const {
    const std::size_t i = raw(thread);
    return i < size_ ? times_[i] : 0;
  }
  bool knows(Epoch epoch) const { return epoch.time() <= (*this)[epoch.thread()]; }
  // operator[] without a branch, of a clock that is not empty: where it is as likely as not that the clock ends before
  // the thread, the branch costs more than all the rest.
  Time at(ThreadId thread) const {
    const std::size_t i = raw(thread);
    const std::size_t inside = std::size_t{0} - (i < size_ ? 1u : 0u);
    return times_[i & inside] & static_cast<Time>(inside);
  }
  inline bool covers(const VectorClock& other) const;

 private:
  const VectorClock* clock_ = nullptr;
  const Time* times_ = nullptr;
  std::size_t size_ = 0;
};

// Components of threads that were never set are 0 and take no memory.
class VectorClock {
 public:
  Time operator[](ThreadId thread) const {
    const std::size_t i = raw(thread);
    return i < times_.size() ? times_[i] : 0;
  }
  void set(ThreadId thread, Time time) {
    const std::size_t i = raw(thread);
    if (i >= times_.size()) {
      times_.resize(i + 1);
    }
    times_[i] = time;
  }
  // The component-wise maximum.
  void join(const VectorClock& other) {
    if (times_.size() < other.times_.size()) {
      times_.resize(other.times_.size());
    }
    Time* mine = times_.data();
    const Time* theirs = other.times_.data();
    const std::size_t count = other.times_.size();
    for (std::size_t i = 0; i < count; ++i) {
      mine[i] = std::max(mine[i], theirs[i]);
    }
  }
  // The same with a clock that has `time` for the threads from `begin` to `end` and knows nothing else.
  void join_run(std::size_t begin, std::size_t end, Time time) {
    if (times_.size() < end) {
      times_.resize(end);
    }
    for (std::size_t i = begin; i < end; ++i) {
      times_[i] = std::max(times_[i], time);
    }
  }
  // Whoever has this clock knows everything that `other` knows.
  bool covers(const VectorClock& other) const { return covered(other, *this, *this); }
  // Everything that `times` knows is known to `a` or to `b`, each component for itself.
  static bool covered(const VectorClock& times, const VectorClock& a, const VectorClock& b) {
    const std::size_t common = std::min({times.times_.size(), a.times_.size(), b.times_.size()});
    const Time* t = times.times_.data();
    const Time* x = a.times_.data();
    const Time* y = b.times_.data();
    // Without an early exit, so that it vectorises.
    unsigned beyond = 0;
    for (std::size_t i = 0; i < common; ++i) {
      beyond |= t[i] > std::max(x[i], y[i]) ? 1u : 0u;
    }
    for (std::size_t i = common; i < times.times_.size(); ++i) {
      beyond |= t[i] > std::max(a[ThreadId(i)], b[ThreadId(i)]) ? 1u : 0u;
    }
    return beyond == 0;
  }
  // The event at `epoch` is ordered before whoever has this clock.
  bool knows(Epoch epoch) const { return epoch.time() <= (*this)[epoch.thread()]; }
  // What the clock knows of others than `thread`, with no components behind the last that it knows anything of: short
  // where a thread with a large number knows few others.
  VectorClock of_others(ThreadId thread) const {
    std::size_t end = times_.size();
    while (end > 0 && (end - 1 == raw(thread) || times_[end - 1] == 0)) {
      --end;
    }
    VectorClock others;
    others.times_.assign(times_.begin(), times_.begin() + static_cast<std::ptrdiff_t>(end));
    if (raw(thread) < end) {
      others.times_[raw(thread)] = 0;
    }
    return others;
  }
  bool empty() const { return times_.empty(); }
  void clear() { times_.clear(); }
  // By thread; those behind the end are 0.
  std::span<const Time> times() const { return times_; }

 private:
  friend class ClockView;
  std::vector<Time> times_;
};

ClockView::ClockView(const VectorClock& clock)
    : clock_(&clock), times_(clock.times_.data()), size_(clock.times_.size()) {}
bool ClockView::covers(const VectorClock& other) const { return clock_->covers(other); }

}  // namespace sooth
