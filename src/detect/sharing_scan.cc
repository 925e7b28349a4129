#include "detect/sharing_scan.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "order/role.h"

namespace sooth {
namespace {

constexpr std::size_t kBlock = 32;           // events whose memory is asked for at once
constexpr std::size_t kMostSets = 1u << 18;  // of readers; beyond that they are unordered with everything
constexpr EventId kForever{~std::uint64_t{0}};

constexpr std::uint64_t mask_of(std::uint64_t from, std::uint64_t to) { return (0xffu << from & 0xffu >> (7 - to)); }

// Calls visit(page, first, last): the places of the first and the last byte in each page of a block.
template <typename Visit>
void for_each_page(std::uint64_t address, std::uint64_t size, Visit&& visit) {
  constexpr std::uint64_t kPageBytes = SharedTimes::kPageBytes;
  const std::uint64_t last = address + (size - 1);
  for (std::uint64_t page = address / kPageBytes; page <= last / kPageBytes; ++page) {
    visit(page, page == address / kPageBytes ? address % kPageBytes : 0,
          page == last / kPageBytes ? last % kPageBytes : kPageBytes - 1);
  }
}

// Calls visit(place of the granule, mask) for the bytes [first, last] of a page.
template <typename Visit>
void for_each_granule(std::uint64_t first, std::uint64_t last, Visit&& visit) {
  constexpr std::uint64_t kGranule = SharedTimes::kGranule;
  for (std::uint64_t place = first / kGranule; place <= last / kGranule; ++place) {
    visit(place, mask_of(place == first / kGranule ? first % kGranule : 0,
                         place == last / kGranule ? last % kGranule : kGranule - 1));
  }
}

}  // namespace

SharingScan::SharingScan() : readers_(1) {}
SharingScan::~SharingScan() = default;

void SharingScan::consume(const Batch& batch) {
  const std::size_t size = batch.events.size();
  for (std::size_t begin = 0; begin < size; begin += kBlock) {
    const std::size_t end = std::min(begin + kBlock, size);
    for (std::size_t i = begin; i < end; ++i) {
      const Event& e = batch.events[i];
      if (Page* page = e.op <= Op::kWrite ? find_page(e.object / kPageBytes) : nullptr) {
        __builtin_prefetch(&page->cells[e.object % kPageBytes / kGranule], 1);
      }
    }
    now_ = std::min<std::uint64_t>(raw(batch.id(begin)) >> kTimeUnit, kLow);
    for (std::size_t i = begin; i < end; ++i) {
      const Event& e = batch.events[i];
      if (e.op > Op::kWrite) {
        step(batch, i);
        continue;
      }
      if (!looked_up_ || e.thread != thread_) [[unlikely]] {
        look_up(e.thread);
      }
      access(e, e.op == Op::kWrite ? Kind::kWrite : Kind::kRead);
    }
  }
}

void SharingScan::step(const Batch& batch, std::size_t i) {
  const Event& e = batch.events[i];
  looked_up_ = false;
  switch (role_of(e.op)) {
    case Role::kAccess:
      order_.incoming(e);
      look_up(e.thread);
      access(e, is_write(e.op) ? Kind::kAtomicWrite : Kind::kAtomicLoad);
      looked_up_ = false;
      return order_.outgoing(e);
    case Role::kFree: look_up(e.thread); return free(e);
    case Role::kAlloc: allocate(e, batch.id(i)); return order_.incoming(e);
    case Role::kAcquire: return order_.acquire(e);
    case Role::kRelease: return order_.release(e);
    case Role::kEdge: order_.incoming(e); return order_.outgoing(e);
    case Role::kNone:
      if (e.op == Op::kEnd) {
        order_.rest(e.thread);
      }
      return;
  }
}

void SharingScan::look_up(ThreadId thread) {
  thread_ = thread;
  looked_up_ = true;
  own_ = ClockView(order_.clock(thread));
  const Time time = own_[thread];
  too_large_ = raw(thread) > kMostThread || time > kMostTime;
  epoch_ = too_large_ ? ~std::uint64_t{0} : std::uint64_t{raw(thread)} << kTimeBits | time;
}

inline void SharingScan::access(const Event& e, Kind kind) {
  const std::uint64_t offset = e.object % kGranule;
  ++accesses_;
  if (offset + e.size <= kGranule) [[likely]] {
    const std::uint64_t number = e.object / kPageBytes;
    Page* page = find_page(number);
    if (page == nullptr) [[unlikely]] {
      page = &page_of(number);
    }
    Cell& cell = page->cells[e.object % kPageBytes / kGranule];
    touch(*page, cell, mask_of(offset, offset + e.size - 1), kind);
    several_ += (cell.write & (kMulti | kWritten)) == (kMulti | kWritten) ? 1 : 0;
    unordered_ += (cell.write & kRacy) != 0 ? 1 : 0;
    return;
  }
  access_range(e, kind);
}

void SharingScan::access_range(const Event& e, Kind kind) {
  unsigned several = 0;
  unsigned unordered = 0;
  for_each_page(e.object, e.size, [&](std::uint64_t number, std::uint64_t first, std::uint64_t last) {
    Page& page = page_of(number);
    for_each_granule(first, last, [&](std::uint64_t place, std::uint64_t mask) {
      touch(page, page.cells[place], mask, kind);
      several |= (page.cells[place].write & (kMulti | kWritten)) == (kMulti | kWritten) ? 1u : 0u;
      unordered |= (page.cells[place].write & kRacy) != 0 ? 1u : 0u;
    });
  });
  several_ += several;
  unordered_ += unordered;
}

inline void SharingScan::touch(Page& page, Cell& cell, std::uint64_t mask, Kind kind) {
  // The thread did the same since it last told anybody anything: nothing is new.
  const std::uint64_t read = cell.read >> kLowBits;
  const bool again = kind == Kind::kRead    ? read == epoch_
                     : kind == Kind::kWrite ? cell.write >> kLowBits == epoch_ && (read == 0 || read == epoch_)
                                            : false;
  if (again && (cell.write & kAtomic) == 0) [[likely]] {
    cell.write |= mask;
    return;
  }
  touch_slowly(page, cell, mask, kind);
}

void SharingScan::touch_slowly(Page& page, Cell& cell, std::uint64_t mask, Kind kind) {
  if (page.owner != raw(thread_)) {
    page.first = page.owner == kNobody ? static_cast<std::uint32_t>(now_) : page.first;
    page.owner = page.owner == kNobody ? raw(thread_) : kSeveral;
  }
  touch_cell(cell, mask, kind);
}

void SharingScan::touch_cell(Cell& cell, std::uint64_t mask, Kind kind) {
  const bool atomic = kind >= Kind::kAtomicLoad;
  const bool writes = kind == Kind::kWrite || kind == Kind::kAtomicWrite;
  std::uint64_t flags = cell.write & kLow;
  std::uint64_t write = cell.write >> kLowBits;
  std::uint64_t read = cell.read >> kLowBits;
  std::uint64_t start = cell.read & kLow;
  if ((flags & (kPlain | kAtomic)) == 0) {
    start = now_;
  }
  flags |= mask | (writes ? kWritten : 0) | (atomic ? kAtomic : kPlain);
  if ((flags & kRacy) == 0 && !too_large_) {
    const std::uint64_t thread = raw(thread_);
    const bool others = (write != 0 && write >> kTimeBits != thread) || (read != 0 && read >> kTimeBits != thread);
    const bool all = kind == Kind::kWrite || (kind == Kind::kRead && (flags & kAtomicWrite) != 0) ||
                     (kind == Kind::kAtomicWrite && (flags & kPlainRead) != 0);
    flags |= others ? kMulti : 0;
    if (others && (!knows(write) || (all && !knows_all(read)))) {
      flags |= kRacy;
    }
  }
  if ((flags & kRacy) != 0 || too_large_) {
    // The rest plays no part any more.
    flags |= kRacy | kMulti | kWritten;
    give_back(read);
    write = read = 0;
  } else if (kind == Kind::kWrite) {
    give_back(read);
    write = epoch_;
    read = 0;
    flags &= ~(kAtomicWrite | kPlainRead);
  } else {
    read = with_reader(read, (flags & kAtomic) != 0);
    flags |= kind == Kind::kRead ? kPlainRead : kind == Kind::kAtomicWrite ? kAtomicWrite : 0;
  }
  cell.write = write << kLowBits | flags;
  cell.read = read << kLowBits | start;
}

bool SharingScan::knows(std::uint64_t epoch) const {
  return (epoch & kMostTime) <= own_[ThreadId(static_cast<std::uint32_t>(epoch >> kTimeBits))];
}

bool SharingScan::knows_all(std::uint64_t readers) const {
  const std::uint64_t index = readers & kMostTime;
  switch (readers >> kTimeBits) {
    case kReaderSet:
      return index != kMostTime && std::all_of(readers_[index].begin(), readers_[index].end(),
                                               [&](std::uint64_t epoch) { return knows(epoch); });
    case kReaderClock: return own_.covers(clocks_[index]);
    default: return knows(readers);
  }
}

// The readers and the access that is being made.
std::uint64_t SharingScan::with_reader(std::uint64_t readers, bool atomic) {
  if (knows_all(readers)) {
    give_back(readers);
    return epoch_;
  }
  return atomic || readers >> kTimeBits == kReaderClock ? add_to_clock(readers) : add_to_set(readers);
}

std::uint64_t SharingScan::add_to_set(std::uint64_t readers) {
  constexpr std::uint64_t kUnknown = kReaderSet << kTimeBits | kMostTime;
  const auto extended = [&](std::uint64_t set, std::uint64_t epoch) {
    if (set == kMostTime) {
      return set;
    }
    std::uint32_t& next = reader_index_[set << (64 - kLowBits) | epoch];
    if (next == 0) {
      if (readers_.size() == kMostSets) {
        return kMostTime;
      }
      std::vector<std::uint64_t> epochs = readers_[set];
      std::erase_if(epochs, [&](std::uint64_t each) { return each >> kTimeBits == epoch >> kTimeBits; });
      epochs.insert(std::upper_bound(epochs.begin(), epochs.end(), epoch), epoch);
      next = static_cast<std::uint32_t>(readers_.size());
      readers_.push_back(std::move(epochs));
    }
    return std::uint64_t{next};
  };
  static_assert(kMostSets <= 1u << kLowBits);
  const bool is_set = readers >> kTimeBits == kReaderSet;
  if (readers == kUnknown) {
    return kUnknown;
  }
  return kReaderSet << kTimeBits | extended(is_set ? readers & kMostTime : extended(0, readers), epoch_);
}

std::uint64_t SharingScan::add_to_clock(std::uint64_t readers) {
  if (readers >> kTimeBits != kReaderClock) {
    if (readers == (kReaderSet << kTimeBits | kMostTime)) {
      return readers;
    }
    if (free_clocks_.empty()) {
      free_clocks_.push_back(static_cast<std::uint32_t>(clocks_.size()));
      clocks_.emplace_back();
    }
    const std::uint32_t index = free_clocks_.back();
    free_clocks_.pop_back();
    const auto add = [&](std::uint64_t epoch) {
      clocks_[index].set(ThreadId(static_cast<std::uint32_t>(epoch >> kTimeBits)),
                         static_cast<Time>(epoch & kMostTime));
    };
    if (readers >> kTimeBits == kReaderSet) {
      std::for_each(readers_[readers & kMostTime].begin(), readers_[readers & kMostTime].end(), add);
    } else {
      add(readers);
    }
    readers = kReaderClock << kTimeBits | index;
  }
  clocks_[readers & kMostTime].set(thread_, static_cast<Time>(epoch_ & kMostTime));
  return readers;
}

void SharingScan::give_back(std::uint64_t readers) {
  if (readers >> kTimeBits == kReaderClock) {
    clocks_[readers & kMostTime].clear();
    free_clocks_.push_back(static_cast<std::uint32_t>(readers & kMostTime));
  }
}

// A write to the whole block. Pages that only the thread itself has used need not be looked at byte by byte: what it has
// done there precedes it.
void SharingScan::free(const Event& e) {
  std::uint64_t whole_first = 1;  // whole pages of the block
  std::uint64_t whole_last = 0;
  std::uint64_t start = now_;
  for_each_page(e.object, e.size, [&](std::uint64_t number, std::uint64_t first, std::uint64_t last) {
    const bool whole = first == 0 && last == kPageBytes - 1;
    if (whole) {
      whole_first = whole_first > whole_last ? number : whole_first;
      whole_last = number;
      const Page* page = find_page(number);
      if (page == nullptr) {
        return;
      }
      if (page->owner == raw(thread_) && !too_large_) {
        start = std::min<std::uint64_t>(start, page->first);
        return drop_page(number);
      }
    }
    Page& page = page_of(number);
    for_each_granule(first, last, [&](std::uint64_t place, std::uint64_t mask) {
      touch(page, page.cells[place], mask, Kind::kWrite);
    });
  });
  if (whole_first > whole_last) {
    return;
  }
  cut_stretches(whole_first, whole_last);
  std::uint64_t at = whole_first;
  for (auto it = stretches_.lower_bound(whole_first); it != stretches_.end() && it->first <= whole_last; ++it) {
    if (at < it->first) {
      stretches_.emplace(at, Stretch{it->first - 1, {}});
    }
    at = it->second.last + 1;
  }
  if (at <= whole_last) {
    stretches_.emplace(at, Stretch{whole_last, {}});
  }
  for (auto it = stretches_.lower_bound(whole_first); it != stretches_.end() && it->first <= whole_last; ++it) {
    Cell& cell = it->second.cell;
    touch_cell(cell, kBytes, Kind::kWrite);
    cell.read = (cell.read & ~kLow) | std::min(cell.read & kLow, start);
  }
}

void SharingScan::allocate(const Event& e, EventId id) {
  std::uint64_t whole_first = 1;
  std::uint64_t whole_last = 0;
  for_each_page(e.object, e.size, [&](std::uint64_t number, std::uint64_t first, std::uint64_t last) {
    const bool whole = first == 0 && last == kPageBytes - 1;
    if (whole) {
      whole_first = whole_first > whole_last ? number : whole_first;
      whole_last = number;
    }
    allocate_page(number, first, last, id);
  });
  if (whole_first > whole_last) {
    return;
  }
  cut_stretches(whole_first, whole_last);
  auto it = stretches_.lower_bound(whole_first);
  while (it != stretches_.end() && it->first <= whole_last) {
    finish_stretch(it->first, it->second, id);
    it = stretches_.erase(it);
  }
}

void SharingScan::allocate_page(std::uint64_t number, std::uint64_t first, std::uint64_t last, EventId id) {
  const bool whole = first == 0 && last == kPageBytes - 1;
  Page* page = find_page(number);
  if (page == nullptr) {
    const auto next = stretches_.upper_bound(number);
    if (whole || next == stretches_.begin() || std::prev(next)->second.last < number) {
      return;
    }
    page = &page_of(number);
  }
  if (!whole || page->owner == kSeveral) {
    for_each_granule(first, last, [&](std::uint64_t place, std::uint64_t mask) {
      Cell& cell = page->cells[place];
      if ((cell.write & kBytes & ~mask) == 0) {
        end_generation(number * kPageGranules + place, cell, id);
        give_back(cell.read >> kLowBits);
        cell = {kUsedBefore, 0};
      }
    });
  }
  if (whole) {
    drop_page(number);
  }
}

void SharingScan::end_generation(std::uint64_t granule, const Cell& cell, EventId to) {
  constexpr std::uint64_t kAll = kMulti | kWritten | kPlain;
  if ((cell.write & kAll) != kAll) {
    return;
  }
  const SharingLevel what = (cell.write & kRacy) != 0 ? SharingLevel::kUnordered : SharingLevel::kSeveral;
  if (to == kForever && (cell.write & kUsedBefore) == 0) {
    times_.add_always(granule, what);
  } else {
    times_.add(granule, EventId{(cell.read & kLow) << kTimeUnit}, to, what);
  }
}

void SharingScan::finish_stretch(std::uint64_t first, const Stretch& stretch, EventId to) {
  constexpr std::uint64_t kAll = kMulti | kWritten | kPlain;
  if ((stretch.cell.write & kAll) == kAll) {
    times_.add_pages(first, stretch.last, EventId{(stretch.cell.read & kLow) << kTimeUnit}, to,
                     (stretch.cell.write & kRacy) != 0 ? SharingLevel::kUnordered : SharingLevel::kSeveral);
  }
}

SharedTimes SharingScan::finish() {
  pages_.for_each([&](std::uint64_t number, const std::unique_ptr<Page>& page) {
    for (std::uint64_t place = 0; page->owner == kSeveral && place < kPageGranules; ++place) {
      end_generation(number * kPageGranules + place, page->cells[place], kForever);
    }
  });
  for (const auto& [first, stretch] : stretches_) {
    finish_stretch(first, stretch, kForever);
  }
  return std::move(times_);
}

std::uint64_t SharingScan::memory() const {
  return (pages_.size() + spare_pages_.size()) * sizeof(Page) + pages_.memory() + reader_index_.memory();
}

inline SharingScan::Page* SharingScan::find_page(std::uint64_t number) {
  CachedPage& cached = page_cache_[number % page_cache_.size()];
  if (cached.number == number) [[likely]] {
    return cached.page;
  }
  const std::unique_ptr<Page>* page = pages_.find(number);
  if (page == nullptr) {
    return nullptr;
  }
  cached = {number, page->get()};
  return cached.page;
}

SharingScan::Page& SharingScan::page_of(std::uint64_t number) {
  if (Page* page = find_page(number)) {
    return *page;
  }
  std::unique_ptr<Page>& page = pages_[number];
  if (spare_pages_.empty()) {
    page = std::make_unique<Page>();
  } else {
    page = std::move(spare_pages_.back());
    spare_pages_.pop_back();
    *page = Page{};
  }
  const auto next = stretches_.upper_bound(number);
  if (next != stretches_.begin() && std::prev(next)->second.last >= number) {
    Cell cell = std::prev(next)->second.cell;  // freed, so there are no readers
    cell.write |= kUsedBefore;
    page->cells.fill(cell);
    page->first = static_cast<std::uint32_t>(cell.read & kLow);
    page->owner =
        (cell.write & kMulti) != 0 ? kSeveral : static_cast<std::uint32_t>(cell.write >> kLowBits >> kTimeBits);
  } else {
    page_numbers_.for_each(number, number, [&](std::uint64_t) { page->cells.fill({kUsedBefore, 0}); });
  }
  page_numbers_.insert(number);
  return *page;
}

void SharingScan::drop_page(std::uint64_t number) {
  CachedPage& cached = page_cache_[number % page_cache_.size()];
  cached = cached.number == number ? CachedPage{} : cached;
  std::unique_ptr<Page>* page = pages_.find(number);
  for (const Cell& cell : (*page)->cells) {
    give_back(cell.read >> kLowBits);
  }
  spare_pages_.push_back(std::move(*page));
  pages_.erase(number);
}

// Makes stretches begin and end at the edges of [first, last].
void SharingScan::cut_stretches(std::uint64_t first, std::uint64_t last) {
  cut_stretch_before(first);
  cut_stretch_before(last + 1);
}

void SharingScan::cut_stretch_before(std::uint64_t page) {
  const auto it = stretches_.lower_bound(page);
  if (it == stretches_.begin() || std::prev(it)->second.last < page) {
    return;
  }
  Stretch& left = std::prev(it)->second;
  stretches_.emplace(page, left);
  left.last = page - 1;
}

}  // namespace sooth
