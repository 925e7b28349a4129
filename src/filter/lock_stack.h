// The locks that one thread holds, cheap for threads that take the same locks over and over.
#pragma once

#include <cstdint>
#include <vector>

#include "order/lock_set.h"

namespace sooth {

// LockSets (order/lock_set.h) knows the interned set after every lock event, by two lookups each. A filter pays that on
// top of the detectors behind it, which do the same, and asks only at accesses. So this keeps the path of the trie that
// the thread is on: the locks in order of acquisition, each with the set of all up to it. Releasing leaves the entries
// where they are, and acquiring the same lock at the same place again finds its entry: then nothing is looked up at
// all. Locks may be released in any order; an entry below others becomes a hole until all above it are released too.
class LockStack {
 public:
  // A lock on the stack. `note` is the caller's, about the lock; 0 when the entry is new.
  struct Entry {
    LockMode mode;
    std::uint32_t depth = 0;  // acquires not yet released; 0: not held
    LockSetId set{};          // of this and all entries below, if all are held
    std::uint32_t note = 0;
  };

  // The entry when the event opens a section (acquire) or closes one (release), nullptr when it only nests in one.
  // Lasts until the next acquire.
  [[gnu::always_inline]] Entry* acquire(std::uint64_t lock, bool shared) {
    if (top_ < reusable_ && held_ == top_ && entries_[top_].mode == LockMode{lock, shared}) [[likely]] {
      // It stood above the same locks before, so it is none of them.
      entries_[top_].depth = 1;
      ++held_;
      return &entries_[top_++];
    }
    return acquire_anew(lock, shared);
  }
  [[gnu::always_inline]] Entry* release(std::uint64_t lock) {
    if (held_ == top_ && top_ > 0 && entries_[top_ - 1].mode.lock == lock) [[likely]] {
      Entry& entry = entries_[top_ - 1];
      if (--entry.depth > 0) {
        return nullptr;
      }
      --top_;
      --held_;
      return &entry;
    }
    if (Entry& first = entries_[bottom_];
        held_ > 1 && first.mode.lock == lock && first.depth == 1 && entries_[bottom_ + 1].depth > 0) {
      // Locks are also released in the order in which they were acquired.
      first.depth = 0;
      --held_;
      ++bottom_;
      with_holes_ = kUnknown;
      return &first;
    }
    return release_below(lock);
  }

  bool empty() const { return held_ == 0; }
  void forget_notes() {
    for (Entry& entry : entries_) {
      entry.note = 0;
    }
  }

  // The locks held, in the table.
  LockSetId set(LockSetTable& table) {
    if (top_ == 0) {
      return kNoLocks;
    }
    if (held_ == top_ && entries_[top_ - 1].set != kUnknown) [[likely]] {
      return entries_[top_ - 1].set;
    }
    return held_ == top_ ? intern(table) : intern_with_holes(table);
  }

  std::uint64_t memory() const { return entries_.capacity() * sizeof(Entry); }

 private:
  static constexpr LockSetId kUnknown{~std::uint32_t{0}};

  Entry* acquire_anew(std::uint64_t lock, bool shared);
  Entry* release_below(std::uint64_t lock);
  LockSetId intern(LockSetTable& table);
  LockSetId intern_with_holes(LockSetTable& table);
  Entry* find_held(std::uint64_t lock);

  std::vector<Entry> entries_ = std::vector<Entry>(1);  // never empty
  std::uint32_t top_ = 0;                               // entries below it are held, or holes below others that are
  std::uint32_t held_ = 0;                              // how many are held; top_ when there are no holes
  std::uint32_t bottom_ = 0;         // the first that is held, if any is: locks are also released first in, first out
  std::uint32_t reusable_ = 0;       // entries below it were put there while all below them were held
  LockSetId with_holes_ = kUnknown;  // the set, while there are holes and it was asked for
};

}  // namespace sooth
