// The accesses to each cell that a later access may still race with, in the order in which they were made.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/flat_map.h"
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
  SiteId site() const { return site_; }
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
  // The search for races with accesses of `thread`, which knows of all accesses of the list. Adds to `size` what is
  // remembered for it now, in words.
  SyncpSearch& search_of(ThreadId thread, std::size_t& size);
  // What the searches found out has to be found out again.
  void forget_searches() {
    searches_ = {};
    search_by_thread_ = {};
  }

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

// What a visit of a list says of the accesses that are asked for.
struct SyncpAnswer {
  static SyncpAnswer none() { return {}; }
  // There are none in the list, nor in those of its group whose latest access was made earlier.
  static SyncpAnswer none_before() { return {0, true}; }
  // The latest one is this.
  static SyncpAnswer found(EventId id) { return {raw(id) + 1, false}; }

  std::uint64_t number = 0;  // of the access, from 1; 0: none
  bool none_earlier = false;
};

// All lists: by key through a hash table, and through chains, the list with the latest access first: by cell and thread,
// and by cell and group, which is what was accessed from one site, in one way, with the same locks held.
class SyncpLists {
 public:
  // `few_groups`: see SyncpLimits.
  explicit SyncpLists(std::size_t few_groups);

  void add(CellId cell, const SyncpAccess& access) {
    const std::uint64_t h = hash(cell, access.access);
    __builtin_prefetch(&buckets_[h >> shift_]);
    pending_[pending_count_++] = {h, cell, access};
    if (pending_count_ == kPending) {
      flush();
    }
  }

  // For each group of the cell for which wants(kind, locks): finds the latest of the accesses that visit(SyncpList&) ->
  // SyncpAnswer looks for, among the lists whose latest access comes after known(ThreadId), of their threads. Lists that
  // cannot have a later one than was found are not visited: of a variable on which threads race all the time only few
  // are, however many threads there are. What is known may grow meanwhile. `visit` must not change the lists.
  template <typename Wants, typename Known, typename Visit>
  void walk(CellId cell, Wants&& wants, Known&& known, Visit&& visit) {
    flush();
    const Cell& in = heads_[raw(cell)];
    // Where threads took many sets of locks most of the groups are known; a thread's lists end at the first such one.
    if (in.group_count <= few_groups_ || in.group_count <= in.chain_count) {
      walk_groups(in.groups, wants, known, visit);
    } else {
      walk_chains(in.chains, wants, known, visit);
    }
  }
  // See SyncpList.
  SyncpSearch& search_of(SyncpList& list, ThreadId thread) { return list.search_of(thread, search_size_); }
  // Words that are remembered for searches. What is put into one is to be counted.
  std::size_t search_size() const { return search_size_; }
  void count_in_searches(std::size_t words) { search_size_ += words; }
  void forget_searches();

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
  // The place of a list in a chain.
  struct Links {
    std::uint32_t newer = kNone;
    std::uint32_t older = kNone;
  };
  struct Slot {
    SyncpList list;
    std::uint64_t hash = 0;
    EventId latest_id{};          // of its latest access
    Time latest = 0;              // the same
    std::uint32_t next = kNone;   // in its bucket, or of the free slots
    std::uint32_t chain = kNone;  // none: the slot is free
    std::uint32_t group = kNone;
    Links in_chain;
    Links in_group;
  };
  // The lists of a cell that are of one thread.
  struct Chain {
    ThreadId thread{};
    Time latest = 0;              // of `first`
    std::uint32_t first = kNone;  // the list with the latest access
    std::uint32_t next = kNone;
    std::uint32_t rank = 0;
  };
  // A site, a kind and locks; interned.
  enum class Signature : std::uint32_t {};
  // The lists of a cell that have one signature.
  struct Group {
    Signature signature{};
    LockSetId locks = kNoLocks;
    AccessKind kind{};
    bool several_objects = false;  // the accesses do not all begin at the same byte
    std::uint32_t first = kNone;   // the list with the latest access
    std::uint32_t next = kNone;
    std::uint32_t rank = 0;
    std::uint64_t object = 0;  // where accesses begin
    // Of the latest walk along chains that met it.
    std::uint64_t walk = 0;
    SyncpAnswer answer;
  };
  struct Cell {
    std::uint32_t chains = kNone;
    std::uint32_t groups = kNone;
    std::uint32_t chain_count = 0;
    std::uint32_t group_count = 0;
  };

  static std::uint64_t hash(CellId cell, const AccessRecord& access) {
    return (AccessLog::hash(cell, access.event) ^ raw(access.locks) * 0xd6e8feb86659fd93u) * 0x9e3779b97f4a7c15u;
  }
  static bool is_over(const Group& group, const SyncpAnswer& answer, const Slot& slot) {
    return answer.none_earlier || (!group.several_objects && raw(slot.latest_id) < answer.number);
  }
  template <typename Wants, typename Known, typename Visit>
  void walk_groups(std::uint32_t first, Wants&& wants, Known&& known, Visit&& visit) {
    for (std::uint32_t g = first; g != kNone; g = groups_[g].next) {
      const Group& group = groups_[g];
      if (!wants(group.kind, group.locks)) {
        continue;
      }
      SyncpAnswer answer;
      for (std::uint32_t s = group.first; s != kNone && !is_over(group, answer, slots_[s]);
           s = slots_[s].in_group.older) {
        if (slots_[s].latest > known(slots_[s].list.thread())) {
          improve(answer, visit(slots_[s].list));
        }
      }
    }
  }
  template <typename Wants, typename Known, typename Visit>
  void walk_chains(std::uint32_t first, Wants&& wants, Known&& known, Visit&& visit) {
    ++walks_;
    for (std::uint32_t c = first; c != kNone; c = chains_[c].next) {
      const ThreadId thread = chains_[c].thread;
      if (chains_[c].latest <= known(thread)) {
        continue;
      }
      for (std::uint32_t s = chains_[c].first; s != kNone && slots_[s].latest > known(thread);
           s = slots_[s].in_chain.older) {
        Group& group = groups_[slots_[s].group];
        if (std::exchange(group.walk, walks_) != walks_) {
          group.answer = {};
        }
        // What ends a group says nothing of lists with later accesses, and here they do not come first.
        if (!is_over(group, {group.answer.number, false}, slots_[s]) && wants(group.kind, group.locks)) {
          improve(group.answer, visit(slots_[s].list));
        }
      }
    }
  }
  static void improve(SyncpAnswer& answer, const SyncpAnswer& next) {
    answer = {std::max(answer.number, next.number), next.none_earlier};
  }

  void flush();
  void insert(const Pending& pending);
  // `object`: where its first access begins.
  std::uint32_t add_list(SyncpList list, std::uint64_t hash, std::uint64_t object);
  std::uint32_t chain_of(CellId cell, ThreadId thread);
  std::uint32_t group_of(CellId cell, const SyncpList& list, std::uint64_t object);
  void make_first(std::uint32_t slot);
  template <Links Slot::*links>
  void put_in_front(std::uint32_t& first, std::uint32_t slot);
  template <Links Slot::*links>
  void unlink(std::uint32_t& first, std::uint32_t slot);
  template <typename Element>
  static std::uint32_t take(std::vector<Element>& elements, std::uint32_t& free);
  void drop_from(std::uint32_t chain, Time time);
  void free_slot(std::uint32_t slot);
  void free_chain(std::uint32_t chain, CellId cell);
  void free_group(std::uint32_t group, CellId cell);
  void grow();

  const std::size_t few_groups_;
  unsigned shift_;
  std::vector<std::uint32_t> buckets_;  // a power of two, more than twice as many as lists
  std::vector<Slot> slots_;
  std::vector<Chain> chains_;
  std::vector<Group> groups_;
  std::vector<Cell> heads_;  // by CellId
  GroupIndex<Chain, ThreadId, &Chain::thread> chain_index_;
  GroupIndex<Group, Signature, &Group::signature> group_index_;
  FlatMap<std::uint32_t> signatures_;  // site, kind and locks -> number + 1
  std::uint32_t free_slots_ = kNone;   // linked by Slot::next
  std::uint32_t free_chains_ = kNone;  // linked by Chain::next
  std::uint32_t free_groups_ = kNone;  // linked by Group::next
  std::size_t list_count_ = 0;
  std::size_t access_count_ = 0;
  std::size_t search_size_ = 0;
  std::uint64_t walks_ = 0;
  std::array<Pending, kPending> pending_;
  std::size_t pending_count_ = 0;
};

}  // namespace sooth
