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

// Memory: what threads need that hold something, and four bytes for each of the others.
class HeldLocks {
 public:
  // Whether the event opens a section (kAcquire), or closes one (kRelease), rather than nesting in it.
  // `section`, when given, receives the lock as it is or was held.
  bool acquire(const Event& e) {
    std::vector<HeldLock>& held = of_holder(e.thread);
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
    if (!holds_any(e.thread)) {
      return false;
    }
    std::vector<HeldLock>& held = of_holder(e.thread);
    for (std::size_t i = held.size(); i-- > 0;) {
      if (held[i].lock == e.object) {
        if (section != nullptr) {
          *section = held[i];
        }
        if (--held[i].depth > 0) {
          return false;
        }
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(i));
        if (held.empty()) {
          give_back(e.thread);
        }
        return true;
      }
    }
    return false;
  }

  // A thread of this number begins, and holds nothing.
  void restart(ThreadId thread) {
    if (holds_any(thread)) {
      of_holder(thread).clear();
      give_back(thread);
    }
  }

  // In order of acquisition. Lasts until the next event.
  const std::vector<HeldLock>& of(ThreadId thread) const {
    return lists_[raw(thread) < places_.size() ? places_[raw(thread)] : kNothing];
  }

 private:
  static constexpr std::uint32_t kNothing = 0;  // lists_[0] is empty and stays so

  bool holds_any(ThreadId thread) const { return raw(thread) < places_.size() && places_[raw(thread)] != kNothing; }
  std::vector<HeldLock>& of_holder(ThreadId thread) {
    if (raw(thread) >= places_.size()) [[unlikely]] {
      places_.resize(raw(thread) + 1);
    }
    std::uint32_t& place = places_[raw(thread)];
    if (place == kNothing) {
      if (free_.empty()) {
        free_.push_back(static_cast<std::uint32_t>(lists_.size()));
        lists_.emplace_back();
      }
      place = free_.back();
      free_.pop_back();
    }
    return lists_[place];
  }
  // The list is empty, and keeps its memory for the next who needs one.
  void give_back(ThreadId thread) {
    free_.push_back(places_[raw(thread)]);
    places_[raw(thread)] = kNothing;
  }

  std::vector<std::uint32_t> places_;  // by thread: in lists_
  std::vector<std::vector<HeldLock>> lists_{1};
  std::vector<std::uint32_t> free_;  // places in lists_ that nobody has
};

}  // namespace sooth
