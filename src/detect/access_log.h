// Who accessed a cell of memory: for each (thread, site, kind) the latest access.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "order/shadow_memory.h"
#include "race/pair_table.h"
#include "trace/event.h"

namespace sooth {

// Reads and writes, plain and atomic. Bit 0: writes; bit 1: atomic.
enum class AccessKind : std::uint8_t { kRead = 0, kWrite = 1, kAtomicRead = 2, kAtomicWrite = 3 };

constexpr AccessKind access_kind(Op op) {
  return AccessKind((is_write(op) ? 1 : 0) | (is_atomic(op) ? 2 : 0));
}
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
// A hash table from (cell, key) to entries that are also chained by cell: recording is one lookup, and only a cell in
// which a race is possible is walked.
class AccessLog {
 public:
  // kByLocks: accesses with different locks held are kept apart, for analyses that compare lock sets.
  enum class Keys : std::uint8_t { kPlain, kByLocks };
  explicit AccessLog(Keys keys) : locks_mask_(keys == Keys::kByLocks ? ~0u : 0u), buckets_(1u << 10) {}

  // Remembers the access as the latest of its key.
  void record(CellId cell, const AccessRecord& access) {
    const Key key = key_of(cell, access.event, access.locks);
    const std::uint64_t bucket = hash(key) & (buckets_.size() - 1);
    for (std::uint32_t i = buckets_[bucket]; i != kNone; i = entries_[i].next_in_bucket) {
      Entry& entry = entries_[i];
      if (entry.cell == cell && key_of(cell, entry.access.event, entry.access.locks) == key) {
        entry.access = access;
        return;
      }
    }
    add(cell, access, bucket);
  }

  // Calls visit(const AccessRecord&) for every key of the cell, in no particular order.
  template <typename Visit>
  void walk(CellId cell, Visit&& visit) const {
    for (std::uint32_t i = heads_[raw(cell)]; i != kNone; i = entries_[i].next_in_cell) {
      visit(entries_[i].access);
    }
  }

  // Asks for the memory that record() will touch first.
  void prefetch(CellId cell, const Event& e, LockSetId locks) const {
    __builtin_prefetch(&buckets_[hash(key_of(cell, e, locks)) & (buckets_.size() - 1)]);
  }
  // ... and, some time later, next.
  void prefetch_entry(CellId cell, const Event& e, LockSetId locks) const {
    __builtin_prefetch(&entries_[buckets_[hash(key_of(cell, e, locks)) & (buckets_.size() - 1)]], 1);
  }

  // The cell exists, with nothing recorded.
  void add_cell(CellId cell);
  void copy_cell(CellId from, CellId to);
  void drop_cell(CellId cell);

  std::size_t entry_count() const { return entry_count_; }

 private:
  static constexpr std::uint32_t kNone = 0;  // entries_[0] is not used

  // One cache line.
  struct alignas(64) Entry {
    AccessRecord access;
    CellId cell{};
    std::uint32_t next_in_cell = kNone;
    std::uint32_t next_in_bucket = kNone;
  };
  static_assert(sizeof(Entry) == 64);

  struct Key {
    std::uint64_t cell_site_kind;
    std::uint64_t thread_locks;
    friend bool operator==(const Key&, const Key&) = default;
  };

  Key key_of(CellId cell, const Event& e, LockSetId locks) const {
    return {std::uint64_t{raw(cell)} << 32 | (raw(e.site) << 2 | raw(access_kind(e.op))),
            std::uint64_t{raw(e.thread)} << 32 | (raw(locks) & locks_mask_)};
  }
  static std::uint64_t hash(const Key& key) {
    const std::uint64_t mixed =
        (key.cell_site_kind * 0x9e3779b97f4a7c15u ^ std::rotl(key.thread_locks * 0xc2b2ae3d27d4eb4fu, 32)) *
        0x9e3779b97f4a7c15u;
    return mixed >> 32 ^ mixed >> 12;
  }
  std::uint64_t bucket_of(const Entry& e) const {
    return hash(key_of(e.cell, e.access.event, e.access.locks)) & (buckets_.size() - 1);
  }

  void add(CellId cell, const AccessRecord& access, std::uint64_t bucket);
  void link_into_bucket(std::uint32_t entry);
  void unlink_from_bucket(std::uint32_t entry);
  void grow();

  std::uint32_t locks_mask_;
  std::vector<std::uint32_t> buckets_;  // a power of two, at least as many as entries
  std::vector<Entry> entries_{1};
  std::vector<std::uint32_t> heads_;    // by CellId
  std::uint32_t free_ = kNone;          // dropped entries, chained by next_in_cell
  std::size_t entry_count_ = 0;
};

}  // namespace sooth
