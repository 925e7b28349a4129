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
  if (raw(thread) >= search_by_thread_.size()) {
    search_by_thread_.resize(raw(thread) + 1);
  }
  std::uint32_t& place = search_by_thread_[raw(thread)];
  if (place == 0) {
    searches_.emplace_back().thread = thread;
    place = static_cast<std::uint32_t>(searches_.size());
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

SyncpLists::SyncpLists() : shift_(shift_for(kFirstBuckets)), buckets_(kFirstBuckets), slots_(1), chains_(1) {}

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
    slot = add_list(SyncpList(pending.cell, access), access.time, pending.hash);
  }
  access_count_ += slots_[slot].list.add(pending.access) ? 1 : 0;
  slots_[slot].latest = access.time;
  make_first(slot);
}

// The list becomes the first of its chain.
std::uint32_t SyncpLists::add_list(SyncpList list, Time latest, std::uint64_t hash) {
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
  const std::uint32_t chain = chain_of(list.cell(), list.thread());
  const std::uint32_t older = std::exchange(chains_[chain].first, slot);
  if (older != kNone) {
    slots_[older].newer = slot;
  }
  chains_[chain].latest = latest;
  std::uint32_t& bucket = buckets_[hash >> shift_];
  slots_[slot] = {std::move(list), hash, latest, bucket, chain, kNone, older};
  bucket = slot;
  return slot;
}

// Its latest access is the latest of its thread to the cell.
void SyncpLists::make_first(std::uint32_t slot) {
  Chain& chain = chains_[slots_[slot].chain];
  if (chain.first != slot) {
    unchain(slot);
    slots_[slot].newer = kNone;
    slots_[slot].older = chain.first;
    slots_[chain.first].newer = slot;
    chain.first = slot;
  }
  chain.latest = slots_[slot].latest;
}

void SyncpLists::unchain(std::uint32_t slot) {
  const auto [newer, older] = std::pair(slots_[slot].newer, slots_[slot].older);
  (newer == kNone ? chains_[slots_[slot].chain].first : slots_[newer].older) = older;
  if (older != kNone) {
    slots_[older].newer = newer;
  }
}

std::uint32_t SyncpLists::chain_of(CellId cell, ThreadId thread) {
  if (const std::uint32_t known = chain_index_.find(chains_, heads_[raw(cell)], cell, thread); known != kNone) {
    return known;
  }
  std::uint32_t chain = free_chains_;
  if (chain != kNone) {
    free_chains_ = chains_[chain].next;
  } else {
    chain = static_cast<std::uint32_t>(chains_.size());
    chains_.emplace_back();
  }
  chains_[chain] = {thread, 0, kNone, heads_[raw(cell)], 0};
  heads_[raw(cell)] = chain;
  chain_index_.add(chains_, chain, cell);
  return chain;
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
  chains_[chain] = {ThreadId{}, 0, kNone, std::exchange(free_chains_, chain), 0};
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

void SyncpLists::add_cell(CellId cell) {
  if (raw(cell) >= heads_.size()) {
    heads_.resize(raw(cell) + 1);
  }
  heads_[raw(cell)] = kNone;
}

void SyncpLists::copy_cell(CellId from, CellId to) {
  std::vector<SyncpList> copies;
  walk(
      from, [](ThreadId) { return Time{0}; }, [&](const SyncpList& list) { copies.push_back(list.copy_for(to)); });
  // Of a thread the latest comes first, and goes to the front last.
  for (auto copy = copies.rbegin(); copy != copies.rend(); ++copy) {
    access_count_ += copy->size();
    const AccessRecord latest = copy->latest().access;
    add_list(std::move(*copy), latest.time, hash(to, latest));
  }
}

void SyncpLists::drop_cell(CellId cell) {
  flush();
  for (std::uint32_t c = std::exchange(heads_[raw(cell)], kNone); c != kNone;) {
    for (std::uint32_t s = chains_[c].first; s != kNone;) {
      const std::uint32_t older = slots_[s].older;
      access_count_ -= slots_[s].list.size();
      free_slot(s);
      s = older;
    }
    const std::uint32_t next = chains_[c].next;
    free_chain(c, cell);
    c = next;
  }
}

void SyncpLists::drop(const VectorClock& set) {
  flush();
  for (std::size_t cell = 0; cell < heads_.size(); ++cell) {
    for (std::uint32_t* link = &heads_[cell]; *link != kNone;) {
      const std::uint32_t c = *link;
      drop_from(c, set[chains_[c].thread]);
      if (chains_[c].first == kNone) {
        *link = chains_[c].next;
        free_chain(c, CellId(cell));
      } else {
        link = &chains_[c].next;
      }
    }
  }
}

void SyncpLists::drop_from(std::uint32_t chain, Time time) {
  for (std::uint32_t s = chains_[chain].first; s != kNone;) {
    const std::uint32_t older = slots_[s].older;
    access_count_ -= slots_[s].list.drop_until(time);
    if (slots_[s].list.empty()) {
      unchain(s);
      free_slot(s);
    }
    s = older;
  }
}

}  // namespace sooth
