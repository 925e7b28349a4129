#include "predict/variable_map.h"

#include <algorithm>
#include <bit>

namespace sooth {

VariableMap::VariableMap(std::span<const Event> trace) {
  // While the borders are collected the map holds them; afterwards it leads to the sorted granules.
  for (const Event& e : trace) {
    if (e.size == 0 || !(is_access(e.op) || e.op == Op::kAlloc || e.op == Op::kFree)) {
      continue;
    }
    const std::uint64_t last = e.object + (e.size - 1);
    cut_before(e.object);
    if (last != ~std::uint64_t{0}) {
      cut_before(last + 1);
    }
    for (std::uint64_t granule = e.object / kGranule; is_access(e.op) && granule <= last / kGranule; ++granule) {
      slots_[granule] |= 1;
    }
    if (e.op == Op::kFree) {
      slots_[e.object / kGranule] |= 1;  // where two frees meet, one of them begins
    }
  }
  granules_.reserve(slots_.size());
  slots_.for_each([this](std::uint64_t number, std::uint32_t& slot) {
    const std::uint8_t borders = static_cast<std::uint8_t>(slot | 1u);
    slot = static_cast<std::uint32_t>(granules_.size());
    granules_.push_back({number, static_cast<std::uint32_t>(cell_count_), borders});
    cell_count_ += static_cast<std::size_t>(std::popcount(borders));
  });
}

void VariableMap::cut_before(std::uint64_t byte) {
  if (byte % kGranule != 0) {
    slots_[byte / kGranule] |= 1u << (byte % kGranule);
  }
}

std::size_t VariableMap::lower_bound(std::uint64_t granule) const {
  const auto it = std::lower_bound(granules_.begin(), granules_.end(), granule,
                                   [](const Granule& g, std::uint64_t number) { return g.number < number; });
  return static_cast<std::size_t>(it - granules_.begin());
}

}  // namespace sooth
