// Who holds which lock at a point of a witness.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "base/flat_map.h"
#include "trace/event.h"

namespace sooth {

// A hold from its outermost acquire on, whose mode it has.
struct LockHold {
  ThreadId thread{};
  std::uint32_t since = 0;  // that acquire
  std::uint32_t depth = 0;
  bool shared = false;
};

class WitnessLocks {
 public:
  // nullptr when the thread does not hold the lock.
  const LockHold* hold(ThreadId thread, std::uint64_t lock) const {
    return raw(thread) < threads_.size() ? threads_[raw(thread)].find(lock) : nullptr;
  }

  // A hold by another thread that keeps the acquire `e` waiting. Whoever holds a lock may acquire it again.
  std::optional<LockHold> blocker(const Event& e) const;
  // Whether somebody, the thread itself included, holds the lock in a mode that excludes that of `e`.
  bool is_held_against(const Event& e) const;
  // Only when nothing blocks it.
  void acquire(std::uint32_t id, const Event& e);
  // Whether the thread held the lock.
  bool release(const Event& e);

 private:
  struct Holders {
    std::uint32_t exclusive = 0;
    std::uint32_t shared = 0;
  };

  std::vector<FlatMap<LockHold>> threads_;  // by lock
  FlatMap<Holders> locks_;
};

// The failed acquires of a trace, or of its prefix, that it explains: somebody holds the lock there. Whoever held it at
// the others is not in the trace.
std::unordered_set<std::uint32_t> explained_failures(std::span<const Event> trace);

}  // namespace sooth
