#include "race/pair_table.h"

#include <algorithm>

namespace sooth {

void PairTable::add(const AccessRecord& first, const AccessRecord& second) {
  const auto [low, high] = std::minmax(first.event.site, second.event.site);
  const std::uint64_t key = std::uint64_t{raw(low)} << 32 | raw(high);
  const std::uint64_t distance = raw(second.id) - raw(first.id);
  const auto [it, added] = index_.try_emplace(key, static_cast<std::uint32_t>(pairs_.size()));
  if (added) {
    pairs_.push_back({low, high, {first.id, second.id}, 1, distance, first, second});
    last_second_.push_back(second.id);
    return;
  }
  SitePair& pair = pairs_[it->second];
  if (last_second_[it->second] != second.id) {
    last_second_[it->second] = second.id;
    ++pair.second_accesses;
  } else if (pair.example.second == second.id && first.id > pair.example.first) {
    // Same second access, nearer first access: the order in which entries are walked must not show.
    pair.example.first = first.id;
    pair.first = first;
  }
  pair.distance = std::min(pair.distance, distance);
}

}  // namespace sooth
