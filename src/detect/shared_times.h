// Where and when memory is worth a closer look: what a first look at a trace leaves to the analyses.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/flat_map.h"
#include "order/sparse_set.h"
#include "trace/batch.h"

namespace sooth {

// Memory in granules of 8 bytes, time in events. Two facts about a granule may be known, each for stretches of time; the
// second is a special case of the first.
enum class SharingLevel : std::uint8_t {
  kSeveral,    // several threads access it, and not only to read
  kUnordered,  // ... and happens-before leaves some of them unordered, or may
};

// A set of (granule, stretch of time) for each of the two. It may say of more than is true that it is so, never of less:
// stretches that lie close together are joined, and of many stretches those of most are.
class SharedTimes {
 public:
  static constexpr std::uint64_t kGranule = 8;
  static constexpr std::uint64_t kPageGranules = 512;
  static constexpr std::uint64_t kPageBytes = kGranule * kPageGranules;

  // From event `from` on and before event `to`. Those of one granule in order of time.
  void add(std::uint64_t granule, EventId from, EventId to, SharingLevel what);
  // ... for ever.
  void add_always(std::uint64_t granule, SharingLevel what);
  // ... for all granules of the pages [first, last].
  void add_pages(std::uint64_t first, std::uint64_t last, EventId from, EventId to, SharingLevel what);

  // Whether some byte of [address, address + size) is so at the event. size > 0, no wrap-around.
  bool any(std::uint64_t address, std::uint64_t size, EventId at, SharingLevel what) const {
    const std::uint64_t page = address / kPageBytes;
    if ((address + (size - 1)) / kPageBytes == page && page_stretches_.empty()) [[likely]] {
      if ((filter_[raw(what)][page % kFilter / 64] >> page % 64 & 1) == 0) {
        return false;
      }
      const std::uint64_t first = address % kPageBytes / kGranule;
      return any_in_page(page, first, (address % kPageBytes + (size - 1)) / kGranule, at, what);
    }
    return any_in_range(address, size, at, what);
  }
  // Nothing is so, at any time.
  bool empty(SharingLevel what) const { return granules_[raw(what)] == 0; }
  // For --stats.
  std::uint64_t granules(SharingLevel what) const { return granules_[raw(what)]; }

 private:
  static constexpr std::uint32_t kNone = 0;
  static constexpr std::uint32_t kMostStretches = 8;  // of one granule
  static constexpr std::uint64_t kClose = 4096;       // events between two stretches
  static constexpr std::uint64_t kFilter = 32768;     // bits

  using Bits = std::array<std::uint64_t, kPageGranules / 64>;
  // By SharingLevel.
  struct Page {
    std::array<Bits, 2> ever{};
    std::array<Bits, 2> always{};
  };
  struct Stretch {
    EventId from{};
    EventId to{};
    std::uint32_t earlier = kNone;  // another one of the granule
    std::uint32_t count = 1;        // ... with it and those before it
  };
  struct PageStretch {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    EventId from{};
    EventId to{};
    SharingLevel what{};
  };
  struct CachedPage {
    std::uint64_t number = ~std::uint64_t{0};
    const Page* page = nullptr;  // nullptr: there is none
  };

  Page& page_of(std::uint64_t granule, SharingLevel what);
  void add_stretch(std::uint64_t granule, EventId from, EventId to, SharingLevel what);
  const Page* find_page(std::uint64_t number) const;
  bool any_in_range(std::uint64_t address, std::uint64_t size, EventId at, SharingLevel what) const;
  bool any_in_page(std::uint64_t number, std::uint64_t first, std::uint64_t last, EventId at, SharingLevel what) const;
  bool any_in_stretches(std::uint64_t granule, EventId at, SharingLevel what) const;
  bool any_in_pages(std::uint64_t address, std::uint64_t size, EventId at, SharingLevel what) const;

  std::vector<Page> pages_;
  FlatMap<std::uint32_t> page_index_;  // into pages_, + 1
  SparseSet page_numbers_;
  std::array<FlatMap<std::uint32_t>, 2> latest_;  // by granule: its latest stretch
  std::vector<Stretch> stretches_{1};
  std::vector<PageStretch> page_stretches_;  // hardly ever any
  std::array<std::uint64_t, 2> granules_{};
  // By SharingLevel: bit n % kFilter for page n, so that most of the other pages need not be looked for.
  std::array<std::array<std::uint64_t, kFilter / 64>, 2> filter_{};
  mutable std::array<CachedPage, 256> cache_;  // programs use several pages in turn
};

// Hides plain accesses and frees of memory of which nothing is known, as a Filter does (filter/filter.h).
class SharedView {
 public:
  // `sections`: accesses in critical sections, and frees there, stay where the memory is shared at all.
  SharedView(const SharedTimes& times, SharingLevel what, bool sections = false)
      : times_(times), what_(what), sections_(sections) {}

  // Whether accesses in critical sections stay wherever they are: others may come to share the memory later.
  void keep_all_sections(bool all) { all_sections_ = all; }

  // What is left of the batch, with its stacks; values and the other columns are left out. Valid until the next call.
  Batch hide(const Batch& batch);
  std::uint64_t hidden() const { return hidden_; }

 private:
  bool keeps(const Event& e, EventId id) const {
    return times_.any(e.object, e.size, id, what_) ||
           (sections_ && raw(e.thread) < held_.size() && held_[raw(e.thread)] != 0 &&
            (all_sections_ || times_.any(e.object, e.size, id, SharingLevel::kSeveral)));
  }
  void follow(const Event& e);

  const SharedTimes& times_;
  const SharingLevel what_;
  const bool sections_;
  bool all_sections_ = false;
  std::vector<std::uint32_t> held_;  // by thread: acquires without a release
  std::vector<Event> events_;
  std::vector<EventId> ids_;
  std::vector<StackId> stacks_;
  std::uint64_t hidden_ = 0;
};

}  // namespace sooth
