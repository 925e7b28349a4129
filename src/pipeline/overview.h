// The recorded run at a glance, collected while the analyses read it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/flat_map.h"
#include "race/finding.h"
#include "trace/batch.h"
#include "trace/tables.h"

namespace sooth {

// A few additions per event and a lookup per acquire. Memory grows with the number of threads and locks.
class OverviewCollector {
 public:
  static constexpr std::size_t kSlices = 96;
  static constexpr std::size_t kMaxThreads = 64;
  static constexpr std::size_t kMaxLocks = 40;

  void consume(const Batch& batch);
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
    std::uint32_t events = 0;
    std::uint32_t first = 0, last = 0;
  };
  static constexpr std::uint64_t kMaxStretch = 1u << 16;

  // Events of one slice, at most kMaxStretch.
  void count(std::span<const Event> events);
  void count_acquire(const Event& e);
  // Moves recent_ into threads_.
  void settle(std::size_t count);
  void widen();
  std::vector<ThreadActivity> busiest_threads(const Tables& tables) const;

  std::uint64_t events_ = 0;
  std::uint64_t width_ = 1;  // events of a slice; doubles whenever the run outgrows the slices
  std::array<std::uint64_t, kOpCount> kinds_{};
  std::vector<Thread> threads_;
  std::vector<Recent> recent_;  // by thread
  FlatMap<Lock> locks_;
  std::vector<std::uint64_t> lock_order_;  // the keys of locks_, in the order of their first acquire
};

}  // namespace sooth
