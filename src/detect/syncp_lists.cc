#include "detect/syncp_lists.h"

#include <algorithm>
#include <bit>
#include <iterator>

namespace sooth {

void OpenAccesses::extend(std::uint64_t begin, std::uint64_t end) {
  const auto kept =
      std::find_if(ranges_.begin(), ranges_.end(), [&](const auto& range) { return range.second > begin; });
  ranges_.erase(ranges_.begin(), kept);
  if (!ranges_.empty()) {
    ranges_.front().first = std::max(ranges_.front().first, begin);
  }
  const std::uint64_t from = std::max(end_, begin);
  if (from < end) {
    if (!ranges_.empty() && ranges_.back().second == from) {
      ranges_.back().second = end;
    } else {
      ranges_.emplace_back(from, end);
    }
  }
  end_ = end;
}

void OpenAccesses::reopen_latest() {
  --end_;
  if (!ranges_.empty() && ranges_.back().second > end_) {
    drop_last();
  }
}

void OpenAccesses::drop_last() {
  if (--ranges_.back().second == ranges_.back().first) {
    ranges_.pop_back();
  }
}

SyncpSearch& SyncpList::search_of(ThreadId thread) {
  auto search =
      std::find_if(searches_.begin(), searches_.end(), [&](const SyncpSearch& each) { return each.thread == thread; });
  if (search == searches_.end()) {
    searches_.emplace_back().thread = thread;
    search = std::prev(searches_.end());
  }
  if (search->open.end() > begin() && at(search->open.end() - 1).access.time != search->newest) {
    search->open.reopen_latest();
  }
  search->open.extend(begin(), end());
  search->newest = latest().access.time;
  return *search;
}

bool SyncpList::add(const SyncpAccess& access) {
  if (!accesses_.empty() && last_segment_ == access.segment) {
    accesses_.back() = access;
    return false;
  }
  last_segment_ = access.segment;
  accesses_.push_back(access);
  return true;
}

std::size_t SyncpList::drop_until(Time time) {
  if (accesses_.empty() || accesses_.front().access.time > time) {
    return 0;
  }
  const auto kept = std::find_if(accesses_.begin(), accesses_.end(),
                                 [&](const SyncpAccess& each) { return each.access.time > time; });
  const auto count = static_cast<std::size_t>(kept - accesses_.begin());
  accesses_.erase(accesses_.begin(), kept);
  dropped_ += count;
  if (accesses_.size() * 4 < accesses_.capacity()) {
    accesses_.shrink_to_fit();
  }
  return count;
}

SyncpList SyncpList::copy_for(CellId cell) const {
  SyncpList copy = *this;
  copy.cell_ = cell;
  return copy;
}

namespace {

constexpr std::size_t kFirstBuckets = 1024;

unsigned shift_for(std::size_t buckets) { return 64 - static_cast<unsigned>(std::countr_zero(buckets)); }

}  // namespace

SyncpLists::SyncpLists() : shift_(shift_for(kFirstBuckets)), buckets_(kFirstBuckets), slots_(1), groups_(1) {}

void SyncpLists::flush() {
  for (std::size_t i = 0; i < pending_count_; ++i) {
    __builtin_prefetch(&slots_[buckets_[pending_[i].hash >> shift_]], 1);
  }
  for (std::size_t i = 0; i < pending_count_; ++i) {
    insert(pending_[i]);
  }
  pending_count_ = 0;
}

void SyncpLists::insert(const Pending& pending) {
  const AccessRecord& access = pending.access.access;
  std::uint32_t slot = buckets_[pending.hash >> shift_];
  while (slot != kNone && !slots_[slot].list.matches(pending.cell, access)) {
    slot = slots_[slot].next;
  }
  if (slot == kNone) {
    slot = add_list(SyncpList(pending.cell, access), pending.hash);
  }
  access_count_ += slots_[slot].list.add(pending.access) ? 1 : 0;
  head_of(slots_[slot]).latest = access.time;
}

std::uint32_t SyncpLists::add_list(SyncpList list, std::uint64_t hash) {
  if (++list_count_ * 2 > buckets_.size()) {
    grow();
  }
  std::uint32_t slot = free_slots_;
  if (slot != kNone) {
    free_slots_ = slots_[slot].next;
  } else {
    slot = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  }
  const std::uint32_t group = group_of(list.cell(), list.locks());
  std::vector<Head>& lists = groups_[group].lists;
  lists.push_back({list.thread(), list.empty() ? 0 : list.latest().access.time, slot, list.kind()});
  std::uint32_t& bucket = buckets_[hash >> shift_];
  slots_[slot] = {std::move(list), hash, bucket, group, static_cast<std::uint32_t>(lists.size()) - 1};
  bucket = slot;
  return slot;
}

std::uint32_t SyncpLists::group_of(CellId cell, LockSetId locks) {
  if (const std::uint32_t known = group_index_.find(groups_, heads_[raw(cell)], cell, locks); known != kNone) {
    return known;
  }
  std::uint32_t group = free_groups_;
  if (group != kNone) {
    free_groups_ = groups_[group].next;
  } else {
    group = static_cast<std::uint32_t>(groups_.size());
    groups_.emplace_back();
  }
  groups_[group] = {locks, heads_[raw(cell)], 0, {}};
  heads_[raw(cell)] = group;
  group_index_.add(groups_, group, cell);
  return group;
}

void SyncpLists::free_slot(std::uint32_t slot) {
  std::uint32_t* link = &buckets_[slots_[slot].hash >> shift_];
  while (*link != slot) {
    link = &slots_[*link].next;
  }
  *link = slots_[slot].next;
  slots_[slot] = Slot{};
  slots_[slot].next = std::exchange(free_slots_, slot);
  --list_count_;
}

void SyncpLists::free_group(std::uint32_t group, CellId cell) {
  group_index_.remove(cell, groups_[group].locks);
  groups_[group] = {kNoLocks, std::exchange(free_groups_, group), 0, {}};
}

void SyncpLists::grow() {
  buckets_.assign(buckets_.size() * 2, kNone);
  shift_ = shift_for(buckets_.size());
  for (std::uint32_t slot = 1; slot < slots_.size(); ++slot) {
    if (slots_[slot].group != kNone) {
      std::uint32_t& bucket = buckets_[slots_[slot].hash >> shift_];
      slots_[slot].next = bucket;
      bucket = slot;
    }
  }
}

void SyncpLists::add_cell(CellId cell) {
  if (raw(cell) >= heads_.size()) {
    heads_.resize(raw(cell) + 1);
  }
  heads_[raw(cell)] = kNone;
}

void SyncpLists::copy_cell(CellId from, CellId to) {
  std::vector<SyncpList> copies;
  walk(
      from, [](LockSetId) { return false; }, [](ThreadId, AccessKind, Time) { return true; },
      [&](const SyncpList& list) { copies.push_back(list.copy_for(to)); });
  for (SyncpList& copy : copies) {
    access_count_ += copy.size();
    const std::uint64_t h = hash(to, copy.latest().access);
    add_list(std::move(copy), h);
  }
}

void SyncpLists::drop_cell(CellId cell) {
  flush();
  for (std::uint32_t g = std::exchange(heads_[raw(cell)], kNone); g != kNone;) {
    for (const Head& head : groups_[g].lists) {
      access_count_ -= slots_[head.slot].list.size();
      free_slot(head.slot);
    }
    const std::uint32_t next = groups_[g].next;
    free_group(g, cell);
    g = next;
  }
}

void SyncpLists::drop(const VectorClock& set) {
  flush();
  for (std::size_t cell = 0; cell < heads_.size(); ++cell) {
    for (std::uint32_t* link = &heads_[cell]; *link != kNone;) {
      const std::uint32_t g = *link;
      drop_from(groups_[g], set);
      if (groups_[g].lists.empty()) {
        *link = groups_[g].next;
        free_group(g, CellId(cell));
      } else {
        link = &groups_[g].next;
      }
    }
  }
}

void SyncpLists::drop_from(Group& group, const VectorClock& set) {
  std::vector<Head>& lists = group.lists;
  for (std::size_t i = 0; i < lists.size();) {
    const std::uint32_t slot = lists[i].slot;
    access_count_ -= slots_[slot].list.drop_until(set[lists[i].thread]);
    if (!slots_[slot].list.empty()) {
      ++i;
      continue;
    }
    free_slot(slot);
    lists[i] = lists.back();
    lists.pop_back();
    if (i < lists.size()) {
      slots_[lists[i].slot].position = static_cast<std::uint32_t>(i);
    }
  }
}

}  // namespace sooth
