// The recorded run at a glance, collected while the analyses read it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/flat_map.h"
#include "race/finding.h"
#include "trace/batch_outline.h"
#include "trace/tables.h"

namespace sooth {

// A few additions per event and a lookup per acquire. Memory grows with the number of locks and of threads that are alive
// together, and by four bytes for each thread.
class OverviewCollector {
 public:
  static constexpr std::size_t kSlices = 96;
  static constexpr std::size_t kMaxThreads = 64;
  static constexpr std::size_t kMaxLocks = 40;

  void consume(const Batch& batch) { consume(batch, BatchOutline(batch)); }
  void consume(const Batch& batch, const BatchOutline& outline);
  RunOverview overview(const Tables& tables) const;

 private:
  struct Slice {
    std::size_t number = 0;
    std::uint64_t events = 0;
  };
  struct Thread {
    std::uint64_t events = 0;
    EventId first{}, last{};
    std::vector<Slice> slices;  // those in which it had events: there may be thousands of threads that live for one
  };
  struct Lock {
    std::uint64_t acquires = 0;
    std::uint64_t handovers = 0;
    ThreadId last{};
  };

  // What a thread did in the stretch of events that is being counted; positions are in the stretch.
  struct Recent {
    std::uint32_t thread = 0;
    std::uint32_t events = 0;
    std::uint32_t first = 0, last = 0;
  };
  static constexpr std::uint64_t kMaxStretch = 1u << 16;

  // Events [first, end) of the batch, of one slice, and at most kMaxStretch. `run`: the first run that ends behind `first`;
  // it becomes that of `end`.
  void count_threads(const BatchOutline& outline, std::size_t first, std::size_t end, std::size_t& run);
  // `first`: where in the stretch it is, should it be new.
  Recent& recent_of(ThreadId thread, std::size_t first);
  void count_acquire(const Event& e);
  // Moves recent_ into threads_.
  void settle(std::size_t count);
  void widen();
  void note_end(const Event& e);
  // Of threads that are over only the busiest can ever be told about.
  void forget_idle();
  std::vector<ThreadActivity> busiest_threads(const Tables& tables) const;

  std::uint64_t events_ = 0;
  std::uint64_t width_ = 1;  // events of a slice; doubles whenever the run outgrows the slices
  std::array<std::uint64_t, kOpCount> kinds_{};
  FlatMap<Thread> threads_;           // by number
  std::vector<std::uint64_t> over_;   // numbers of threads that are over and may be in threads_; may repeat
  std::uint64_t thread_count_ = 0;    // all that had events
  std::vector<std::uint32_t> place_;  // by thread: in recent_, + 1; 0: it had no event yet in the stretch
  std::vector<Recent> recent_;        // of those that had
  FlatMap<Lock> locks_;
  std::vector<std::uint64_t> lock_order_;  // the keys of locks_, in the order of their first acquire
};

}  // namespace sooth
