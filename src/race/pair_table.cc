#include "race/pair_table.h"

#include <algorithm>

namespace sooth {
namespace {

// The first byte that both touch.
std::uint64_t common_byte(const AccessRecord& a, const AccessRecord& b) {
  return std::max(a.event.object, b.event.object);
}

}  // namespace

std::uint32_t PairTable::row_of(Known& known, std::uint32_t variable, const AccessRecord& first,
                                const AccessRecord& second) {
  if (pairs_[known.first].variable == variable) {
    return known.first;
  }
  if (known.others == nullptr) {
    known.others = std::make_unique<std::map<std::uint32_t, std::uint32_t>>();
  }
  if (const auto found = known.others->find(variable); found != known.others->end()) {
    return found->second;
  }
  if (known.others->size() + 1 >= kMostVariables) {
    return known.first;
  }
  const auto row = static_cast<std::uint32_t>(pairs_.size());
  known.others->emplace(variable, row);
  const auto [low, high] = std::minmax(first.event.site, second.event.site);
  pairs_.push_back({low, high, {first.id, second.id}, 0, raw(second.id) - raw(first.id), first, second, variable});
  last_second_.push_back(EventId{});
  return row;
}

void PairTable::add(const AccessRecord& first, const AccessRecord& second) {
  const auto [low, high] = std::minmax(first.event.site, second.event.site);
  const std::uint64_t key = std::uint64_t{raw(low)} << 32 | raw(high);
  const std::uint64_t distance = raw(second.id) - raw(first.id);
  const std::uint32_t variable =
      variables_ == nullptr ? VariableClasses::kOne : variables_->class_of(common_byte(first, second));
  const auto [it, added] = index_.try_emplace(key);
  if (added) {
    it->second.first = static_cast<std::uint32_t>(pairs_.size());
    pairs_.push_back({low, high, {first.id, second.id}, 1, distance, first, second, variable});
    last_second_.push_back(second.id);
    return;
  }
  const std::uint32_t row = row_of(it->second, variable, first, second);
  SitePair& pair = pairs_[row];
  if (pair.second_accesses == 0 || last_second_[row] != second.id) {
    last_second_[row] = second.id;
    ++pair.second_accesses;
  } else if (pair.example.second == second.id && first.id > pair.example.first) {
    // Same second access, nearer first access: the order in which entries are walked must not show.
    pair.example.first = first.id;
    pair.first = first;
  }
  pair.distance = std::min(pair.distance, distance);
}

}  // namespace sooth
