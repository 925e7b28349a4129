#include "race/witness_locks.h"

#include <algorithm>

namespace sooth {

std::unordered_set<std::uint32_t> explained_failures(std::span<const Event> trace) {
  std::unordered_set<std::uint32_t> explained;
  if (std::none_of(trace.begin(), trace.end(), [](const Event& e) { return e.op == Op::kAcquireFailed; })) {
    return explained;
  }
  WitnessLocks locks;
  for (std::uint32_t id = 0; id < trace.size(); ++id) {
    const Event& e = trace[id];
    if (e.op == Op::kAcquire) {
      locks.acquire(id, e);
    } else if (e.op == Op::kRelease) {
      locks.release(e);
    } else if (e.op == Op::kAcquireFailed && locks.is_held_against(e)) {
      explained.insert(id);
    }
  }
  return explained;
}

bool WitnessLocks::is_held_against(const Event& e) const {
  const Holders* holders = locks_.find(e.object);
  return holders != nullptr && (holders->exclusive != 0 || (holders->shared != 0 && !is_shared(e)));
}

std::optional<LockHold> WitnessLocks::blocker(const Event& e) const {
  if (!is_held_against(e) || hold(e.thread, e.object) != nullptr) {
    return std::nullopt;
  }
  for (const FlatMap<LockHold>& thread : threads_) {
    if (const LockHold* held = thread.find(e.object)) {
      return *held;
    }
  }
  return std::nullopt;
}

void WitnessLocks::acquire(std::uint32_t id, const Event& e) {
  if (raw(e.thread) >= threads_.size()) {
    threads_.resize(raw(e.thread) + 1);
  }
  LockHold& held = threads_[raw(e.thread)][e.object];
  if (held.depth++ == 0) {
    held = {e.thread, id, 1, is_shared(e)};
    Holders& holders = locks_[e.object];
    ++(held.shared ? holders.shared : holders.exclusive);
  }
}

bool WitnessLocks::release(const Event& e) {
  LockHold* held = raw(e.thread) < threads_.size() ? threads_[raw(e.thread)].find(e.object) : nullptr;
  if (held == nullptr) {
    return false;
  }
  if (--held->depth == 0) {
    Holders& holders = locks_[e.object];
    --(held->shared ? holders.shared : holders.exclusive);
    threads_[raw(e.thread)].erase(e.object);
  }
  return true;
}

}  // namespace sooth
