// Semaphores as the witness checker sees them: counters (docs/semantics.md section 7).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>

#include "trace/event.h"

namespace sooth {

// Which operations of a trace only change the count of their semaphore: those before something is allocated where it
// lies. Linear, apart from a logarithm for blocks that are allocated.
class WitnessSemaphores {
 public:
  // Every event once, in trace order: whether it is such an operation.
  bool add(const Event& e);
  // Of the operations so far: by how much the waits were ahead of the posts, at most. That much it held at first.
  std::uint64_t first_count(std::uint64_t semaphore) const;

 private:
  struct Semaphore {
    bool renewed = false;
    std::uint64_t count = 0, first = 0;
  };
  std::map<std::uint64_t, Semaphore> semaphores_;  // by address
};

// The counters while a sequence is acted out.
class SemaphoreCounts {
 public:
  explicit SemaphoreCounts(std::span<const Event> trace) : trace_(trace) {}

  // The next event of the sequence, one that counts. False: a wait that finds the semaphore at 0.
  bool pass(const Event& e);

 private:
  const std::span<const Event> trace_;
  std::unordered_map<std::uint64_t, std::int64_t> counts_;  // without what they held at first
  WitnessSemaphores all_;                                   // of the whole trace, once somebody has to know
  bool scanned_ = false;
};

}  // namespace sooth
