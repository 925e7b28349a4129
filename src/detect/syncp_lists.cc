#include "detect/syncp_lists.h"

#include <algorithm>
#include <bit>

namespace sooth {

void OpenAccesses::extend(std::uint64_t begin, std::uint64_t end) {
  const auto kept = std::find_if(ranges_.begin(), ranges_.end(), [&](const auto& range) { return range.second > begin; });
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

void OpenAccesses::drop_last() {
  if (--ranges_.back().second == ranges_.back().first) {
    ranges_.pop_back();
  }
}

SyncpSearch& SyncpList::search_of(ThreadId thread) {
  for (SyncpSearch& search : searches_) {
    if (search.thread == thread) {
      return search;
    }
  }
  searches_.emplace_back().thread = thread;
  return searches_.back();
}

void SyncpList::add(const SyncpAccess& access) {
  if (!accesses_.empty() && accesses_.back().segment == access.segment) {
    accesses_.back() = access;
  } else {
    accesses_.push_back(access);
  }
}

void SyncpList::drop_until(Time time) {
  if (accesses_.empty() || accesses_.front().access.time > time) {
    return;
  }
  const auto kept = std::find_if(accesses_.begin(), accesses_.end(),
                                 [&](const SyncpAccess& each) { return each.access.time > time; });
  dropped_ += static_cast<std::uint64_t>(kept - accesses_.begin());
  accesses_.erase(accesses_.begin(), kept);
  accesses_.shrink_to_fit();
  if (accesses_.empty()) {
    searches_ = {};
  }
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

void SyncpLists::add(CellId cell, const SyncpAccess& access) {
  const std::uint64_t h = hash(cell, access.access);
  std::uint32_t slot = buckets_[h >> shift_];
  while (slot != kNone && !slots_[slot].list->matches(cell, access.access)) {
    slot = slots_[slot].next_in_bucket;
  }
  if (slot == kNone) {
    slot = insert(std::make_unique<SyncpList>(cell, access.access), h);
  }
  SyncpList& list = *slots_[slot].list;
  access_count_ -= list.size();
  list.add(access);
  access_count_ += list.size();
}

std::uint32_t SyncpLists::insert(std::unique_ptr<SyncpList> list, std::uint64_t h) {
  if (++list_count_ * 2 > buckets_.size()) {
    grow();
  }
  std::uint32_t slot = free_slot_;
  if (slot != kNone) {
    free_slot_ = slots_[slot].next_in_group;
  } else {
    slot = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  }
  const std::uint32_t group = group_of(list->cell(), list->locks());
  slots_[slot] = {std::move(list), groups_[group].first, buckets_[h >> shift_], h};
  groups_[group].first = slot;
  buckets_[h >> shift_] = slot;
  return slot;
}

std::uint32_t SyncpLists::group_of(CellId cell, LockSetId locks) {
  for (std::uint32_t g = heads_[raw(cell)]; g != kNone; g = groups_[g].next) {
    if (groups_[g].locks == locks) {
      return g;
    }
  }
  std::uint32_t group = free_group_;
  if (group != kNone) {
    free_group_ = groups_[group].next;
  } else {
    group = static_cast<std::uint32_t>(groups_.size());
    groups_.emplace_back();
  }
  groups_[group] = {locks, kNone, heads_[raw(cell)]};
  heads_[raw(cell)] = group;
  return group;
}

void SyncpLists::unlink_from_bucket(std::uint32_t slot) {
  std::uint32_t* link = &buckets_[slots_[slot].hash >> shift_];
  while (*link != slot) {
    link = &slots_[*link].next_in_bucket;
  }
  *link = slots_[slot].next_in_bucket;
}

void SyncpLists::grow() {
  buckets_.assign(buckets_.size() * 2, kNone);
  shift_ = shift_for(buckets_.size());
  for (std::uint32_t slot = 1; slot < slots_.size(); ++slot) {
    if (slots_[slot].list != nullptr) {
      std::uint32_t& bucket = buckets_[slots_[slot].hash >> shift_];
      slots_[slot].next_in_bucket = bucket;
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
  std::vector<std::unique_ptr<SyncpList>> copies;
  walk(from, [](LockSetId) { return false; }, [&](const SyncpList& list) {
    copies.push_back(std::make_unique<SyncpList>(list.copy_for(to)));
  });
  for (std::unique_ptr<SyncpList>& copy : copies) {
    access_count_ += copy->size();
    const std::uint64_t h = hash(to, copy->latest().access);
    insert(std::move(copy), h);
  }
}

void SyncpLists::drop_cell(CellId cell) {
  for (std::uint32_t g = heads_[raw(cell)]; g != kNone;) {
    for (std::uint32_t i = groups_[g].first; i != kNone;) {
      const std::uint32_t next = slots_[i].next_in_group;
      access_count_ -= slots_[i].list->size();
      unlink_from_bucket(i);
      slots_[i] = {nullptr, free_slot_, kNone, 0};
      free_slot_ = i;
      --list_count_;
      i = next;
    }
    const std::uint32_t next = groups_[g].next;
    groups_[g].next = free_group_;
    free_group_ = g;
    g = next;
  }
  heads_[raw(cell)] = kNone;
}

void SyncpLists::drop(const VectorClock& set) {
  for (Slot& slot : slots_) {
    if (slot.list != nullptr) {
      access_count_ -= slot.list->size();
      slot.list->drop_until(set[slot.list->thread()]);
      access_count_ += slot.list->size();
    }
  }
}

}  // namespace sooth
