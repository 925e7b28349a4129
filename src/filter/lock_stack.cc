#include "filter/lock_stack.h"

#include <algorithm>

namespace sooth {

LockStack::Entry* LockStack::find_held(std::uint64_t lock) {
  for (std::uint32_t i = bottom_; i < top_; ++i) {
    if (entries_[i].mode.lock == lock && entries_[i].depth > 0) {
      return &entries_[i];
    }
  }
  return nullptr;
}

LockStack::Entry* LockStack::acquire_anew(std::uint64_t lock, bool shared) {
  if (Entry* held = find_held(lock)) {
    ++held->depth;
    return nullptr;
  }
  if (top_ == entries_.size()) {
    entries_.emplace_back();
  }
  entries_[top_] = {{lock, shared}, 1, kUnknown, 0};
  // Above a hole it may be the very lock of the hole: the entry is only good for this time.
  reusable_ = held_ == top_ ? top_ + 1 : std::min(reusable_, top_);
  with_holes_ = kUnknown;
  ++held_;
  return &entries_[top_++];
}

LockStack::Entry* LockStack::release_below(std::uint64_t lock) {
  Entry* entry = find_held(lock);
  if (entry == nullptr || --entry->depth > 0) {
    return nullptr;
  }
  --held_;
  with_holes_ = kUnknown;
  if (held_ == 0) {
    top_ = bottom_ = 0;
    return entry;
  }
  while (entries_[top_ - 1].depth == 0) {
    --top_;
  }
  while (entries_[bottom_].depth == 0) {
    ++bottom_;
  }
  return entry;
}

LockSetId LockStack::intern(LockSetTable& table) {
  std::uint32_t known = top_;
  while (known > 0 && entries_[known - 1].set == kUnknown) {
    --known;
  }
  LockSetId set = known == 0 ? kNoLocks : entries_[known - 1].set;
  for (; known < top_; ++known) {
    set = table.with(set, entries_[known].mode);
    entries_[known].set = set;
  }
  return set;
}

LockSetId LockStack::intern_with_holes(LockSetTable& table) {
  if (with_holes_ == kUnknown) {
    with_holes_ = kNoLocks;
    for (std::uint32_t i = bottom_; i < top_; ++i) {
      with_holes_ = entries_[i].depth > 0 ? table.with(with_holes_, entries_[i].mode) : with_holes_;
    }
  }
  return with_holes_;
}

}  // namespace sooth
