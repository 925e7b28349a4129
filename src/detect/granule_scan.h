// SharingScan for any order between threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "detect/reader_sets.h"
#include "detect/sharing_scan.h"
#include "order/role.h"
#include "order/sparse_set.h"
#include "order/vector_clock.h"

namespace sooth {

namespace granule_scan {

inline constexpr std::size_t kBlock = 32;     // events whose memory is asked for at once
inline constexpr std::uint64_t kSampled = 4;  // of so many blocks the accesses of one are counted
inline constexpr EventId kForever{~std::uint64_t{0}};

constexpr std::uint64_t mask_of(std::uint64_t from, std::uint64_t to) { return (0xffu << from & 0xffu >> (7 - to)); }

// By offset * kGranule + size - 1, of accesses within a granule.
inline constexpr auto kMasks = [] {
  std::array<std::uint8_t, SharedTimes::kGranule * SharedTimes::kGranule> masks{};
  for (std::uint64_t offset = 0; offset < SharedTimes::kGranule; ++offset) {
    for (std::uint64_t size = 1; offset + size <= SharedTimes::kGranule; ++size) {
      masks[offset * SharedTimes::kGranule + size - 1] = static_cast<std::uint8_t>(mask_of(offset, offset + size - 1));
    }
  }
  return masks;
}();

// Bit i: the mask has byte 2 i or 2 i + 1.
constexpr std::uint64_t pairs_of(std::uint64_t mask) {
  const std::uint64_t even = (mask | mask >> 1) & 0x55;
  const std::uint64_t close = (even | even >> 1) & 0x33;
  return (close | close >> 2) & 0xf;
}

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

}  // namespace granule_scan

// Look tells what threads know:
//   void look_up(ThreadId);                          // what follows is about this thread, until any event but a plain
//                                                    // access outside of sections
//   Time time(); bool knows(ThreadId, Time); bool covers(const VectorClock&);
//   bool in_section();
//   kAccessesTeach: void access_in_section(const Event&) comes before accesses in sections, void allocate(const Event&)
//   kReadsTeach: void read(ThreadId writer, Time);   // the thread, which did not know it, has read what was written then
//   void incoming(const Event&), outgoing(...), acquire(...), release(...); void rest(ThreadId);
//   bool knows_sections(ThreadId, lock);             // as HbOrder has them
template <typename Look>
class GranuleScan final : public SharingScan {
 public:
  void consume(const Batch& batch) override;
  SharedTimes finish() override;
  SharedTimes so_far() const override;
  void forget_before(EventId event) override {
    forgotten_ = (raw(event) + (std::uint64_t{1} << kTimeUnit) - 1) >> kTimeUnit;
  }
  std::uint64_t late() const override { return late_; }
  std::uint64_t accesses() const override { return accesses_; }
  std::uint64_t accesses(SharingLevel what, bool sections) const override {
    return what == SharingLevel::kSeveral ? several_ : sections ? kept_for_sections_ : unordered_;
  }
  bool destroys_in_use() const override { return destroys_in_use_; }
  std::uint64_t memory() const override;

 private:
  // Epochs are as in ReaderSets.
  // `write`: the latest plain write << 20 | flags << 8 | the bytes of the granule that were accessed.
  // `read`: what came since << 20 | when the first access was, in kTimeUnit events.
  struct Cell {
    std::uint64_t write = 0;
    std::uint64_t read = 0;
  };
  static constexpr unsigned kLowBits = 20;
  static constexpr std::uint64_t kLow = (std::uint64_t{1} << kLowBits) - 1;
  static constexpr unsigned kTimeBits = ReaderSets::kTimeBits;
  static constexpr std::uint64_t kMostTime = ReaderSets::kMostTime;
  static constexpr std::uint64_t kMostThread = ReaderSets::kMostThread;
  static constexpr unsigned kTimeUnit = 16;  // log2

  static constexpr std::uint64_t kBytes = 0xff;
  static constexpr std::uint64_t kWritten = 1u << 8;
  static constexpr std::uint64_t kMulti = 1u << 9;  // of several threads
  static constexpr std::uint64_t kRacy = 1u << 10;
  static constexpr std::uint64_t kUsedBefore = 1u << 11;   // in an earlier generation
  static constexpr std::uint64_t kPlain = 1u << 12;        // there were plain accesses
  static constexpr std::uint64_t kAtomic = 1u << 13;       // ... and atomic ones
  static constexpr std::uint64_t kAtomicWrite = 1u << 14;  // since the latest plain write
  static constexpr std::uint64_t kPlainRead = 1u << 15;    // since the latest plain write
  // With kReadsTeach: of each two bytes, whether the epoch of the latest plain write has written one of them, and nobody
  // has since. Then `write` is kept where the granule is kRacy, too.
  static constexpr unsigned kFreshBit = 16;
  static constexpr std::uint64_t kFresh = 0xfu << kFreshBit;

  static constexpr std::uint64_t kGranule = SharedTimes::kGranule;
  static constexpr std::uint64_t kPageGranules = SharedTimes::kPageGranules;
  static constexpr std::uint64_t kPageBytes = SharedTimes::kPageBytes;
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};
  static constexpr std::uint32_t kSeveral = kNobody - 1;

  struct Page {
    std::array<Cell, kPageGranules> cells{};
    std::uint32_t owner = kNobody;  // the thread of all accesses to it, or kSeveral
    std::uint32_t first = 0;        // ... when they began, in kTimeUnit events
  };
  struct CachedPage {
    std::uint64_t number = ~std::uint64_t{0};
    Page* page = nullptr;
  };
  // Pages without cells of their own that were freed together. Pages that came to have some since lie in between.
  struct Stretch {
    std::uint64_t last = 0;  // page
    Cell cell;
  };
  enum class Kind : std::uint8_t { kRead, kWrite, kAtomicLoad, kAtomicWrite };
  // A granule that holds several variables, which different threads use: a cell for each byte. Its own cell keeps flags,
  // and says where this is in the place of the latest write.
  using Split = std::array<Cell, kGranule>;
  static constexpr std::uint64_t kSplit = 0x3fff;  // in the place of a thread
  static constexpr std::size_t kMostSplits = 1u << 16;
  static_assert(kSplit > kMostThread);

  void step(const Batch& batch, std::size_t i);
  void look_up(ThreadId thread);
  // A plain access in one granule, whose cell is this, that tells nothing new; false: it is something else.
  [[gnu::always_inline]] bool access_again(const Event& e, Cell* cell);
  void access(const Event& e, Kind kind);
  void before_access(const Event& e);
  void access_range(const Event& e, Kind kind);
  void count(std::uint64_t flags) {
    if (!sampled_) {
      return;
    }
    ++accesses_;
    const unsigned several = (flags & (kMulti | kWritten)) == (kMulti | kWritten) ? 1 : 0;
    const unsigned unordered = (flags & kRacy) != 0 ? 1 : 0;
    several_ += several;
    unordered_ += unordered;
    kept_for_sections_ += unordered | (several & (look_.in_section() ? 1u : 0u));
  }
  void touch(Page& page, Cell& cell, std::uint64_t mask, Kind kind);
  [[gnu::noinline]] void touch_slowly(Page& page, Cell& cell, std::uint64_t mask, Kind kind);
  void touch_cell(Cell& cell, std::uint64_t mask, Kind kind);
  [[gnu::noinline]] bool split(Cell& cell, std::uint64_t mask, Kind kind);
  [[gnu::noinline]] void touch_split(Cell& cell, std::uint64_t mask, Kind kind);
  static bool is_split(const Cell& cell) { return cell.write >> kLowBits >> kTimeBits == kSplit; }
  Split& split_of(const Cell& cell) { return splits_[cell.write >> kLowBits & kMostTime]; }
  void give_back(const Cell& cell);
  void touch_racy(std::uint64_t& flags, std::uint64_t& write, std::uint64_t mask, Kind kind);
  void learn_from_reads();
  void free(const Event& e);
  void allocate(const Event& e, EventId id);
  void allocate_memory(const Event& e, EventId id);
  std::uint64_t with_parts(std::uint64_t granule, std::uint64_t mask) const {
    return mask | (allocated_parts_[0].granule == granule ? allocated_parts_[0].mask : 0) |
           (allocated_parts_[1].granule == granule ? allocated_parts_[1].mask : 0);
  }
  void allocate_page(std::uint64_t number, std::uint64_t first, std::uint64_t last, EventId id);
  static void end_generation(std::uint64_t granule, const Cell& cell, EventId to, SharedTimes& into);
  static void finish_stretch(std::uint64_t first, const Stretch& stretch, EventId to, SharedTimes& into);
  void add_present(SharedTimes& into) const;

  bool knows(std::uint64_t epoch) const;

  Page* find_page(std::uint64_t number);
  Page& page_of(std::uint64_t number);
  void drop_page(std::uint64_t number);
  void cut_stretches(std::uint64_t first, std::uint64_t last);
  void cut_stretch_before(std::uint64_t page);

  Look look_;
  // Of the thread whose events are being looked at.
  ThreadId thread_{};
  bool looked_up_ = false;
  std::uint64_t epoch_ = 0;
  bool too_large_ = false;  // ... its epoch does not fit
  std::uint64_t now_ = 0;   // in kTimeUnit events

  FlatMap<std::unique_ptr<Page>> pages_;
  SparseSet page_numbers_;  // of all pages that ever were in pages_
  std::vector<std::unique_ptr<Page>> spare_pages_;
  std::array<CachedPage, 1024> page_cache_;
  std::array<Cell*, granule_scan::kBlock> found_{};  // of the events at hand; nullptr: look for it
  std::map<std::uint64_t, Stretch> stretches_;       // by first page; disjoint
  ReaderSets readers_;
  std::vector<Split> splits_;
  std::vector<std::uint32_t> free_splits_;
  std::vector<std::uint64_t> read_;  // epochs of the writes that the access at hand has seen and did not know

  // What the allocation before the event `behind_allocation_` took of its first and last granule, with what the one just
  // before that took: recorders tell of a block and of what is left behind it one after the other.
  struct Part {
    std::uint64_t granule = ~std::uint64_t{0};
    std::uint64_t mask = 0;
  };
  std::array<Part, 2> allocated_parts_;
  std::uint64_t behind_allocation_ = 0;

  SharedTimes times_;
  std::uint64_t forgotten_ = 0;  // in kTimeUnit events, rounded up
  std::uint64_t late_ = 0;
  bool destroys_in_use_ = false;
  std::uint64_t blocks_ = 0;
  bool sampled_ = false;
  std::uint64_t accesses_ = 0;
  std::uint64_t several_ = 0;
  std::uint64_t kept_for_sections_ = 0;
  std::uint64_t unordered_ = 0;
};

template <typename Look>
void GranuleScan<Look>::consume(const Batch& batch) {
  const std::size_t size = batch.events.size();
  for (std::size_t begin = 0; begin < size; begin += granule_scan::kBlock) {
    const std::size_t end = std::min(begin + granule_scan::kBlock, size);
    for (std::size_t i = begin; i < end; ++i) {
      const Event& e = batch.events[i];
      Page* const page = e.op <= Op::kWrite ? find_page(e.object / kPageBytes) : nullptr;
      Cell* const cell = page != nullptr ? &page->cells[e.object % kPageBytes / kGranule] : nullptr;
      found_[i - begin] = cell;
      if (cell != nullptr) {
        __builtin_prefetch(cell, 1);
      }
    }
    now_ = std::min<std::uint64_t>(raw(batch.id(begin)) >> kTimeUnit, kLow);
    sampled_ = blocks_++ % granule_scan::kSampled == 0;
    for (std::size_t i = begin; i < end; ++i) {
      const Event& e = batch.events[i];
      if (e.op > Op::kWrite) {
        step(batch, i);
        found_.fill(nullptr);  // there may be other pages now
        continue;
      }
      if (!looked_up_ || e.thread != thread_) [[unlikely]] {
        look_up(e.thread);
      }
      before_access(e);
      if (!access_again(e, found_[i - begin])) {
        access(e, e.op == Op::kWrite ? Kind::kWrite : Kind::kRead);
      }
    }
  }
}

template <typename Look>
void GranuleScan<Look>::step(const Batch& batch, std::size_t i) {
  const Event& e = batch.events[i];
  looked_up_ = false;
  switch (role_of(e.op)) {
    case Role::kAccess:
      look_.incoming(e);
      look_up(e.thread);
      before_access(e);
      access(e, is_write(e.op) ? Kind::kAtomicWrite : Kind::kAtomicLoad);
      looked_up_ = false;
      return look_.outgoing(e);
    case Role::kFree:
      look_up(e.thread);
      before_access(e);
      free(e);
      looked_up_ = false;
      return;
    case Role::kAlloc:
      allocate(e, batch.id(i));
      if constexpr (Look::kAccessesTeach) {
        look_.allocate(e);
      }
      return look_.incoming(e);
    case Role::kAcquire: return look_.acquire(e);
    case Role::kRelease: return look_.release(e);
    case Role::kEdge: look_.incoming(e); return look_.outgoing(e);
    case Role::kNone:
      if (e.op == Op::kEnd) {
        look_.rest(e.thread);
      } else if (e.op == Op::kMisuse && MisuseKind(e.size) == MisuseKind::kDestroy) {
        destroys_in_use_ = destroys_in_use_ || !look_.knows_sections(e.thread, e.object);
      }
      return;
  }
}

// In a section the access itself may teach its thread something.
template <typename Look>
inline void GranuleScan<Look>::before_access(const Event& e) {
  if constexpr (Look::kAccessesTeach) {
    if (look_.in_section()) {
      look_.access_in_section(e);
      look_.look_up(e.thread);
    }
  }
}

template <typename Look>
void GranuleScan<Look>::look_up(ThreadId thread) {
  thread_ = thread;
  looked_up_ = true;
  look_.look_up(thread);
  const Time time = look_.time();
  too_large_ = raw(thread) > kMostThread || time > kMostTime;
  epoch_ = too_large_ ? ~std::uint64_t{0} : std::uint64_t{raw(thread)} << kTimeBits | time;
}

template <typename Look>
inline bool GranuleScan<Look>::access_again(const Event& e, Cell* cell) {
  const std::uint64_t offset = e.object % kGranule;
  if (cell == nullptr || std::uint64_t{e.size} - 1 >= kGranule - offset) [[unlikely]] {
    return false;
  }
  // See touch(). Without branches on the kind: reads and writes alternate too irregularly to be predicted.
  const bool writes = e.op == Op::kWrite;
  const std::uint64_t read = cell->read >> kLowBits;
  const std::uint64_t other = ((writes ? cell->write >> kLowBits : read) ^ epoch_) | (cell->write & kAtomic);
  const bool read_by_others = writes && read != 0 && read != epoch_;
  if (other != 0 || read_by_others) [[unlikely]] {
    return false;
  }
  const std::uint64_t mask = granule_scan::kMasks[offset * kGranule + e.size - 1];
  cell->write |= mask | (Look::kReadsTeach && writes ? granule_scan::pairs_of(mask) << kFreshBit : 0);
  count(cell->write);
  return true;
}

template <typename Look>
void GranuleScan<Look>::access(const Event& e, Kind kind) {
  const std::uint64_t offset = e.object % kGranule;
  if (offset + e.size <= kGranule) [[likely]] {
    Page& page = page_of(e.object / kPageBytes);
    Cell& cell = page.cells[e.object % kPageBytes / kGranule];
    touch(page, cell, granule_scan::mask_of(offset, offset + e.size - 1), kind);
    count(cell.write);
  } else {
    access_range(e, kind);
  }
  if (Look::kReadsTeach && !read_.empty()) [[unlikely]] {
    learn_from_reads();
  }
}

// After the access was judged: in all of its granules it is one that did not know.
template <typename Look>
void GranuleScan<Look>::learn_from_reads() {
  if constexpr (Look::kReadsTeach) {
    for (const std::uint64_t epoch : read_) {
      look_.read(ThreadId(static_cast<std::uint32_t>(epoch >> kTimeBits)), static_cast<Time>(epoch & kMostTime));
    }
    looked_up_ = false;
  }
  read_.clear();
}

template <typename Look>
void GranuleScan<Look>::access_range(const Event& e, Kind kind) {
  std::uint64_t flags = 0;
  granule_scan::for_each_page(e.object, e.size, [&](std::uint64_t number, std::uint64_t first, std::uint64_t last) {
    Page& page = page_of(number);
    granule_scan::for_each_granule(first, last, [&](std::uint64_t place, std::uint64_t mask) {
      touch(page, page.cells[place], mask, kind);
      flags |= (page.cells[place].write & (kMulti | kWritten)) == (kMulti | kWritten) ? page.cells[place].write : 0;
    });
  });
  count(flags);
}

template <typename Look>
inline void GranuleScan<Look>::touch(Page& page, Cell& cell, std::uint64_t mask, Kind kind) {
  // The thread did the same since it last told anybody anything: nothing is new.
  const std::uint64_t read = cell.read >> kLowBits;
  const bool again = kind == Kind::kRead    ? read == epoch_
                     : kind == Kind::kWrite ? cell.write >> kLowBits == epoch_ && (read == 0 || read == epoch_)
                                            : false;
  if (again && (cell.write & kAtomic) == 0) [[likely]] {
    cell.write |= mask | (Look::kReadsTeach && kind == Kind::kWrite ? granule_scan::pairs_of(mask) << kFreshBit : 0);
    return;
  }
  touch_slowly(page, cell, mask, kind);
}

template <typename Look>
void GranuleScan<Look>::touch_slowly(Page& page, Cell& cell, std::uint64_t mask, Kind kind) {
  if (page.owner != raw(thread_)) {
    page.first = page.owner == kNobody ? static_cast<std::uint32_t>(now_) : page.first;
    page.owner = page.owner == kNobody ? raw(thread_) : kSeveral;
  }
  touch_cell(cell, mask, kind);
}

template <typename Look>
void GranuleScan<Look>::touch_cell(Cell& cell, std::uint64_t mask, Kind kind) {
  if (is_split(cell)) [[unlikely]] {
    return touch_split(cell, mask, kind);
  }
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
    if (others && (!knows(write) || (all && !readers_.known(read, look_)))) {
      if (split(cell, mask, kind)) {
        return;
      }
      flags |= kRacy;
    }
  }
  if ((flags & kRacy) != 0 || too_large_) {
    late_ += (cell.write & kRacy) == 0 && start < forgotten_ ? 1 : 0;
    // The rest plays no part any more.
    flags |= kRacy | kMulti | kWritten;
    readers_.give_back(read);
    read = 0;
    touch_racy(flags, write, mask, kind);
  } else if (kind == Kind::kWrite) {
    readers_.give_back(read);
    write = epoch_;
    read = 0;
    flags &= ~(kAtomicWrite | kPlainRead | kFresh);
    flags |= Look::kReadsTeach ? granule_scan::pairs_of(mask) << kFreshBit : 0;
  } else {
    read = readers_.with(read, epoch_, (flags & kAtomic) != 0, look_);
    flags |= kind == Kind::kRead ? kPlainRead : kind == Kind::kAtomicWrite ? kAtomicWrite : 0;
    flags &= kind == Kind::kAtomicWrite ? ~kFresh : ~std::uint64_t{0};
  }
  cell.write = write << kLowBits | flags;
  cell.read = read << kLowBits | start;
}

// Of a granule in which an access looks unordered: whether that is because of other bytes, which were all there was so
// far. Then each byte goes its own way from here on. What is known of the granule holds for each byte that was used.
template <typename Look>
bool GranuleScan<Look>::split(Cell& cell, std::uint64_t mask, Kind kind) {
  const bool room = !free_splits_.empty() || splits_.size() < kMostSplits;
  if ((cell.write & kBytes & mask) != 0 || (cell.write & kAtomic) != 0 || !room) {
    return false;
  }
  if (free_splits_.empty()) {
    free_splits_.push_back(static_cast<std::uint32_t>(splits_.size()));
    splits_.emplace_back();
  }
  const std::uint32_t place = free_splits_.back();
  free_splits_.pop_back();
  for (std::uint64_t byte = 0; byte < kGranule; ++byte) {
    const bool used = (cell.write >> byte & 1) != 0;
    splits_[place][byte] = used ? Cell{(cell.write & ~(kBytes | kFresh)) | 1u << byte, cell.read} : Cell{};
  }
  cell.write = (kSplit << kTimeBits | place) << kLowBits | (cell.write & kLow & ~kFresh);
  cell.read &= kLow;
  touch_split(cell, mask, kind);
  return true;
}

// One byte that is unordered makes the granule so.
template <typename Look>
void GranuleScan<Look>::touch_split(Cell& cell, std::uint64_t mask, Kind kind) {
  Split& bytes = split_of(cell);
  std::uint64_t flags = mask | kMulti;
  for (std::uint64_t byte = 0; byte < kGranule; ++byte) {
    if ((mask >> byte & 1) != 0) {
      touch_cell(bytes[byte], std::uint64_t{1} << byte, kind);
      bytes[byte].write &= ~kFresh;  // reads teach nothing here
      flags |= bytes[byte].write & (kWritten | kRacy | kPlain | kAtomic);
    }
  }
  cell.write |= flags;
  if ((flags & kRacy) != 0) {
    give_back(cell);
    cell.write &= kLow;
    cell.write |= kWritten;
  }
}

// Of a cell that nobody will look at again.
template <typename Look>
void GranuleScan<Look>::give_back(const Cell& cell) {
  readers_.give_back(cell.read >> kLowBits);
  if (is_split(cell)) [[unlikely]] {
    for (const Cell& byte : split_of(cell)) {
      readers_.give_back(byte.read >> kLowBits);
    }
    free_splits_.push_back(static_cast<std::uint32_t>(cell.write >> kLowBits & kMostTime));
  }
}

// Who reads all bytes of a pair that were ever used has seen what was written to one of them.
template <typename Look>
void GranuleScan<Look>::touch_racy(std::uint64_t& flags, std::uint64_t& write, std::uint64_t mask, Kind kind) {
  const bool forgotten = !Look::kReadsTeach || too_large_ || kind == Kind::kAtomicWrite;
  if (kind == Kind::kWrite || forgotten) {
    write = forgotten ? 0 : epoch_;
    flags &= ~kFresh;
    flags |= forgotten ? 0 : granule_scan::pairs_of(mask) << kFreshBit;
  } else if (kind == Kind::kRead && write != 0 && !knows(write)) {
    const std::uint64_t unseen = granule_scan::pairs_of(flags & kBytes & ~mask);
    if ((flags >> kFreshBit & ~unseen & 0xf) != 0) {
      read_.push_back(write);
    }
  }
}

template <typename Look>
bool GranuleScan<Look>::knows(std::uint64_t epoch) const {
  return look_.knows(ThreadId(static_cast<std::uint32_t>(epoch >> kTimeBits)), static_cast<Time>(epoch & kMostTime));
}

// A write to the whole block. Pages that only the thread itself has used need not be looked at byte by byte: what it has
// done there precedes it.
template <typename Look>
void GranuleScan<Look>::free(const Event& e) {
  std::uint64_t whole_first = 1;  // whole pages of the block
  std::uint64_t whole_last = 0;
  std::uint64_t start = now_;
  granule_scan::for_each_page(e.object, e.size, [&](std::uint64_t number, std::uint64_t first, std::uint64_t last) {
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
    granule_scan::for_each_granule(first, last, [&](std::uint64_t place, std::uint64_t mask) {
      touch(page, page.cells[place], mask, Kind::kWrite);
      page.cells[place].write &= ~kFresh;  // there is nothing to be read
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
    cell.write &= ~kFresh;
    cell.read = (cell.read & ~kLow) | std::min(cell.read & kLow, start);
  }
}

template <typename Look>
void GranuleScan<Look>::allocate(const Event& e, EventId id) {
  // Only when nothing at all came in between.
  if (raw(id) != behind_allocation_) {
    allocated_parts_ = {};
  }
  behind_allocation_ = raw(id) + 1;
  allocate_memory(e, id);
  std::array<Part, 2> parts;
  granule_scan::for_each_page(e.object, e.size, [&](std::uint64_t number, std::uint64_t first, std::uint64_t last) {
    const auto part_of = [&](std::uint64_t byte) {
      const std::uint64_t granule = number * kPageGranules + byte / kGranule;
      const std::uint64_t from = first / kGranule == byte / kGranule ? first % kGranule : 0;
      const std::uint64_t to = last / kGranule == byte / kGranule ? last % kGranule : kGranule - 1;
      return Part{granule, with_parts(granule, granule_scan::mask_of(from, to))};
    };
    parts[0] = parts[0].mask == 0 ? part_of(first) : parts[0];
    parts[1] = part_of(last);
  });
  allocated_parts_ = parts;
}

template <typename Look>
void GranuleScan<Look>::allocate_memory(const Event& e, EventId id) {
  std::uint64_t whole_first = 1;
  std::uint64_t whole_last = 0;
  granule_scan::for_each_page(e.object, e.size, [&](std::uint64_t number, std::uint64_t first, std::uint64_t last) {
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
    finish_stretch(it->first, it->second, id, times_);
    it = stretches_.erase(it);
  }
}

template <typename Look>
void GranuleScan<Look>::allocate_page(std::uint64_t number, std::uint64_t first, std::uint64_t last, EventId id) {
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
    granule_scan::for_each_granule(first, last, [&](std::uint64_t place, std::uint64_t mask) {
      Cell& cell = page->cells[place];
      if ((cell.write & kBytes & ~with_parts(number * kPageGranules + place, mask)) == 0) {
        end_generation(number * kPageGranules + place, cell, id, times_);
        give_back(cell);
        cell = {kUsedBefore, 0};
      }
      cell.write &= ~kFresh;
    });
  }
  if (whole) {
    drop_page(number);
  }
}

template <typename Look>
void GranuleScan<Look>::end_generation(std::uint64_t granule, const Cell& cell, EventId to, SharedTimes& into) {
  constexpr std::uint64_t kAll = kMulti | kWritten | kPlain;
  if ((cell.write & kAll) != kAll) {
    return;
  }
  const SharingLevel what = (cell.write & kRacy) != 0 ? SharingLevel::kUnordered : SharingLevel::kSeveral;
  if (to == granule_scan::kForever && (cell.write & kUsedBefore) == 0) {
    into.add_always(granule, what);
  } else {
    into.add(granule, EventId{(cell.read & kLow) << kTimeUnit}, to, what);
  }
}

template <typename Look>
void GranuleScan<Look>::finish_stretch(std::uint64_t first, const Stretch& stretch, EventId to, SharedTimes& into) {
  constexpr std::uint64_t kAll = kMulti | kWritten | kPlain;
  if ((stretch.cell.write & kAll) == kAll) {
    into.add_pages(first, stretch.last, EventId{(stretch.cell.read & kLow) << kTimeUnit}, to,
                   (stretch.cell.write & kRacy) != 0 ? SharingLevel::kUnordered : SharingLevel::kSeveral);
  }
}

// Generations that have not ended.
template <typename Look>
void GranuleScan<Look>::add_present(SharedTimes& into) const {
  pages_.for_each([&](std::uint64_t number, const std::unique_ptr<Page>& page) {
    for (std::uint64_t place = 0; page->owner == kSeveral && place < kPageGranules; ++place) {
      end_generation(number * kPageGranules + place, page->cells[place], granule_scan::kForever, into);
    }
  });
  for (const auto& [first, stretch] : stretches_) {
    finish_stretch(first, stretch, granule_scan::kForever, into);
  }
}

template <typename Look>
SharedTimes GranuleScan<Look>::so_far() const {
  SharedTimes times = times_;
  add_present(times);
  return times;
}

template <typename Look>
SharedTimes GranuleScan<Look>::finish() {
  add_present(times_);
  page_cache_.fill({});
  pages_ = FlatMap<std::unique_ptr<Page>>();
  spare_pages_.clear();
  return std::move(times_);
}

template <typename Look>
std::uint64_t GranuleScan<Look>::memory() const {
  return (pages_.size() + spare_pages_.size()) * sizeof(Page) + pages_.memory() + readers_.memory() +
         splits_.capacity() * sizeof(Split);
}

template <typename Look>
inline typename GranuleScan<Look>::Page* GranuleScan<Look>::find_page(std::uint64_t number) {
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

template <typename Look>
typename GranuleScan<Look>::Page& GranuleScan<Look>::page_of(std::uint64_t number) {
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

template <typename Look>
void GranuleScan<Look>::drop_page(std::uint64_t number) {
  CachedPage& cached = page_cache_[number % page_cache_.size()];
  cached = cached.number == number ? CachedPage{} : cached;
  std::unique_ptr<Page>* page = pages_.find(number);
  for (const Cell& cell : (*page)->cells) {
    give_back(cell);
  }
  spare_pages_.push_back(std::move(*page));
  pages_.erase(number);
}

// Makes stretches begin and end at the edges of [first, last].
template <typename Look>
void GranuleScan<Look>::cut_stretches(std::uint64_t first, std::uint64_t last) {
  cut_stretch_before(first);
  cut_stretch_before(last + 1);
}

template <typename Look>
void GranuleScan<Look>::cut_stretch_before(std::uint64_t page) {
  const auto it = stretches_.lower_bound(page);
  if (it == stretches_.begin() || std::prev(it)->second.last < page) {
    return;
  }
  Stretch& left = std::prev(it)->second;
  stretches_.emplace(page, left);
  left.last = page - 1;
}

}  // namespace sooth
