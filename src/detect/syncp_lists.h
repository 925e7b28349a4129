// The accesses to each cell that a later access may still race with, in the order in which they were made.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "detect/access_log.h"
#include "detect/group_index.h"
#include "detect/syncp_history.h"

namespace sooth {

// An access that was made; access.time is its time in SyncpHistory.
struct SyncpAccess {
  AccessRecord access;
  std::uint32_t version = 0;  // what its thread knew before it
  std::uint32_t segment = 0;  // of its thread
};

// The accesses of one list that are not yet known to be ordered with all later accesses of one thread. Numbers count
// the accesses of the list from its beginning. Grows at the end with the list and shrinks from both ends.
class OpenAccesses {
 public:
  // The list now has accesses up to `end`, those before `begin` were dropped.
  void extend(std::uint64_t begin, std::uint64_t end);
  // The latest access of the list so far was replaced by another one, which is open again.
  void reopen_latest();
  std::uint64_t end() const { return end_; }
  bool empty() const { return ranges_.empty(); }
  std::uint64_t last() const { return ranges_.back().second - 1; }
  void drop_last();
  void drop_all() { ranges_.clear(); }

 private:
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges_;  // [first, end), ascending, not empty
  std::uint64_t end_ = 0;
};

// How far the search for races between a list and the later accesses of a thread has come.
struct SyncpSearch {
  ThreadId thread{};
  OpenAccesses open;
  Time newest = 0;  // of the list, when `open` was brought up to date
  // The closure of the pasts of `raced` and of the thread, when it was last found without `raced`.
  VectorClock closure;
  Time raced = 0;  // 0: none
  std::uint64_t raced_number = 0;
  std::uint32_t raced_segment = 0;  // of `thread`
};

// The accesses of one (cell, thread, site, kind, locks held). Of the accesses of one segment only the latest is kept:
// it races with a later access whenever one of the others does. (Not the other way round: what lies between them may
// be read by a thread whose release is needed.)
class SyncpList {
 public:
  SyncpList() = default;
  SyncpList(CellId cell, const AccessRecord& access)
      : cell_(cell),
        thread_(access.event.thread),
        site_(access.event.site),
        locks_(access.locks),
        kind_(access_kind(access.event.op)) {}

  CellId cell() const { return cell_; }
  ThreadId thread() const { return thread_; }
  AccessKind kind() const { return kind_; }
  LockSetId locks() const { return locks_; }
  bool matches(CellId cell, const AccessRecord& access) const {
    return cell_ == cell && thread_ == access.event.thread && site_ == access.event.site && locks_ == access.locks &&
           kind_ == access_kind(access.event.op);
  }

  // Never empty for long: an access is added at once, and a list that loses its last one is dropped.
  bool empty() const { return accesses_.empty(); }
  std::size_t size() const { return accesses_.size(); }
  const SyncpAccess& latest() const { return accesses_.back(); }
  const SyncpAccess& at(std::uint64_t number) const { return accesses_[number - dropped_]; }
  std::uint64_t begin() const { return dropped_; }
  std::uint64_t end() const { return dropped_ + accesses_.size(); }
  // The search for races with accesses of `thread`, which knows of all accesses of the list.
  SyncpSearch& search_of(ThreadId thread);

  // Whether the list has become longer.
  bool add(const SyncpAccess& access);
  // Accesses up to `time` race with nothing that is still to come. Returns how many there were.
  std::size_t drop_until(Time time);
  // For the other half of a split cell.
  SyncpList copy_for(CellId cell) const;

 private:
  CellId cell_{};
  ThreadId thread_{};
  SiteId site_{};
  LockSetId locks_ = kNoLocks;
  AccessKind kind_{};
  std::uint32_t last_segment_ = 0;
  std::vector<SyncpAccess> accesses_;
  std::uint64_t dropped_ = 0;
  std::vector<SyncpSearch> searches_;
  std::vector<std::uint32_t> search_by_thread_;  // index into searches_ + 1; 0: none
};

// All lists: by key through a hash table, by cell and thread through chains, the list with the latest access first.
class SyncpLists {
 public:
  SyncpLists();

  void add(CellId cell, const SyncpAccess& access) {
    const std::uint64_t h = hash(cell, access.access);
    __builtin_prefetch(&buckets_[h >> shift_]);
    pending_[pending_count_++] = {h, cell, access};
    if (pending_count_ == kPending) {
      flush();
    }
  }

  // Calls visit(SyncpList&) for the lists of the cell whose latest access comes after known(ThreadId), of their threads, in
  // no particular order. What is known may grow meanwhile. `visit` must not change the lists.
  template <typename Known, typename Visit>
  void walk(CellId cell, Known&& known, Visit&& visit) {
    flush();
    for (std::uint32_t c = heads_[raw(cell)]; c != kNone; c = chains_[c].next) {
      const ThreadId thread = chains_[c].thread;
      if (chains_[c].latest <= known(thread)) {
        continue;
      }
      for (std::uint32_t s = chains_[c].first; s != kNone && slots_[s].latest > known(thread); s = slots_[s].older) {
        visit(slots_[s].list);
      }
    }
  }

  void add_cell(CellId cell);
  void copy_cell(CellId from, CellId to);
  void drop_cell(CellId cell);
  // Drops every access that is in the set, and the lists that have no other.
  void drop(const VectorClock& set);

  std::size_t list_count() const { return list_count_; }
  std::size_t access_count() const { return access_count_; }

 private:
  static constexpr std::uint32_t kNone = 0;
  static constexpr std::size_t kPending = 16;

  // Accesses are put into their lists some at a time, so that the processor waits for the memory of all of them at
  // once.
  struct Pending {
    std::uint64_t hash = 0;
    CellId cell{};
    SyncpAccess access;
  };
  struct Slot {
    SyncpList list;
    std::uint64_t hash = 0;
    Time latest = 0;              // of its accesses
    std::uint32_t next = kNone;   // in its bucket, or of the free slots
    std::uint32_t chain = kNone;  // none: the slot is free
    std::uint32_t newer = kNone;  // in its chain
    std::uint32_t older = kNone;
  };
  // The lists of a cell that are of one thread.
  struct Chain {
    ThreadId thread{};
    Time latest = 0;              // of `first`
    std::uint32_t first = kNone;  // the list with the latest access
    std::uint32_t next = kNone;
    std::uint32_t rank = 0;
  };

  static std::uint64_t hash(CellId cell, const AccessRecord& access) {
    return (AccessLog::hash(cell, access.event) ^ raw(access.locks) * 0xd6e8feb86659fd93u) * 0x9e3779b97f4a7c15u;
  }
  void flush();
  void insert(const Pending& pending);
  std::uint32_t add_list(SyncpList list, Time latest, std::uint64_t hash);
  std::uint32_t chain_of(CellId cell, ThreadId thread);
  void make_first(std::uint32_t slot);
  void unchain(std::uint32_t slot);
  void drop_from(std::uint32_t chain, Time time);
  void free_slot(std::uint32_t slot);
  void free_chain(std::uint32_t chain, CellId cell);
  void grow();

  unsigned shift_;
  std::vector<std::uint32_t> buckets_;  // a power of two, more than twice as many as lists
  std::vector<Slot> slots_;
  std::vector<Chain> chains_;
  std::vector<std::uint32_t> heads_;  // by CellId: its chains
  GroupIndex<Chain, ThreadId, &Chain::thread> chain_index_;
  std::uint32_t free_slots_ = kNone;   // linked by Slot::next
  std::uint32_t free_chains_ = kNone;  // linked by Chain::next
  std::size_t list_count_ = 0;
  std::size_t access_count_ = 0;
  std::array<Pending, kPending> pending_;
  std::size_t pending_count_ = 0;
};

}  // namespace sooth
