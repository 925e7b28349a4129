// What an analysis remembers about memory, byte by byte, at the price of one cell per variable.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "base/ids.h"
#include "order/sparse_set.h"

namespace sooth {

enum class CellId : std::uint32_t {};
inline constexpr CellId kNoCell{~std::uint32_t{0}};

// Maps bytes to cells. Memory is cut into granules of 8 bytes, and the bytes of a granule into the coarsest parts that
// no access so far has told apart; each part has a cell. Most granules are one cell; a byte access into an 8-byte
// variable splits it, and both halves go on with a copy of what was known, so every byte always has exactly its
// history. Bytes of a freed block, or of an access of more than kLongAccess bytes, that have no cell in a granule yet
// share the cell of a stretch: gigabytes cost what was told apart in them.
//
// Host is the analysis. It stores the content of cells itself, by CellId (dense, re-used), and is told about changes:
//   void on_new_cell(CellId);                 // nothing known yet
//   void on_split_cell(CellId from, CellId to);  // `to` becomes a copy of `from`
//   void on_drop_cell(CellId);                // its memory was allocated again; the id may come back
template <typename Host, std::uint64_t kLongAccess = 4096>
class ShadowMemory {
 public:
  explicit ShadowMemory(Host& host) : host_(host) {}

  // Calls visit(CellId) for every cell of [address, address + size), making cells as needed. size > 0, no wrap-around.
  template <typename Visit>
  void access(std::uint64_t address, std::uint64_t size, Visit&& visit) {
    const unsigned offset = static_cast<unsigned>(address % kGranule);
    if (offset + size <= kGranule) [[likely]] {
      access_granule(address / kGranule, mask_of(offset, static_cast<unsigned>(size)), visit);
      return;
    }
    if (size > kLongAccess) {
      return free(address, size, visit);
    }
    for_each_granule(address, size, [&](std::uint64_t granule, Mask mask) { access_granule(granule, mask, visit); });
  }

  // Like access(), for a whole block that is being freed: bytes that were never accessed share one cell for as long as
  // nobody tells them apart, so that a large block costs no more than was used of it.
  template <typename Visit>
  void free(std::uint64_t address, std::uint64_t size, Visit&& visit) {
    const std::uint64_t last = address + (size - 1);
    for_each_existing(address, size, [&](std::uint64_t granule, Mask mask) {
      access_granule(granule, static_cast<Mask>(mask & touched(granule)), visit);
    });
    cut_stretches(address, last);
    std::uint64_t at = address;
    for (auto it = stretches_.lower_bound(address); it != stretches_.end() && it->first <= last; ++it) {
      if (at < it->first) {
        stretches_.emplace(at, Stretch{it->first - 1, new_cell(0)});
      }
      at = it->second.last + 1;
    }
    if (at <= last && at >= address) {  // `at` wraps around behind the last byte of the address space
      stretches_.emplace(at, Stretch{last, new_cell(0)});
    }
    for (auto it = stretches_.lower_bound(address); it != stretches_.end() && it->first <= last; ++it) {
      visit(it->second.cell);
    }
  }

  // The block is new memory: its cells are dropped.
  void allocate(std::uint64_t address, std::uint64_t size) {
    const std::uint64_t last = address + (size - 1);
    for_each_existing(address, size, [&](std::uint64_t granule, Mask mask) { drop(granule, mask); });
    cut_stretches(address, last);
    auto it = stretches_.lower_bound(address);
    while (it != stretches_.end() && it->first <= last) {
      give_back(it->second.cell);
      it = stretches_.erase(it);
    }
  }

  // The cell of a range that is exactly one cell; kNoCell when it is not, or not yet. Stays true until version()
  // changes.
  CellId resolve(std::uint64_t address, std::uint64_t size) {
    const std::uint64_t granule = address / kGranule;
    const unsigned offset = static_cast<unsigned>(address % kGranule);
    Page* page = find_page(granule / kPageGranules);
    if (page == nullptr || offset + size > kGranule) {
      return kNoCell;
    }
    return exact_cell(page->refs[granule % kPageGranules], offset, mask_of(offset, static_cast<unsigned>(size)));
  }
  // Changes whenever an existing cell may have come to stand for other bytes.
  std::uint64_t version() const { return version_; }

  std::size_t cell_count() const { return masks_.size() - free_cells_.size(); }

 private:
  using Mask = std::uint8_t;  // bytes of a granule
  static constexpr std::uint64_t kGranule = 8;
  static constexpr std::uint64_t kPageGranules = 512;
  // What a granule refers to: nothing, one cell (id + 1), or a split (kSplitBit | index).
  static constexpr std::uint32_t kEmpty = 0;
  static constexpr std::uint32_t kSplitBit = 1u << 31;

  struct Page {
    std::array<std::uint32_t, kPageGranules> refs{};
  };
  struct CachedPage {
    std::uint64_t number = ~std::uint64_t{0};
    Page* page = nullptr;
  };
  // For each byte its cell + 1, 0 for none.
  using Split = std::array<std::uint32_t, kGranule>;
  // Bytes without a granule cell that were freed together.
  struct Stretch {
    std::uint64_t last;  // byte
    CellId cell;
  };

  static Mask mask_of(unsigned offset, unsigned size) { return static_cast<Mask>(((1u << size) - 1) << offset); }

  template <typename Visit>
  static void for_each_granule(std::uint64_t address, std::uint64_t size, Visit&& visit) {
    const std::uint64_t last = address + (size - 1);
    for (std::uint64_t granule = address / kGranule; granule <= last / kGranule; ++granule) {
      const unsigned from = granule == address / kGranule ? static_cast<unsigned>(address % kGranule) : 0;
      const unsigned to = granule == last / kGranule ? static_cast<unsigned>(last % kGranule) : kGranule - 1;
      visit(granule, mask_of(from, to - from + 1));
    }
  }

  // Like for_each_granule, but only over granules on pages that exist.
  template <typename Visit>
  void for_each_existing(std::uint64_t address, std::uint64_t size, Visit&& visit) {
    const std::uint64_t last = address + (size - 1);
    constexpr std::uint64_t kPageBytes = kGranule * kPageGranules;
    page_numbers_.for_each(address / kPageBytes, last / kPageBytes, [&](std::uint64_t page) {
      const std::uint64_t from = std::max(address, page * kPageBytes);
      const std::uint64_t to = std::min(last, page * kPageBytes + (kPageBytes - 1));
      for_each_granule(from, to - from + 1, [&](std::uint64_t granule, Mask mask) {
        if (ref_of(granule) != kEmpty) {
          visit(granule, mask);
        }
      });
    });
  }

  // Through a small cache: programs touch several pages in turn.
  Page* find_page(std::uint64_t number) {
    CachedPage& cached = page_cache_[number % page_cache_.size()];
    if (cached.number == number) [[likely]] {
      return cached.page;
    }
    std::unique_ptr<Page>* page = pages_.find(number);
    if (page == nullptr) {
      return nullptr;
    }
    cached = {number, page->get()};
    return cached.page;
  }

  std::uint32_t& ref_of(std::uint64_t granule) {
    const std::uint64_t number = granule / kPageGranules;
    Page* page = find_page(number);
    if (page == nullptr) {
      std::unique_ptr<Page>& slot = pages_[number];
      slot = std::make_unique<Page>();
      page_numbers_.insert(number);
      page = slot.get();
    }
    return page->refs[granule % kPageGranules];
  }

  // The cell of exactly the bytes `mask`, the first of which is `byte`, of a granule that refers to `ref`; or kNoCell.
  // Arrays of small elements are split all over, so this must be quick for splits, too.
  CellId exact_cell(std::uint32_t ref, unsigned byte, Mask mask) const {
    if ((ref & kSplitBit) != 0) {
      ref = splits_[ref & ~kSplitBit][byte];
    }
    return ref != kEmpty && masks_[ref - 1] == mask ? CellId{ref - 1} : kNoCell;
  }

  template <typename Visit>
  void access_granule(std::uint64_t granule, Mask mask, Visit& visit) {
    std::uint32_t& ref = ref_of(granule);
    const unsigned byte = static_cast<unsigned>(std::countr_zero(mask)) % kGranule;  // of no bytes: any
    if (const CellId cell = exact_cell(ref, byte, mask); cell != kNoCell) [[likely]] {
      visit(cell);
      return;
    }
    if (ref == kEmpty && !any_stretch(granule)) {
      const CellId cell = new_cell(mask);
      ref = raw(cell) + 1;
      visit(cell);
      return;
    }
    if (mask != 0) {
      access_split(granule, mask, visit);
    }
  }

  // The general case: parts of several cells, bytes without one, bytes that were freed.
  template <typename Visit>
  void access_split(std::uint64_t granule, Mask mask, Visit& visit) {
    const std::uint32_t index = split_of(granule);
    Mask left = mask;
    while (left != 0) {
      const unsigned byte = static_cast<unsigned>(std::countr_zero(left));
      const std::uint32_t ref = splits_[index][byte];
      Mask part;
      if (ref != 0) {
        part = static_cast<Mask>(masks_[ref - 1] & mask);
        if (part != masks_[ref - 1]) {
          cut(splits_[index], CellId{ref - 1}, part);
        }
      } else {
        part = same_origin(granule, index, byte, left);
        const Stretch* origin = find_stretch(granule * kGranule + byte);
        const CellId cell = take_id(part);
        assign(splits_[index], part, cell);
        if (origin != nullptr) {
          host_.on_split_cell(origin->cell, cell);
        } else {
          host_.on_new_cell(cell);
        }
      }
      left = static_cast<Mask>(left & ~part);
      visit(CellId{splits_[index][byte] - 1});
    }
    simplify(granule, index);
  }

  // The bytes of `left` from `byte` on that have no cell and lie in the same stretch, or in none.
  Mask same_origin(std::uint64_t granule, std::uint32_t index, unsigned byte, Mask left) {
    Mask part = 0;
    const Stretch* origin = find_stretch(granule * kGranule + byte);
    for (unsigned i = byte; i < kGranule; ++i) {
      if ((left >> i & 1) != 0 && splits_[index][i] == 0 && find_stretch(granule * kGranule + i) == origin) {
        part = static_cast<Mask>(part | 1u << i);
      }
    }
    return part;
  }

  // `part` of the cell becomes a cell of its own, with a copy of what is known.
  void cut(Split& split, CellId cell, Mask part) {
    ++version_;
    masks_[raw(cell)] = static_cast<Mask>(masks_[raw(cell)] & ~part);
    const CellId copy = take_id(part);
    assign(split, part, copy);
    host_.on_split_cell(cell, copy);
  }

  static void assign(Split& split, Mask part, CellId cell) {
    for (unsigned i = 0; i < kGranule; ++i) {
      split[i] = (part >> i & 1) != 0 ? raw(cell) + 1 : split[i];
    }
  }

  void drop(std::uint64_t granule, Mask mask) {
    ++version_;
    const std::uint32_t index = split_of(granule);
    for (unsigned i = 0; i < kGranule; ++i) {
      const std::uint32_t ref = splits_[index][i];
      if ((mask >> i & 1) == 0 || ref == 0) {
        continue;
      }
      splits_[index][i] = 0;
      Mask& rest = masks_[ref - 1];
      rest = static_cast<Mask>(rest & ~(1u << i));
      if (rest == 0) {
        give_back(CellId{ref - 1});
      }
    }
    simplify(granule, index);
  }

  // The granule in its split form.
  std::uint32_t split_of(std::uint64_t granule) {
    std::uint32_t& ref = ref_of(granule);
    if ((ref & kSplitBit) != 0) {
      return ref & ~kSplitBit;
    }
    std::uint32_t index;
    if (free_splits_.empty()) {
      index = static_cast<std::uint32_t>(splits_.size());
      splits_.emplace_back();
    } else {
      index = free_splits_.back();
      free_splits_.pop_back();
    }
    splits_[index].fill(0);
    if (ref != kEmpty) {
      assign(splits_[index], masks_[ref - 1], CellId{ref - 1});
    }
    ref = kSplitBit | index;
    return index;
  }

  // Back to the simple forms, where nothing or one cell is left.
  void simplify(std::uint64_t granule, std::uint32_t index) {
    std::uint32_t only = 0;
    for (const std::uint32_t ref : splits_[index]) {
      if (ref != 0 && only != 0 && ref != only) {
        return;
      }
      only = ref != 0 ? ref : only;
    }
    ref_of(granule) = only;
    free_splits_.push_back(index);
  }

  Mask touched(std::uint64_t granule) {
    const std::uint32_t ref = ref_of(granule);
    if ((ref & kSplitBit) == 0) {
      return ref == kEmpty ? Mask{0} : masks_[ref - 1];
    }
    Mask mask = 0;
    for (unsigned i = 0; i < kGranule; ++i) {
      mask = static_cast<Mask>(mask | (splits_[ref & ~kSplitBit][i] != 0 ? 1u << i : 0u));
    }
    return mask;
  }

  CellId take_id(Mask mask) {
    if (!free_cells_.empty()) {
      const CellId cell = free_cells_.back();
      free_cells_.pop_back();
      masks_[raw(cell)] = mask;
      return cell;
    }
    masks_.push_back(mask);
    return CellId(masks_.size() - 1);
  }

  void give_back(CellId cell) {
    host_.on_drop_cell(cell);
    free_cells_.push_back(cell);
  }

  CellId new_cell(Mask mask) {
    const CellId cell = take_id(mask);
    host_.on_new_cell(cell);
    return cell;
  }

  const Stretch* find_stretch(std::uint64_t byte) const {
    auto it = stretches_.upper_bound(byte);
    if (it == stretches_.begin()) {
      return nullptr;
    }
    --it;
    return it->second.last >= byte ? &it->second : nullptr;
  }

  bool any_stretch(std::uint64_t granule) const {
    if (stretches_.empty()) {
      return false;
    }
    const auto it = stretches_.upper_bound(granule * kGranule + (kGranule - 1));
    return it != stretches_.begin() && std::prev(it)->second.last >= granule * kGranule;
  }

  // Makes stretches begin and end at the edges of [first, last].
  void cut_stretches(std::uint64_t first, std::uint64_t last) {
    cut_stretch_before(first);
    if (last != ~std::uint64_t{0}) {
      cut_stretch_before(last + 1);
    }
  }
  void cut_stretch_before(std::uint64_t byte) {
    auto it = stretches_.lower_bound(byte);
    if (it == stretches_.begin() || std::prev(it)->second.last < byte) {
      return;
    }
    Stretch& left = std::prev(it)->second;
    const CellId copy = take_id(0);
    host_.on_split_cell(left.cell, copy);
    stretches_.emplace(byte, Stretch{left.last, copy});
    left.last = byte - 1;
  }

  Host& host_;
  FlatMap<std::unique_ptr<Page>> pages_;
  SparseSet page_numbers_;  // of pages_
  std::array<CachedPage, 64> page_cache_;
  std::vector<Mask> masks_;  // by CellId: the bytes of its granule that the cell stands for
  std::vector<CellId> free_cells_;
  std::vector<Split> splits_;
  std::vector<std::uint32_t> free_splits_;
  std::map<std::uint64_t, Stretch> stretches_;  // by first byte; disjoint
  std::uint64_t version_ = 0;
};

}  // namespace sooth
