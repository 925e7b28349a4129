// Cuts the memory of a whole trace into variables.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "base/flat_map.h"
#include "trace/event.h"

namespace sooth {

// Bytes become cells: the coarsest parts of granules of 8 bytes that no access, alloc or free of the trace tells apart.
// Unlike the cells of order/shadow_memory.h they are final, so an event early in the trace and one late in it name the
// same bytes by the same cell: reordering needs that.
class VariableMap {
 public:
  explicit VariableMap(std::span<const Event> trace);

  std::size_t cell_count() const { return cell_count_; }

  // Calls visit(cell), or visit(cell, first byte, number of bytes) if it takes that, for the cells of the bytes in
  // address order. Bytes that are never accessed have none, except for the first ones of blocks that are freed: two
  // frees of a block have one in common.
  template <typename Visit>
  void for_each_cell(std::uint64_t address, std::uint64_t size, Visit&& visit) const {
    const std::uint64_t last = address + (size - 1);
    const std::uint64_t first_granule = address / kGranule;
    const std::uint64_t last_granule = last / kGranule;
    if (first_granule == last_granule) {
      if (const std::uint32_t* slot = slots_.find(first_granule)) {
        visit_granule(granules_[*slot], address % kGranule, last % kGranule, visit);
      }
      return;
    }
    for (std::size_t i = lower_bound(first_granule); i < granules_.size() && granules_[i].number <= last_granule; ++i) {
      const Granule& granule = granules_[i];
      visit_granule(granule, granule.number == first_granule ? address % kGranule : 0,
                    granule.number == last_granule ? last % kGranule : kGranule - 1, visit);
    }
  }

 private:
  static constexpr std::uint64_t kGranule = 8;

  struct Granule {
    std::uint64_t number = 0;  // address / kGranule
    std::uint32_t first_cell = 0;
    std::uint8_t borders = 1;  // bit i: a cell begins at byte i
  };

  template <typename Visit>
  static void visit_granule(const Granule& granule, std::uint64_t from, std::uint64_t to, Visit& visit) {
    std::uint32_t cell = granule.first_cell;
    for (std::uint64_t byte = 0; byte <= to; ++byte) {
      if ((granule.borders >> byte & 1) != 0) {
        if (byte >= from) {
          if constexpr (std::is_invocable_v<Visit&, std::uint32_t>) {
            visit(cell);
          } else {
            const unsigned rest = granule.borders >> byte >> 1;  // of the granule, behind this byte
            visit(cell, granule.number * kGranule + byte, rest == 0 ? kGranule - byte : 1u + std::countr_zero(rest));
          }
        }
        ++cell;
      }
    }
  }

  void cut_before(std::uint64_t byte);
  std::size_t lower_bound(std::uint64_t granule) const;

  FlatMap<std::uint32_t> slots_;   // granule number -> index into granules_
  std::vector<Granule> granules_;  // by number
  std::size_t cell_count_ = 0;
};

}  // namespace sooth
