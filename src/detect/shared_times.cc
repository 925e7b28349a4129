#include "detect/shared_times.h"

#include <algorithm>

namespace sooth {

SharedTimes::Page& SharedTimes::page_of(std::uint64_t granule, SharingLevel what) {
  const std::uint64_t number = granule / kPageGranules;
  std::uint32_t& index = page_index_[number];
  if (index == 0) {
    pages_.emplace_back();
    index = static_cast<std::uint32_t>(pages_.size());
    page_numbers_.insert(number);
    cache_.fill({});  // the pages may have moved
  }
  for (unsigned level = 0; level <= raw(what); ++level) {
    filter_[level][number % kFilter / 64] |= std::uint64_t{1} << number % 64;
  }
  return pages_[index - 1];
}

void SharedTimes::add(std::uint64_t granule, EventId from, EventId to, SharingLevel what) {
  for (unsigned level = 0; level <= raw(what); ++level) {
    add_stretch(granule, from, to, SharingLevel(level));
  }
}

void SharedTimes::add_stretch(std::uint64_t granule, EventId from, EventId to, SharingLevel what) {
  Bits& ever = page_of(granule, what).ever[raw(what)];
  std::uint64_t& word = ever[granule % kPageGranules / 64];
  const std::uint64_t bit = std::uint64_t{1} << granule % 64;
  granules_[raw(what)] += (word & bit) == 0 ? 1 : 0;
  word |= bit;
  std::uint32_t& latest = latest_[raw(what)][granule];
  if (latest != kNone) {
    Stretch& last = stretches_[latest];
    if (raw(from) <= raw(last.to) + kClose || last.count == kMostStretches) {
      last.to = std::max(last.to, to);
      return;
    }
  }
  stretches_.push_back({from, to, latest, latest == kNone ? 1 : stretches_[latest].count + 1});
  latest = static_cast<std::uint32_t>(stretches_.size()) - 1;
}

void SharedTimes::add_always(std::uint64_t granule, SharingLevel what) {
  Page& page = page_of(granule, what);
  const std::uint64_t bit = std::uint64_t{1} << granule % 64;
  for (unsigned level = 0; level <= raw(what); ++level) {
    std::uint64_t& word = page.ever[level][granule % kPageGranules / 64];
    granules_[level] += (word & bit) == 0 ? 1 : 0;
    word |= bit;
    page.always[level][granule % kPageGranules / 64] |= bit;
  }
}

void SharedTimes::add_pages(std::uint64_t first, std::uint64_t last, EventId from, EventId to, SharingLevel what) {
  for (unsigned level = 0; level <= raw(what); ++level) {
    page_stretches_.push_back({first, last, from, to, SharingLevel(level)});
    granules_[level] += (last - first + 1) * kPageGranules;
  }
}

const SharedTimes::Page* SharedTimes::find_page(std::uint64_t number) const {
  CachedPage& cached = cache_[number % cache_.size()];
  if (cached.number != number) [[unlikely]] {
    const std::uint32_t* index = page_index_.find(number);
    cached = {number, index == nullptr ? nullptr : &pages_[*index - 1]};
  }
  return cached.page;
}

bool SharedTimes::any_in_range(std::uint64_t address, std::uint64_t size, EventId at, SharingLevel what) const {
  const std::uint64_t first = address / kGranule;
  const std::uint64_t last = (address + (size - 1)) / kGranule;
  const std::uint64_t first_page = first / kPageGranules;
  const std::uint64_t last_page = last / kPageGranules;
  if (!page_stretches_.empty() && any_in_pages(address, size, at, what)) [[unlikely]] {
    return true;
  }
  bool found = false;
  page_numbers_.for_each(first_page, last_page, [&](std::uint64_t page) {
    found = found || any_in_page(page, page == first_page ? first % kPageGranules : 0,
                                 page == last_page ? last % kPageGranules : kPageGranules - 1, at, what);
  });
  return found;
}

// `first` and `last` are places in the page.
bool SharedTimes::any_in_page(std::uint64_t number, std::uint64_t first, std::uint64_t last, EventId at,
                              SharingLevel what) const {
  const Page* page = find_page(number);
  if (page == nullptr) {
    return false;
  }
  for (std::uint64_t word = first / 64; word <= last / 64; ++word) {
    const std::uint64_t from = word == first / 64 ? first % 64 : 0;
    const std::uint64_t to = word == last / 64 ? last % 64 : 63;
    const std::uint64_t asked = ~std::uint64_t{0} << from & ~std::uint64_t{0} >> (63 - to);
    std::uint64_t bits = page->ever[raw(what)][word] & asked;
    if ((bits & page->always[raw(what)][word]) != 0) {
      return true;
    }
    for (; bits != 0; bits &= bits - 1) {
      const auto place = word * 64 + static_cast<std::uint64_t>(std::countr_zero(bits));
      if (any_in_stretches(number * kPageGranules + place, at, what)) {
        return true;
      }
    }
  }
  return false;
}

bool SharedTimes::any_in_stretches(std::uint64_t granule, EventId at, SharingLevel what) const {
  const std::uint32_t* latest = latest_[raw(what)].find(granule);
  for (std::uint32_t i = latest == nullptr ? kNone : *latest; i != kNone; i = stretches_[i].earlier) {
    if (stretches_[i].from <= at) {
      return at < stretches_[i].to;
    }
  }
  return false;
}

bool SharedTimes::any_in_pages(std::uint64_t address, std::uint64_t size, EventId at, SharingLevel what) const {
  return std::any_of(page_stretches_.begin(), page_stretches_.end(), [&](const PageStretch& stretch) {
    return stretch.what == what && address / kPageBytes <= stretch.last &&
           (address + (size - 1)) / kPageBytes >= stretch.first && stretch.from <= at && at < stretch.to;
  });
}

void SharedView::follow(const Event& e) {
  if (raw(e.thread) >= held_.size()) {
    held_.resize(raw(e.thread) + 1);
  }
  std::uint32_t& held = held_[raw(e.thread)];
  held = e.op == Op::kAcquire ? held + 1 : held - std::min(held, 1u);
}

Batch SharedView::hide(const Batch& batch) {
  const std::size_t size = batch.events.size();
  const bool stacks = !batch.stacks.empty();
  events_.resize(std::max(events_.size(), size));
  ids_.resize(std::max(ids_.size(), size));
  stacks_.resize(stacks ? std::max(stacks_.size(), size) : stacks_.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const Event& e = batch.events[i];
    const bool looked_at = e.op <= Op::kWrite || e.op == Op::kFree;
    if (looked_at && !keeps(e, batch.id(i))) {
      continue;
    }
    if (sections_ && (e.op == Op::kAcquire || e.op == Op::kRelease)) {
      follow(e);
    }
    events_[count] = e;
    ids_[count] = batch.id(i);
    if (stacks) {
      stacks_[count] = batch.stacks[i];
    }
    ++count;
  }
  hidden_ += size - count;
  Batch left;
  left.first = batch.first;
  left.events = std::span(events_).first(count);
  left.ids = std::span(ids_).first(count);
  left.stacks = std::span(stacks_).first(stacks ? count : 0);
  return left;
}

}  // namespace sooth
