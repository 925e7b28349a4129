// Who accessed a cell of memory: for each (thread, site, kind) the latest access.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "order/shadow_memory.h"
#include "race/pair_table.h"
#include "trace/event.h"

namespace sooth {

// Reads and writes, plain and atomic. Bit 0: writes; bit 1: atomic.
enum class AccessKind : std::uint8_t { kRead = 0, kWrite = 1, kAtomicRead = 2, kAtomicWrite = 3 };

// A table, because this is asked several times per access.
inline constexpr auto kKindOfOp = [] {
  std::array<AccessKind, kOpCount> kinds{};
  for (int op = 0; op < kOpCount; ++op) {
    kinds[static_cast<std::size_t>(op)] = AccessKind((is_write(Op(op)) ? 1 : 0) | (is_atomic(Op(op)) ? 2 : 0));
  }
  return kinds;
}();
constexpr AccessKind access_kind(Op op) { return kKindOfOp[raw(op)]; }
// docs/semantics.md section 1, for two accesses of different threads to the same byte.
constexpr bool conflict(AccessKind a, AccessKind b) {
  return ((raw(a) | raw(b)) & 1) != 0 && (raw(a) & raw(b) & 2) == 0;
}
// ... for two accesses to the same byte.
constexpr bool conflict(const Event& a, const Event& b) {
  return a.thread != b.thread && conflict(access_kind(a.op), access_kind(b.op));
}

// Local times of a thread never shrink, so for a given order between threads the latest access of each key is unordered
// with a later access whenever any of them is: keeping the latest one loses no site pair. Memory grows with the number
// of distinct keys, not with the trace.
//
// A hash table from (cell, key) to entries, which are also chained by cell and locks held: recording is one lookup, and
// only a cell in which a race is possible is walked, leaving out whole groups that a lock protects.
class AccessLog {
 public:
  // kByLocks: accesses with different locks held are kept apart, for analyses that compare lock sets.
  enum class Keys : std::uint8_t { kPlain, kByLocks };
  explicit AccessLog(Keys keys);

  // Remembers the access as the latest of its key.
  void record(CellId cell, const AccessRecord& access) {
    record_in(bucket_of(hash(cell, access.event), access.locks), cell, access);
  }

  // Of the parts of a key but the locks.
  static std::uint64_t hash(CellId cell, const Event& e) {
    return (std::uint64_t{raw(cell)} << 32 | site_kind(e)) * 0x9e3779b97f4a7c15u ^ raw(e.thread) * 0xc2b2ae3d27d4eb4fu;
  }

  // Where record() would look, computed ahead of time. `locks` is a guess of the locks held then.
  struct Place {
    std::uint64_t bucket = 0;
    std::size_t bucket_count = 0;
    LockSetId locks = kNoLocks;
  };
  Place place_of(CellId cell, const Event& e, LockSetId locks) const {
    return {bucket_of(hash(cell, e), locks), buckets_.size(), key_locks(locks)};
  }
  bool by_locks() const { return locks_mask_ != 0; }
  // Asks for the memory that record_at() touches first, and, some time later, next.
  void prefetch_bucket(const Place& place) const { __builtin_prefetch(&buckets_[place.bucket]); }
  void prefetch_entry(const Place& place) const { __builtin_prefetch(&entries_[buckets_[place.bucket]], 1); }
  // record(), starting from a place that may be out of date.
  void record_at(const Place& place, CellId cell, const AccessRecord& access) {
    const bool current = place.bucket_count == buckets_.size() && place.locks == key_locks(access.locks);
    if (current) [[likely]] {
      record_in(place.bucket, cell, access);
    } else {
      record(cell, access);
    }
  }

  // Calls visit(const AccessRecord&) for every key of the cell but those of groups for which skip(LockSetId) is true; in
  // no particular order. Without kByLocks there is one group, called kNoLocks.
  template <typename Skip, typename Visit>
  void walk(CellId cell, Skip&& skip, Visit&& visit) const {
    for (std::uint32_t g = heads_[raw(cell)]; g != kNone; g = groups_[g].next) {
      if (skip(groups_[g].locks)) {
        continue;
      }
      for (std::uint32_t i = groups_[g].first; i != kNone; i = entries_[i].next_in_group) {
        visit(entries_[i].access);
      }
    }
  }
  template <typename Visit>
  void walk(CellId cell, Visit&& visit) const {
    walk(cell, [](LockSetId) { return false; }, visit);
  }

  // The cell exists, with nothing recorded.
  void add_cell(CellId cell);
  void copy_cell(CellId from, CellId to);
  void drop_cell(CellId cell);

  std::size_t entry_count() const { return entry_count_; }

 private:
  static constexpr std::uint32_t kNone = 0;  // entries_[0] and groups_[0] are not used

  // One cache line.
  struct alignas(64) Entry {
    AccessRecord access;
    CellId cell{};
    std::uint32_t site_kind = 0;  // of the access, as in its key
    std::uint32_t next_in_group = kNone;
    std::uint32_t next_in_bucket = kNone;
  };
  static_assert(sizeof(Entry) == 64);

  // The entries of a cell with the same locks.
  struct Group {
    LockSetId locks{};
    std::uint32_t first = kNone;
    std::uint32_t next = kNone;
  };

  void record_in(std::uint64_t bucket, CellId cell, const AccessRecord& access) {
    const std::uint32_t key = site_kind(access.event);
    for (std::uint32_t i = buckets_[bucket]; i != kNone; i = entries_[i].next_in_bucket) {
      Entry& entry = entries_[i];
      // All at once: that one of several keys in a bucket differs in its first or in its last part is unpredictable.
      const std::uint32_t differs = (raw(entry.cell) ^ raw(cell)) | (entry.site_kind ^ key) |
                                    (raw(entry.access.event.thread) ^ raw(access.event.thread)) |
                                    ((raw(entry.access.locks) ^ raw(access.locks)) & locks_mask_);
      if (differs == 0) [[likely]] {
        entry.access = access;
        return;
      }
    }
    add(cell, access, bucket);
  }
  static std::uint32_t site_kind(const Event& e) { return raw(e.site) << 2 | raw(access_kind(e.op)); }
  LockSetId key_locks(LockSetId locks) const { return LockSetId{raw(locks) & locks_mask_}; }
  std::uint64_t bucket_of(std::uint64_t hash, LockSetId locks) const {
    return ((hash ^ raw(key_locks(locks)) * 0xd6e8feb86659fd93u) * 0x9e3779b97f4a7c15u) >> shift_;
  }
  void add(CellId cell, const AccessRecord& access, std::uint64_t bucket);
  std::uint32_t group_of(CellId cell, LockSetId locks);
  void unlink_from_bucket(std::uint32_t entry);
  void grow();

  std::uint32_t locks_mask_;
  unsigned shift_;
  std::vector<std::uint32_t> buckets_;  // a power of two, more than twice as many as entries
  std::vector<Entry> entries_{1};
  std::vector<Group> groups_{1};
  std::vector<std::uint32_t> heads_;        // by CellId: its groups
  std::uint32_t free_entry_ = kNone;        // dropped entries, chained by next_in_group
  std::uint32_t free_group_ = kNone;        // dropped groups, chained by next
  std::size_t entry_count_ = 0;
};

}  // namespace sooth
