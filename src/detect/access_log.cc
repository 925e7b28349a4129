#include "detect/access_log.h"

namespace sooth {

void AccessLog::add(CellId cell, const AccessRecord& access, std::uint64_t bucket) {
  std::uint32_t index = free_;
  if (index != kNone) {
    free_ = entries_[index].next_in_cell;
  } else {
    index = static_cast<std::uint32_t>(entries_.size());
    entries_.emplace_back();
  }
  entries_[index] = {access, cell, heads_[raw(cell)], buckets_[bucket]};
  heads_[raw(cell)] = index;
  buckets_[bucket] = index;
  if (++entry_count_ > buckets_.size()) {
    grow();
  }
}

void AccessLog::grow() {
  buckets_.assign(buckets_.size() * 4, kNone);
  for (const std::uint32_t head : heads_) {
    for (std::uint32_t i = head; i != kNone; i = entries_[i].next_in_cell) {
      link_into_bucket(i);
    }
  }
}

void AccessLog::link_into_bucket(std::uint32_t entry) {
  std::uint32_t& bucket = buckets_[bucket_of(entries_[entry])];
  entries_[entry].next_in_bucket = bucket;
  bucket = entry;
}

void AccessLog::unlink_from_bucket(std::uint32_t entry) {
  std::uint32_t* link = &buckets_[bucket_of(entries_[entry])];
  while (*link != entry) {
    link = &entries_[*link].next_in_bucket;
  }
  *link = entries_[entry].next_in_bucket;
}

void AccessLog::add_cell(CellId cell) {
  if (raw(cell) >= heads_.size()) {
    heads_.resize(raw(cell) + 1);
  }
  heads_[raw(cell)] = kNone;
}

void AccessLog::copy_cell(CellId from, CellId to) {
  add_cell(to);
  // The walk is over `from`, which recording into `to` does not change; indices stay valid when entries_ grows.
  for (std::uint32_t i = heads_[raw(from)]; i != kNone; i = entries_[i].next_in_cell) {
    const AccessRecord access = entries_[i].access;
    record(to, access);
  }
}

void AccessLog::drop_cell(CellId cell) {
  std::uint32_t i = heads_[raw(cell)];
  while (i != kNone) {
    unlink_from_bucket(i);
    const std::uint32_t next = entries_[i].next_in_cell;
    entries_[i].next_in_cell = free_;
    free_ = i;
    --entry_count_;
    i = next;
  }
  heads_[raw(cell)] = kNone;
}

}  // namespace sooth
