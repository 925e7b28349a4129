// The locks each thread holds, with re-entrancy: only the outermost acquire and the last release count.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/event.h"

namespace sooth {

struct HeldLock {
  std::uint64_t lock = 0;
  bool shared = false;  // mode of the outermost acquire
  std::uint32_t depth = 0;
};

class HeldLocks {
 public:
  // Whether the event opens a section (kAcquire), or closes one (kRelease), rather than nesting in it.
  // `section`, when given, receives the lock as it is or was held.
  bool acquire(const Event& e) {
    std::vector<HeldLock>& held = of(e.thread);
    for (HeldLock& lock : held) {
      if (lock.lock == e.object) {
        ++lock.depth;
        return false;
      }
    }
    held.push_back({e.object, is_shared(e), 1});
    return true;
  }
  bool release(const Event& e, HeldLock* section = nullptr) {
    std::vector<HeldLock>& held = of(e.thread);
    for (std::size_t i = held.size(); i-- > 0;) {
      if (held[i].lock == e.object) {
        if (section != nullptr) {
          *section = held[i];
        }
        if (--held[i].depth > 0) {
          return false;
        }
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(i));
        return true;
      }
    }
    return false;
  }

  // A thread of this number begins, and holds nothing.
  void restart(ThreadId thread) {
    if (raw(thread) < held_.size()) {
      held_[raw(thread)].clear();
    }
  }

  // In order of acquisition.
  std::vector<HeldLock>& of(ThreadId thread) {
    if (raw(thread) >= held_.size()) {
      held_.resize(raw(thread) + 1);
    }
    return held_[raw(thread)];
  }

 private:
  std::vector<std::vector<HeldLock>> held_;
};

}  // namespace sooth
