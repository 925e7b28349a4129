// Sets of locks, interned: equal sets have equal ids.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/flat_map.h"
#include "base/ids.h"
#include "order/held_locks.h"

namespace sooth {

// A lock in a set, with the mode it is held in.
struct LockMode {
  std::uint64_t lock = 0;
  bool shared = false;

  friend auto operator<=>(const LockMode&, const LockMode&) = default;
};

class LockSetTable {
 public:
  LockSetTable();

  // The set with one lock more or less. Looked up, once a pair of set and lock was seen.
  LockSetId with(LockSetId set, LockMode lock);
  LockSetId without(LockSetId set, std::uint64_t lock);
  // In order of lock.
  const std::vector<LockMode>& locks(LockSetId set) const { return sets_[raw(set)]; }
  // The locks held exclusively.
  LockSetId exclusive(LockSetId set) const { return exclusive_[raw(set)]; }
  // The locks of both sets, held shared when either holds it shared.
  LockSetId intersect(LockSetId a, LockSetId b);
  // Whether some lock is in both and one of the two holds it exclusively: docs/semantics.md section 2.
  bool protects(LockSetId a, LockSetId b) const;
  // Whether some lock is in both, whatever the modes.
  bool overlap(LockSetId a, LockSetId b) { return intersect(a, b) != kNoLocks; }

  std::size_t size() const { return sets_.size(); }

 private:
  LockSetId intern_sorted(std::vector<LockMode> locks);

  std::vector<std::vector<LockMode>> sets_;
  std::vector<LockSetId> exclusive_;
  // By set: where adding a lock exclusively, adding it shared, and removing it lead; id + 1.
  struct Steps {
    FlatMap<std::uint32_t> add[2];
    FlatMap<std::uint32_t> remove;
  };
  std::vector<Steps> steps_;
  std::map<std::vector<LockMode>, LockSetId> index_;
  FlatMap<LockSetId> common_;  // by smaller id << 32 | larger id
};

// The current set of every thread, kept up to date from its lock events. Memory: what those threads need that hold
// something, and eight bytes for each of the others.
class LockSets {
 public:
  // Constant time but for the first time a set is seen.
  // Whether the event opens or closes a section; see HeldLocks.
  bool acquire(const Event& e) {
    if (!held_.acquire(e)) {
      return false;
    }
    LockSetId& set = slot(e.thread);
    set = table_.with(set, {e.object, is_shared(e)});
    return true;
  }
  bool release(const Event& e, HeldLock* section = nullptr) {
    if (!held_.release(e, section)) {
      return false;
    }
    LockSetId& set = slot(e.thread);
    set = table_.without(set, e.object);
    return true;
  }
  // A thread of this number begins, and holds nothing.
  void restart(ThreadId thread) {
    held_.restart(thread);
    if (raw(thread) < current_.size()) {
      current_[raw(thread)] = kNoLocks;
    }
  }
  LockSetId of(ThreadId thread) const { return raw(thread) < current_.size() ? current_[raw(thread)] : kNoLocks; }
  LockSetTable& table() { return table_; }
  const LockSetTable& table() const { return table_; }

 private:
  LockSetId& slot(ThreadId thread) {
    if (raw(thread) >= current_.size()) {
      current_.resize(raw(thread) + 1);
    }
    return current_[raw(thread)];
  }

  HeldLocks held_;
  LockSetTable table_;
  std::vector<LockSetId> current_;
};

}  // namespace sooth
