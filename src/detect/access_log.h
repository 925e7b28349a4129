// Who accessed a cell of memory: for each (thread, site, kind, context) the latest access.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "order/shadow_memory.h"
#include "order/vector_clock.h"
#include "trace/event.h"

namespace sooth {

// Reads and writes, plain and atomic. Bit 0: writes; bit 1: atomic.
enum class AccessKind : std::uint8_t { kRead = 0, kWrite = 1, kAtomicRead = 2, kAtomicWrite = 3 };

constexpr AccessKind access_kind(Op op) {
  return AccessKind((is_write(op) ? 1 : 0) | (is_atomic(op) ? 2 : 0));
}
constexpr bool writes(AccessKind kind) { return (raw(kind) & 1) != 0; }
constexpr bool atomic(AccessKind kind) { return (raw(kind) & 2) != 0; }
// docs/semantics.md section 1, for two accesses of different threads to the same byte.
constexpr bool conflict(AccessKind a, AccessKind b) {
  return ((raw(a) | raw(b)) & 1) != 0 && (raw(a) & raw(b) & 2) == 0;
}

// One access as detectors remember it. `context` is the detector's own (the set of locks held, or 0).
struct AccessRecord {
  ThreadId thread{};
  SiteId site{};
  AccessKind kind{};
  std::uint32_t context = 0;
  Time time = 0;       // local time of the thread
  EventId event{};
};

// Local times of a thread never shrink, so for a given order between threads the latest access of each key is unordered
// with a later access whenever any of them is: keeping the latest one loses no site pair. Memory grows with the number
// of distinct keys, not with the trace.
//
// A hash table from (cell, key) to entries that are also chained by cell: recording is one lookup, and only a cell in
// which a race is possible is walked.
class AccessLog {
 public:
  AccessLog() : buckets_(1u << 10) {}

  // Remembers the access as the latest of its key.
  void record(CellId cell, const AccessRecord& access) {
    const std::uint32_t site_kind = raw(access.site) << 2 | raw(access.kind);
    const std::uint64_t bucket = hash(cell, access.thread, site_kind, access.context) & (buckets_.size() - 1);
    for (std::uint32_t i = buckets_[bucket]; i != kNone; i = entries_[i].next_in_bucket) {
      Entry& entry = entries_[i];
      if (entry.cell == cell && entry.site_kind == site_kind && entry.thread == access.thread &&
          entry.context == access.context) {
        entry.time = access.time;
        entry.event = access.event;
        return;
      }
    }
    add(cell, site_kind, access, bucket);
  }

  // Calls visit(AccessRecord) for every key of the cell, in no particular order.
  template <typename Visit>
  void walk(CellId cell, Visit&& visit) const {
    for (std::uint32_t i = heads_[raw(cell)]; i != kNone; i = entries_[i].next_in_cell) {
      const Entry& e = entries_[i];
      visit(AccessRecord{e.thread, SiteId{e.site_kind >> 2}, AccessKind(e.site_kind & 3), e.context, e.time, e.event});
    }
  }

  // Asks for the memory that record() will touch first.
  void prefetch(CellId cell, ThreadId thread, SiteId site, AccessKind kind, std::uint32_t context) const {
    const std::uint64_t bucket = hash(cell, thread, raw(site) << 2 | raw(kind), context) & (buckets_.size() - 1);
    __builtin_prefetch(&buckets_[bucket]);
  }

  // The cell exists, with nothing recorded.
  void add_cell(CellId cell);
  void copy_cell(CellId from, CellId to);
  void drop_cell(CellId cell);

  std::size_t entry_count() const { return entry_count_; }

 private:
  static constexpr std::uint32_t kNone = 0;  // entries_[0] is not used

  struct Entry {
    CellId cell{};
    ThreadId thread{};
    std::uint32_t site_kind = 0;
    std::uint32_t context = 0;
    EventId event{};
    Time time = 0;
    std::uint32_t next_in_cell = kNone;
    std::uint32_t next_in_bucket = kNone;
  };

  static std::uint64_t hash(CellId cell, ThreadId thread, std::uint32_t site_kind, std::uint32_t context) {
    const std::uint64_t a = (std::uint64_t{raw(cell)} << 32 | site_kind) * 0x9e3779b97f4a7c15u;
    const std::uint64_t b = (std::uint64_t{raw(thread)} << 32 | context) * 0xc2b2ae3d27d4eb4fu;
    const std::uint64_t mixed = (a ^ std::rotl(b, 32)) * 0x9e3779b97f4a7c15u;
    return mixed >> 32 ^ mixed >> 12;
  }
  std::uint64_t bucket_of(const Entry& e) const {
    return hash(e.cell, e.thread, e.site_kind, e.context) & (buckets_.size() - 1);
  }

  void add(CellId cell, std::uint32_t site_kind, const AccessRecord& access, std::uint64_t bucket);
  void link_into_bucket(std::uint32_t entry);
  void unlink_from_bucket(std::uint32_t entry);
  void grow();

  std::vector<std::uint32_t> buckets_;  // a power of two, at least as many as entries
  std::vector<Entry> entries_{1};
  std::vector<std::uint32_t> heads_;    // by CellId
  std::uint32_t free_ = kNone;          // dropped entries, chained by next_in_cell
  std::size_t entry_count_ = 0;
};

}  // namespace sooth
