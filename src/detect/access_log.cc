#include "detect/access_log.h"

#include <map>
#include <utility>

namespace sooth {
namespace {

constexpr unsigned kFirstBits = 11;

}  // namespace

AccessLog::AccessLog(Keys keys)
    : locks_mask_(keys == Keys::kPlain ? 0u : ~0u),
      threads_mask_(keys == Keys::kLatestTwo ? 0u : ~0u),
      shift_(static_cast<std::uint8_t>(64 - kFirstBits)),
      buckets_(1u << kFirstBits) {}

void AccessLog::set_details(std::uint32_t i, AccessView access) {
  const Event& e = access.event;
  details_[i] = {e.object, e.size, e.op, e.order, e.flags, access.stack, details_[i].next_in_group};
}

void AccessLog::add(CellId cell, AccessView access, std::uint8_t shape, std::uint32_t bucket) {
  std::uint32_t index = free_entry_;
  if (index != kNone) {
    free_entry_ = details_[index].next_in_group;
  } else {
    index = static_cast<std::uint32_t>(entries_.size());
    entries_.emplace_back();
    details_.emplace_back();
  }
  Group& group = groups_[group_of(cell, key_locks(access.locks))];
  entries_[index] = {key_of(cell, access.event),  access.event.thread, buckets_[bucket],
                     raw(access.id) << 8 | shape, access.time,         access.locks};
  details_[index].next_in_group = group.first;
  set_details(index, access);
  group.first = index;
  if (++group.count >= kLong) {
    list_entry(group, index);
  }
  buckets_[bucket] = index;
  if (2 * ++entry_count_ > buckets_.size()) {
    grow();
  }
}

// Threads are no part of the hash then, so all entries of a key are in one bucket.
void AccessLog::record_latest(CellId cell, AccessView access) {
  const std::uint64_t key = key_of(cell, access.event);
  const std::uint32_t bucket = bucket_of(own_hash(key, access.event.thread), access.locks);
  std::uint32_t place = kNone;  // its own; or the oldest
  std::uint32_t others = 0;
  for (std::uint32_t i = buckets_[bucket]; i != kNone; i = entries_[i].next_in_bucket) {
    if (entries_[i].cell_site_kind != key || entries_[i].locks != access.locks) {
      continue;
    }
    if (entries_[i].thread == access.event.thread) {
      place = i;
      others = 2;
      break;
    }
    ++others;
    place = place == kNone || entries_[i].id_shape < entries_[place].id_shape ? i : place;
  }
  if (others < 2) {
    return add(cell, access, kAnyShape, bucket);
  }
  entries_[place].thread = access.event.thread;
  entries_[place].id_shape = raw(access.id) << 8 | kAnyShape;
  entries_[place].time = access.time;
  set_details(place, access);
}

// Only when a key is new, so that recording costs nothing more.
void AccessLog::list_entry(Group& group, std::uint32_t entry) {
  if (group.list != kNone) {
    lists_[group.list].push_back(entry);
    return;
  }
  if (free_lists_.empty()) {
    free_lists_.push_back(static_cast<std::uint32_t>(lists_.size()));
    lists_.emplace_back();
  }
  group.list = free_lists_.back();
  free_lists_.pop_back();
  for (std::uint32_t i = group.first; i != kNone; i = details_[i].next_in_group) {
    lists_[group.list].push_back(i);
  }
}

std::uint32_t AccessLog::group_of(CellId cell, LockSetId locks) {
  if (const std::uint32_t known = group_index_.find(groups_, heads_[raw(cell)], cell, locks); known != kNone) {
    return known;
  }
  std::uint32_t g = free_group_;
  if (g != kNone) {
    free_group_ = groups_[g].next;
  } else {
    g = static_cast<std::uint32_t>(groups_.size());
    groups_.emplace_back();
  }
  groups_[g] = {locks, kNone, heads_[raw(cell)]};
  heads_[raw(cell)] = g;
  group_index_.add(groups_, g, cell);
  if (has_families(g)) {
    add_to_family(cell, g);
  }
  return g;
}

// The group is the head of its cell.
void AccessLog::add_to_family(CellId cell, std::uint32_t group) {
  Families& families = families_[raw(cell)];
  Family& others = families.list.front();
  if (groups_[group].rank == kMany) {
    for (std::uint32_t g = group; g != kNone; g = groups_[g].next) {
      others.groups.push_back(g);
    }
  } else {
    const std::vector<LockMode>& locks = table_->locks(groups_[group].locks);
    const auto found = std::find_if(families.list.begin() + 1, families.list.end(), [&](const Family& family) {
      return std::binary_search(locks.begin(), locks.end(), table_->locks(family.lock).front());
    });
    (found == families.list.end() ? others : *found).groups.push_back(group);
  }
  // Each time there are twice as many, so that looking takes time in proportion to their number.
  if (families.list.front().groups.size() >= families.look_at) {
    while (part_family(families)) {
    }
    families.look_at = std::max<std::size_t>(kMany, 2 * families.list.front().groups.size());
  }
}

// Makes a family of those groups without one that hold the lock which most of them hold, if at least half of them do.
bool AccessLog::part_family(Families& families) {
  std::vector<std::uint32_t>& others = families.list.front().groups;
  std::map<LockMode, std::size_t> holding;
  for (const std::uint32_t g : others) {
    for (const LockMode& lock : table_->locks(groups_[g].locks)) {
      ++holding[lock];
    }
  }
  const auto most = std::max_element(holding.begin(), holding.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == holding.end() || 2 * most->second < others.size() || families.list.size() > kMostFamilies) {
    return false;
  }
  const auto first = std::partition(others.begin(), others.end(), [&](std::uint32_t g) {
    const std::vector<LockMode>& locks = table_->locks(groups_[g].locks);
    return !std::binary_search(locks.begin(), locks.end(), most->first);
  });
  Family made{table_->with(kNoLocks, most->first), {first, others.end()}};
  others.erase(first, others.end());
  families.list.push_back(std::move(made));
  return true;
}

void AccessLog::grow() {
  buckets_.assign(buckets_.size() * 4, kNone);
  shift_ = static_cast<std::uint8_t>(shift_ - 2);
  // In the order of memory, which is much faster than that of the cells.
  for (std::uint32_t i = 1; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    if (entry.cell_site_kind != kDropped) {
      std::uint32_t& bucket = buckets_[bucket_of(own_hash(entry.cell_site_kind, entry.thread), entry.locks)];
      entry.next_in_bucket = bucket;
      bucket = i;
    }
  }
}

void AccessLog::unlink_from_bucket(std::uint32_t index) {
  const Entry& entry = entries_[index];
  std::uint32_t* link = &buckets_[bucket_of(own_hash(entry.cell_site_kind, entry.thread), entry.locks)];
  while (*link != index) {
    link = &entries_[*link].next_in_bucket;
  }
  *link = entry.next_in_bucket;
}

void AccessLog::add_cell(CellId cell) {
  if (raw(cell) >= heads_.size()) {
    heads_.resize(raw(cell) + 1);
  }
  heads_[raw(cell)] = kNone;
}

void AccessLog::copy_cell(CellId from, CellId to) {
  add_cell(to);
  // Recording into `to` does not change the chains of `from`, but may move the entries.
  for (std::uint32_t g = heads_[raw(from)]; g != kNone; g = groups_[g].next) {
    for (std::uint32_t i = groups_[g].first; i != kNone; i = details_[i].next_in_group) {
      const AccessRecord access = access_of(i);
      record(to, access);
    }
  }
}

void AccessLog::drop_cell(CellId cell) {
  std::uint32_t g = heads_[raw(cell)];
  if (has_families(g)) {
    families_.erase(raw(cell));
  }
  while (g != kNone) {
    for (std::uint32_t i = groups_[g].first; i != kNone;) {
      unlink_from_bucket(i);
      entries_[i].cell_site_kind = kDropped;
      const std::uint32_t next = details_[i].next_in_group;
      details_[i].next_in_group = free_entry_;
      free_entry_ = i;
      --entry_count_;
      i = next;
    }
    const std::uint32_t next = groups_[g].next;
    group_index_.remove(cell, groups_[g].locks);
    if (groups_[g].list != kNone) {
      lists_[groups_[g].list] = {};
      free_lists_.push_back(groups_[g].list);
    }
    groups_[g].next = free_group_;
    free_group_ = g;
    g = next;
  }
  heads_[raw(cell)] = kNone;
}

}  // namespace sooth
