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

SyncpSearch& SyncpList::search_of(ThreadId thread, std::size_t& size) {
  if (raw(thread) >= search_by_thread_.size()) {
    size += raw(thread) + 1 - search_by_thread_.size();
    search_by_thread_.resize(raw(thread) + 1);
  }
  std::uint32_t& place = search_by_thread_[raw(thread)];
  if (place == 0) {
    searches_.emplace_back().thread = thread;
    place = static_cast<std::uint32_t>(searches_.size());
    size += sizeof(SyncpSearch) / sizeof(std::uint32_t);
  }
  SyncpSearch* const search = &searches_[place - 1];
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

SyncpLists::SyncpLists(std::size_t few_groups)
    : few_groups_(few_groups),
      shift_(shift_for(kFirstBuckets)),
      buckets_(kFirstBuckets),
      slots_(1),
      chains_(1),
      groups_(1) {}

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
    slot = add_list(SyncpList(pending.cell, access), pending.hash, access.event.object);
  }
  access_count_ += slots_[slot].list.add(pending.access) ? 1 : 0;
  slots_[slot].latest = access.time;
  slots_[slot].latest_id = access.id;
  make_first(slot);
  Group& group = groups_[slots_[slot].group];
  group.several_objects |= group.object != access.event.object;
}

// The list becomes the first of its chains.
std::uint32_t SyncpLists::add_list(SyncpList list, std::uint64_t hash, std::uint64_t object) {
  if (++list_count_ * 2 > buckets_.size()) {
    grow();
  }
  const std::uint32_t slot = take(slots_, free_slots_);
  Slot& added = slots_[slot];
  added.chain = chain_of(list.cell(), list.thread());
  added.group = group_of(list.cell(), list, object);
  added.list = std::move(list);
  added.hash = hash;
  added.next = std::exchange(buckets_[hash >> shift_], slot);
  put_in_front<&Slot::in_chain>(chains_[added.chain].first, slot);
  put_in_front<&Slot::in_group>(groups_[added.group].first, slot);
  return slot;
}

// Its latest access is the latest of its thread to the cell, and the latest of its group.
void SyncpLists::make_first(std::uint32_t slot) {
  Chain& chain = chains_[slots_[slot].chain];
  if (chain.first != slot) {
    unlink<&Slot::in_chain>(chain.first, slot);
    put_in_front<&Slot::in_chain>(chain.first, slot);
  }
  chain.latest = slots_[slot].latest;
  Group& group = groups_[slots_[slot].group];
  if (group.first != slot) {
    unlink<&Slot::in_group>(group.first, slot);
    put_in_front<&Slot::in_group>(group.first, slot);
  }
}

template <SyncpLists::Links SyncpLists::Slot::*links>
void SyncpLists::put_in_front(std::uint32_t& first, std::uint32_t slot) {
  slots_[slot].*links = {kNone, first};
  if (first != kNone) {
    (slots_[first].*links).newer = slot;
  }
  first = slot;
}

template <SyncpLists::Links SyncpLists::Slot::*links>
void SyncpLists::unlink(std::uint32_t& first, std::uint32_t slot) {
  const auto [newer, older] = slots_[slot].*links;
  (newer == kNone ? first : (slots_[newer].*links).older) = older;
  if (older != kNone) {
    (slots_[older].*links).newer = newer;
  }
}

std::uint32_t SyncpLists::chain_of(CellId cell, ThreadId thread) {
  Cell& in = heads_[raw(cell)];
  if (const std::uint32_t known = chain_index_.find(chains_, in.chains, cell, thread); known != kNone) {
    return known;
  }
  const std::uint32_t chain = take(chains_, free_chains_);
  chains_[chain].thread = thread;
  chains_[chain].next = std::exchange(in.chains, chain);
  ++in.chain_count;
  chain_index_.add(chains_, chain, cell);
  return chain;
}

std::uint32_t SyncpLists::group_of(CellId cell, const SyncpList& list, std::uint64_t object) {
  // A lock set has a number below 2^30, or memory would have run out.
  const std::uint64_t key =
      std::uint64_t{raw(list.site())} << 32 | std::uint64_t{raw(list.locks())} << 2 | raw(list.kind());
  std::uint32_t& number = signatures_[key];
  if (number == 0) {
    number = static_cast<std::uint32_t>(signatures_.size());
  }
  Cell& in = heads_[raw(cell)];
  const auto signature = Signature(number);
  if (const std::uint32_t known = group_index_.find(groups_, in.groups, cell, signature); known != kNone) {
    return known;
  }
  const std::uint32_t group = take(groups_, free_groups_);
  groups_[group].signature = signature;
  groups_[group].locks = list.locks();
  groups_[group].kind = list.kind();
  groups_[group].object = object;
  groups_[group].next = std::exchange(in.groups, group);
  ++in.group_count;
  group_index_.add(groups_, group, cell);
  return group;
}

// One that is free, as new.
template <typename Element>
std::uint32_t SyncpLists::take(std::vector<Element>& elements, std::uint32_t& free) {
  const std::uint32_t taken = free;
  if (taken == kNone) {
    elements.emplace_back();
    return static_cast<std::uint32_t>(elements.size() - 1);
  }
  free = elements[taken].next;
  elements[taken] = {};
  return taken;
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

void SyncpLists::free_chain(std::uint32_t chain, CellId cell) {
  chain_index_.remove(cell, chains_[chain].thread);
  chains_[chain] = {};
  chains_[chain].next = std::exchange(free_chains_, chain);
  --heads_[raw(cell)].chain_count;
}

void SyncpLists::free_group(std::uint32_t group, CellId cell) {
  group_index_.remove(cell, groups_[group].signature);
  groups_[group] = {};
  groups_[group].next = std::exchange(free_groups_, group);
  --heads_[raw(cell)].group_count;
}

void SyncpLists::grow() {
  buckets_.assign(buckets_.size() * 2, kNone);
  shift_ = shift_for(buckets_.size());
  for (std::uint32_t slot = 1; slot < slots_.size(); ++slot) {
    if (slots_[slot].chain != kNone) {
      std::uint32_t& bucket = buckets_[slots_[slot].hash >> shift_];
      slots_[slot].next = bucket;
      bucket = slot;
    }
  }
}

void SyncpLists::forget_searches() {
  for (Slot& slot : slots_) {
    slot.list.forget_searches();
  }
  search_size_ = 0;
}

void SyncpLists::add_cell(CellId cell) {
  if (raw(cell) >= heads_.size()) {
    heads_.resize(raw(cell) + 1);
  }
  heads_[raw(cell)] = {};
}

void SyncpLists::copy_cell(CellId from, CellId to) {
  flush();
  std::vector<std::uint32_t> slots;
  for (std::uint32_t c = heads_[raw(from)].chains; c != kNone; c = chains_[c].next) {
    for (std::uint32_t s = chains_[c].first; s != kNone; s = slots_[s].in_chain.older) {
      slots.push_back(s);
    }
  }
  // The latest comes first, and goes to the front last.
  std::sort(slots.begin(), slots.end(),
            [&](std::uint32_t a, std::uint32_t b) { return slots_[a].latest_id < slots_[b].latest_id; });
  for (const std::uint32_t s : slots) {
    SyncpList copy = slots_[s].list.copy_for(to);
    const AccessRecord latest = copy.latest().access;
    const Group group = groups_[slots_[s].group];
    access_count_ += copy.size();
    const std::uint32_t added = add_list(std::move(copy), hash(to, latest), group.object);
    slots_[added].latest = latest.time;
    slots_[added].latest_id = latest.id;
    chains_[slots_[added].chain].latest = latest.time;
    groups_[slots_[added].group].several_objects = group.several_objects;
  }
}

void SyncpLists::drop_cell(CellId cell) {
  flush();
  for (std::uint32_t c = std::exchange(heads_[raw(cell)].chains, kNone); c != kNone;) {
    for (std::uint32_t s = chains_[c].first; s != kNone;) {
      const std::uint32_t older = slots_[s].in_chain.older;
      access_count_ -= slots_[s].list.size();
      free_slot(s);
      s = older;
    }
    const std::uint32_t next = chains_[c].next;
    free_chain(c, cell);
    c = next;
  }
  for (std::uint32_t g = std::exchange(heads_[raw(cell)].groups, kNone); g != kNone;) {
    const std::uint32_t next = groups_[g].next;
    free_group(g, cell);
    g = next;
  }
}

void SyncpLists::drop(const VectorClock& set) {
  flush();
  for (std::size_t cell = 0; cell < heads_.size(); ++cell) {
    for (std::uint32_t* link = &heads_[cell].chains; *link != kNone;) {
      const std::uint32_t c = *link;
      drop_from(c, set[chains_[c].thread]);
      if (chains_[c].first == kNone) {
        *link = chains_[c].next;
        free_chain(c, CellId(cell));
      } else {
        link = &chains_[c].next;
      }
    }
    for (std::uint32_t* link = &heads_[cell].groups; *link != kNone;) {
      const std::uint32_t g = *link;
      if (groups_[g].first == kNone) {
        *link = groups_[g].next;
        free_group(g, CellId(cell));
      } else {
        link = &groups_[g].next;
      }
    }
  }
}

void SyncpLists::drop_from(std::uint32_t chain, Time time) {
  for (std::uint32_t s = chains_[chain].first; s != kNone;) {
    const std::uint32_t older = slots_[s].in_chain.older;
    access_count_ -= slots_[s].list.drop_until(time);
    if (slots_[s].list.empty()) {
      unlink<&Slot::in_chain>(chains_[chain].first, s);
      unlink<&Slot::in_group>(groups_[slots_[s].group].first, s);
      free_slot(s);
    }
    s = older;
  }
}

}  // namespace sooth
