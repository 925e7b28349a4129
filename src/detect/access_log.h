// Who accessed a cell of memory: for each (thread, site, kind) the latest access.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/flat_map.h"
#include "detect/group_index.h"
#include "order/lock_set.h"
#include "order/shadow_memory.h"
#include "order/vector_clock.h"
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

// An access that is being made. Hosts of the log that take one instead of an AccessRecord leave it to the rare cases to
// put a record together.
struct AccessView {
  const Event& event;
  EventId id{};
  Time time = 0;
  LockSetId locks = kNoLocks;
  StackId stack = kNoStack;

  AccessView(const Event& e, EventId event_id, Time now, LockSetId held, StackId at)
      : event(e), id(event_id), time(now), locks(held), stack(at) {}
  // Not longer than the record.
  AccessView(const AccessRecord& record)
      : event(record.event), id(record.id), time(record.time), locks(record.locks), stack(record.stack) {}
  operator AccessRecord() const { return {event, id, time, locks, stack}; }
};

// Local times of a thread never shrink, so for a given order between threads the latest access of each key is unordered
// with a later access whenever any of them is: keeping the latest one loses no site pair. Memory grows with the number
// of distinct keys, not with the trace.
//
// A hash table from (cell, key) to entries, which are also chained by cell and locks held: recording is one lookup, and
// only a cell in which a race is possible is walked, leaving out whole groups that a lock protects.
class AccessLog {
 public:
  // kByLocks: accesses with different locks held are kept apart, for analyses that compare lock sets.
  // kLatestTwo: ... but of the threads of a key only the two that came last, which is enough for analyses that ignore
  // all order between threads: the latest access of another thread than any given one is among them.
  enum class Keys : std::uint8_t { kPlain, kByLocks, kLatestTwo };
  explicit AccessLog(Keys keys);
  // The sets of locks in keys are of this table, which lives as long as the log: walks can then leave out at once what
  // one lock protects.
  void group_by_lock(LockSetTable* table) { table_ = table; }

  // Remembers the access as the latest of its key.
  void record(CellId cell, const AccessView& access) {
    if (threads_mask_ == 0) {
      return record_latest(cell, access);
    }
    record_in(bucket_of(own_hash(key_of(cell, access.event), access.event.thread), access.locks), cell, access,
              kAnyShape);
  }

  // Of the parts of a key but the locks.
  static std::uint64_t hash(CellId cell, const Event& e) { return hash_of(key_of(cell, e), raw(e.thread)); }

  // Where record() would look, computed ahead of time. `locks` is a guess of the locks held then.
  struct Place {
    std::uint32_t bucket = 0;
    LockSetId locks = kNoLocks;
    std::uint8_t shift = 0;  // of the table it was computed for
    std::uint8_t shape = 0;
  };
  // For a plain access to exactly the bytes of the cell, which lie in one granule.
  Place place_of(CellId cell, const Event& e, LockSetId locks) const {
    return {bucket_of(own_hash(key_of(cell, e), e.thread), locks), key_locks(locks), shift_, shape_of(e)};
  }
  bool by_locks() const { return locks_mask_ != 0; }
  // Asks for the memory that record_at() touches first, and, some time later, next.
  void prefetch_bucket(const Place& place) const { __builtin_prefetch(&buckets_[place.bucket]); }
  void prefetch_entry(const Place& place) const { __builtin_prefetch(&entries_[buckets_[place.bucket]], 1); }
  // record(), starting from a place that may be out of date.
  [[gnu::always_inline]] void record_at(const Place& place, CellId cell, const AccessView& access) {
    if (threads_mask_ == 0) [[unlikely]] {
      return record_latest(cell, access);
    }
    std::uint32_t bucket = place.bucket;
    if (place.shift != shift_ || place.locks != key_locks(access.locks)) [[unlikely]] {
      bucket = bucket_of(own_hash(key_of(cell, access.event), access.event.thread), access.locks);
    }
    record_in(bucket, cell, access, place.shape);
  }

  // Calls visit(const AccessRecord&) for every key of the cell but those of groups for which skip(LockSetId) is true;
  // in no particular order. Without kByLocks there is one group, called kNoLocks. After group_by_lock() what is true
  // for a set must be true for its supersets.
  template <typename Skip, typename Visit>
  void walk(CellId cell, Skip&& skip, Visit&& visit) const {
    walk_groups(cell, skip, [&](const Group& group) {
      for (std::uint32_t i = group.first; i != kNone; i = details_[i].next_in_group) {
        visit(access_of(i));
      }
    });
  }
  // Calls visit(const AccessRecord&) for the latest access of each site among the keys for which
  // wanted(ThreadId, AccessKind, Time) is true: all that a PairTable asks of one second access. Without copies of the
  // others: a variable that a thousand threads race on has thousands of keys.
  template <typename Skip, typename Wanted, typename Visit>
  void walk_latest(CellId cell, Skip&& skip, Wanted&& wanted, Visit&& visit) {
    ++walks_;
    latest_.clear();
    const auto look = [&](std::uint32_t i) {
      const Entry& entry = entries_[i];
      if (wanted(entry.thread, AccessKind(entry.cell_site_kind & 3), entry.time)) {
        note_latest(i);
      }
    };
    walk_groups(cell, skip, [&](const Group& group) {
      if (group.list == kNone) {
        for (std::uint32_t i = group.first; i != kNone; i = details_[i].next_in_group) {
          look(i);
        }
        return;
      }
      const std::vector<std::uint32_t>& members = lists_[group.list];
      for (std::size_t k = 0; k < members.size(); ++k) {
        __builtin_prefetch(&entries_[members[std::min(k + kAhead, members.size() - 1)]]);
        look(members[k]);
      }
    });
    for (const std::uint32_t i : latest_) {
      visit(access_of(i));
    }
  }
  template <typename Visit>
  void walk(CellId cell, Visit&& visit) const {
    walk(
        cell, [](LockSetId) { return false; }, visit);
  }

  // The cell exists, with nothing recorded.
  void add_cell(CellId cell);
  void copy_cell(CellId from, CellId to);
  void drop_cell(CellId cell);

  std::size_t entry_count() const { return entry_count_; }

 private:
  static constexpr std::uint32_t kNone = 0;  // entries_[0] and groups_[0] are not used
  static constexpr std::uint64_t kDropped =
      ~std::uint64_t{0};  // the key of an entry that is not used: no cell has that number

  // The key of an access, and what changes with every access of that key: half a cache line.
  struct alignas(32) Entry {
    std::uint64_t cell_site_kind = 0;
    ThreadId thread{};
    std::uint32_t next_in_bucket = kNone;
    std::uint64_t id_shape = 0;  // id << 8 | shape
    Time time = 0;
    LockSetId locks = kNoLocks;

    CellId cell() const { return CellId(cell_site_kind >> 32); }
  };
  static_assert(sizeof(Entry) == 32);

  // What seldom changes, so that recording seldom has to touch it: all else of the access.
  struct Details {
    std::uint64_t object = 0;
    std::uint32_t size = 0;
    Op op{};
    MemoryOrder order{};
    std::uint8_t flags = 0;
    StackId stack = kNoStack;
    std::uint32_t next_in_group = kNone;
  };

  // Where in its granule a plain access lies that covers exactly the bytes of its cell. A cell stays in its granule, so
  // accesses of a key with equal shapes have equal details; but for the stack, if they have one.
  static constexpr std::uint8_t kAnyShape = 0;  // any access; equal to none
  static constexpr std::uint8_t kStackBit = 0x80;
  static std::uint8_t shape_of(const Event& e) {
    const bool plain = e.op <= Op::kWrite && e.order == MemoryOrder::kNotAtomic && e.flags == 0;
    return plain ? static_cast<std::uint8_t>(e.size << 3 | (e.object & 7)) : kAnyShape;
  }

  // The entries of a cell with the same locks.
  struct Group {
    LockSetId locks{};
    std::uint32_t first = kNone;
    std::uint32_t next = kNone;
    std::uint32_t rank = 0;
    std::uint32_t count = 0;     // of its entries
    std::uint32_t list = kNone;  // ... in lists_, once there are kLong of them
  };
  static constexpr std::uint32_t kLong = 16;
  // Groups of a cell that hold a lock in the same mode. A program that nests many locks accesses a variable with
  // thousands of sets of them, nearly all of which have the lock that the variable belongs to; comparing the set at hand
  // with each would take time in proportion to the square of the trace.
  struct Family {
    LockSetId lock = kNoLocks;          // a set of one; kNoLocks: of the groups that are in no other family
    std::vector<std::uint32_t> groups;  // into groups_
  };
  struct Families {
    std::vector<Family> list{1};  // the first is that of the others
    std::size_t look_at = 0;      // the size of that at which a lock is looked for that many of them hold
  };
  static constexpr std::uint32_t kMany = 32;  // groups of a cell that has families
  static constexpr std::size_t kMostFamilies = 8;
  static constexpr std::size_t kAhead = 8;
  // Where in latest_ a site is, if it is of the walk.
  struct SiteOfWalk {
    std::uint64_t walk = 0;
    std::uint32_t position = 0;
  };

  // Calls visit(const Group&) for the groups of the cell for which skip(LockSetId) is false.
  template <typename Skip, typename Visit>
  void walk_groups(CellId cell, Skip&& skip, Visit&& visit) const {
    const auto look = [&](const Group& group) {
      if (!skip(group.locks)) {
        visit(group);
      }
    };
    const std::uint32_t head = heads_[raw(cell)];
    const Families* families = has_families(head) ? families_.find(raw(cell)) : nullptr;
    if (families == nullptr) {
      for (std::uint32_t g = head; g != kNone; g = groups_[g].next) {
        look(groups_[g]);
      }
      return;
    }
    for (const Family& family : families->list) {
      if (family.lock != kNoLocks && skip(family.lock)) {
        continue;
      }
      for (const std::uint32_t g : family.groups) {
        look(groups_[g]);
      }
    }
  }
  [[gnu::always_inline]] void record_in(std::uint32_t bucket, CellId cell, const AccessView& access,
                                        std::uint8_t place_shape) {
    const std::uint64_t key = key_of(cell, access.event);
    const bool shape_with_stack = place_shape != kAnyShape && access.stack != kNoStack;
    const auto shape = static_cast<std::uint8_t>(place_shape | (shape_with_stack ? kStackBit : 0));
    for (std::uint32_t i = buckets_[bucket]; i != kNone; i = entries_[i].next_in_bucket) {
      Entry& entry = entries_[i];
      // All at once: that one of several keys in a bucket differs in its first or in its last part is unpredictable.
      const std::uint64_t differs = (entry.cell_site_kind ^ key) | (raw(entry.thread) ^ raw(access.event.thread)) |
                                    ((raw(entry.locks) ^ raw(access.locks)) & locks_mask_);
      if (differs != 0) [[unlikely]] {
        continue;
      }
      const auto old_shape = static_cast<std::uint8_t>(entry.id_shape);
      entry.id_shape = raw(access.id) << 8 | shape;
      entry.time = access.time;
      entry.locks = access.locks;
      if (shape != old_shape || shape == kAnyShape) [[unlikely]] {
        set_details(i, access);
      } else if (shape_with_stack) {
        details_[i].stack = access.stack;
      }
      return;
    }
    add(cell, access, shape, bucket);
  }
  static std::uint64_t key_of(CellId cell, const Event& e) {
    return std::uint64_t{raw(cell)} << 32 | (raw(e.site) << 2 | raw(access_kind(e.op)));
  }
  static std::uint64_t hash_of(std::uint64_t key, std::uint32_t thread) {
    return key * 0x9e3779b97f4a7c15u ^ thread * 0xc2b2ae3d27d4eb4fu;
  }
  // As this log has it: threads may be no part of it.
  std::uint64_t own_hash(std::uint64_t key, ThreadId thread) const { return hash_of(key, raw(thread) & threads_mask_); }
  LockSetId key_locks(LockSetId locks) const { return LockSetId{raw(locks) & locks_mask_}; }
  std::uint32_t bucket_of(std::uint64_t hash, LockSetId locks) const {
    const std::uint64_t mixed = (hash ^ raw(key_locks(locks)) * 0xd6e8feb86659fd93u) * 0x9e3779b97f4a7c15u;
    return static_cast<std::uint32_t>(mixed >> shift_);
  }
  AccessRecord access_of(std::uint32_t i) const {
    const Entry& entry = entries_[i];
    const Details& details = details_[i];
    const SiteId site{static_cast<std::uint32_t>(entry.cell_site_kind) >> 2};
    return {{details.object, entry.thread, site, details.size, details.op, details.order, details.flags, 0},
            EventId{entry.id_shape >> 8},
            entry.time,
            entry.locks,
            details.stack};
  }
  // By value, so that the callers can keep the parts of an access in registers.
  void set_details(std::uint32_t i, AccessView access);
  void add(CellId cell, AccessView access, std::uint8_t shape, std::uint32_t bucket);
  // record() with kLatestTwo.
  void record_latest(CellId cell, AccessView access);
  std::uint32_t group_of(CellId cell, LockSetId locks);
  bool has_families(std::uint32_t head) const {
    return table_ != nullptr && head != kNone && groups_[head].rank >= kMany;
  }
  void add_to_family(CellId cell, std::uint32_t group);
  bool part_family(Families& families);
  void list_entry(Group& group, std::uint32_t entry);
  void note_latest(std::uint32_t entry) {
    const std::uint32_t site = static_cast<std::uint32_t>(entries_[entry].cell_site_kind) >> 2;
    if (site >= sites_of_walk_.size()) [[unlikely]] {
      sites_of_walk_.resize(std::max<std::size_t>(site + 1, 2 * sites_of_walk_.size()));
    }
    SiteOfWalk& known = sites_of_walk_[site];
    if (known.walk != walks_) {
      known = {walks_, static_cast<std::uint32_t>(latest_.size())};
      latest_.push_back(entry);
    } else if (entries_[latest_[known.position]].id_shape < entries_[entry].id_shape) {
      latest_[known.position] = entry;
    }
  }
  void unlink_from_bucket(std::uint32_t entry);
  void grow();

  std::uint32_t locks_mask_;
  const std::uint32_t threads_mask_;  // 0: the latest two threads speak for all
  std::uint8_t shift_;
  std::vector<std::uint32_t> buckets_;  // a power of two, more than twice as many as entries
  std::vector<Entry> entries_{1};
  std::vector<Details> details_{1};  // parallel to entries_
  std::vector<Group> groups_{1};
  std::vector<std::uint32_t> heads_;  // by CellId: its groups
  GroupIndex<Group> group_index_;
  LockSetTable* table_ = nullptr;
  FlatMap<Families> families_;        // by CellId: of those with kMany groups
  std::uint32_t free_entry_ = kNone;  // dropped entries, chained by next_in_group
  std::uint32_t free_group_ = kNone;  // dropped groups, chained by next
  std::size_t entry_count_ = 0;
  std::vector<std::vector<std::uint32_t>> lists_{1};  // entries of groups that have many, side by side
  std::vector<std::uint32_t> free_lists_;
  // Of walk_latest().
  std::uint64_t walks_ = 0;
  std::vector<std::uint32_t> latest_;
  std::vector<SiteOfWalk> sites_of_walk_;  // by site
};

}  // namespace sooth
