// A first look at a trace: which memory several threads use, and where happens-before may leave them unordered.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/flat_map.h"
#include "detect/hb_order.h"
#include "detect/shared_times.h"
#include "order/held_locks.h"
#include "order/sparse_set.h"
#include "trace/batch.h"

namespace sooth {

// FastTrack's epochs for granules of 8 bytes, 16 bytes for each, and nothing else: most memory of most programs is used
// by one thread, and costs one look at one place here. What this finds is where and when (a granule, from one allocation
// to the next) a detector can find a pair at all; detectors that then see these accesses only (SharedView) report just
// what they report of all. Why that is so:
//
//  - hb: a pair is two conflicting accesses to a byte of one generation that happens-before leaves unordered. Both are
//    accesses to its granule in one stretch of time, and the epochs see that they are unordered. Accesses order nothing,
//    so hiding others changes no clock.
//  - all others: a pair needs accesses of two threads to a byte of one generation, one of which writes. What they say
//    of other accesses plays a part for critical sections (wcp) and reads (syncp) only through a conflicting access of
//    another thread.
//
// Errs to one side only: bytes of a granule are not told apart, an allocation that begins or ends in the middle of what
// was accessed begins no generation, and what does not fit into a word is unordered.
//
// Threads may be slots (trace/tools/thread_slots.h) when all that is asked respects must-order.
class SharingScan {
 public:
  SharingScan();
  ~SharingScan();

  // Batches in trace order.
  void consume(const Batch& batch);
  // What there was; nothing may be consumed afterwards.
  SharedTimes finish();

  // Accesses so far, and those of them to granules that were so by then: how much is to be gained.
  std::uint64_t accesses() const { return accesses_; }
  std::uint64_t accesses(SharingLevel what) const { return what == SharingLevel::kSeveral ? several_ : unordered_; }
  // Bytes of the tables.
  std::uint64_t memory() const;

 private:
  // Epochs are 44 bits: 14 of the thread, 30 of its local time, which starts at 1; 0 is none.
  // `write`: the latest plain write << 20 | flags << 8 | the bytes of the granule that were accessed.
  // `read`: what came since << 20 | when the first access was, in kTimeUnit events.
  struct Cell {
    std::uint64_t write = 0;
    std::uint64_t read = 0;
  };
  static constexpr unsigned kLowBits = 20;
  static constexpr std::uint64_t kLow = (std::uint64_t{1} << kLowBits) - 1;
  static constexpr unsigned kTimeBits = 30;
  static constexpr std::uint64_t kMostTime = (std::uint64_t{1} << kTimeBits) - 1;
  static constexpr std::uint64_t kReaderSet = 0x3fff;    // in the place of the thread: the time is a number of readers_
  static constexpr std::uint64_t kReaderClock = 0x3ffe;  // ... of clocks_
  static constexpr std::uint64_t kMostThread = 0x3ffd;
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

  void step(const Batch& batch, std::size_t i);
  void look_up(ThreadId thread);
  [[gnu::always_inline]] void access(const Event& e, Kind kind);
  void access_range(const Event& e, Kind kind);
  void touch(Page& page, Cell& cell, std::uint64_t mask, Kind kind);
  [[gnu::noinline]] void touch_slowly(Page& page, Cell& cell, std::uint64_t mask, Kind kind);
  void touch_cell(Cell& cell, std::uint64_t mask, Kind kind);
  void free(const Event& e);
  void allocate(const Event& e, EventId id);
  void allocate_page(std::uint64_t number, std::uint64_t first, std::uint64_t last, EventId id);
  void end_generation(std::uint64_t granule, const Cell& cell, EventId to);
  void finish_stretch(std::uint64_t first, const Stretch& stretch, EventId to);

  bool knows(std::uint64_t epoch) const;
  bool knows_all(std::uint64_t readers) const;
  std::uint64_t with_reader(std::uint64_t readers, bool atomic);
  std::uint64_t add_to_set(std::uint64_t readers);
  std::uint64_t add_to_clock(std::uint64_t readers);
  void give_back(std::uint64_t readers);

  Page* find_page(std::uint64_t number);
  Page& page_of(std::uint64_t number);
  void drop_page(std::uint64_t number);
  void cut_stretches(std::uint64_t first, std::uint64_t last);
  void cut_stretch_before(std::uint64_t page);

  HbOrder<HeldLocks> order_;
  // Of the thread whose events are being looked at.
  ThreadId thread_{};
  bool looked_up_ = false;
  ClockView own_;
  std::uint64_t epoch_ = 0;
  bool too_large_ = false;  // ... its epoch does not fit
  std::uint64_t now_ = 0;   // in kTimeUnit events

  FlatMap<std::unique_ptr<Page>> pages_;
  SparseSet page_numbers_;  // of all pages that ever were in pages_
  std::vector<std::unique_ptr<Page>> spare_pages_;
  std::array<CachedPage, 1024> page_cache_;
  std::map<std::uint64_t, Stretch> stretches_;  // by first page; disjoint
  // Readers of which none is the last: sets of epochs, interned, so that tables that many threads read cost little; and
  // clocks where each granule goes its own way.
  std::vector<std::vector<std::uint64_t>> readers_;
  FlatMap<std::uint32_t> reader_index_;  // by set << 44 | epoch: the set with it, too; set 0 is empty
  std::vector<VectorClock> clocks_;
  std::vector<std::uint32_t> free_clocks_;

  SharedTimes times_;
  std::uint64_t accesses_ = 0;
  std::uint64_t several_ = 0;
  std::uint64_t unordered_ = 0;
};

}  // namespace sooth
