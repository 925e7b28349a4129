#include "recipe/execute/cases.h"

#include <algorithm>

namespace sooth {

std::optional<std::pair<std::uint64_t, std::uint32_t>> Cases::place(std::uint32_t variable) const {
  return variable < places_.size() ? std::optional(places_[variable]) : std::nullopt;
}

std::vector<std::uint64_t> Cases::values(std::uint32_t variable) {
  std::vector<std::uint64_t> all{recorded_[variable]};
  if (variable >= places_.size()) {
    return all;
  }
  const auto [address, size] = places_[variable];
  const auto [known, is_new] = known_values_.try_emplace(places_[variable]);
  if (is_new) {
    known->second = sharing_.values_of(address, size);
    std::uint64_t first = 0;
    bool is_known = static_cast<bool>(initial_);
    for (std::uint32_t i = 0; is_known && i < size; ++i) {
      const std::optional<std::uint8_t> byte = initial_(address + i);
      is_known = byte.has_value();
      first |= std::uint64_t{byte.value_or(0)} << (8 * i);
    }
    if (is_known) {
      known->second.push_back(first);
    }
  }
  for (const std::uint64_t value : known->second) {
    if (all.size() < kMostValues && std::find(all.begin(), all.end(), value) == all.end()) {
      all.push_back(value);
    }
  }
  return all;
}

bool Cases::for_each(std::span<const ExprId> exprs, const Visit& visit) {
  std::vector<std::uint32_t> variables;
  for (const ExprId expr : exprs) {
    const std::vector<std::uint32_t> more = table_.variables_in(expr);
    variables.insert(variables.end(), more.begin(), more.end());
  }
  std::sort(variables.begin(), variables.end());
  variables.erase(std::unique(variables.begin(), variables.end()), variables.end());
  std::vector<std::vector<std::uint64_t>> choices;
  std::size_t combinations = 1;
  for (const std::uint32_t variable : variables) {
    choices.push_back(values(variable));
    combinations *= choices.back().size();
    if (combinations > kMostCombinations) {
      return false;
    }
  }
  scratch_.insert(scratch_.end(), recorded_.begin() + static_cast<std::ptrdiff_t>(scratch_.size()), recorded_.end());
  bool goes_on = true;
  for (std::size_t i = 0; goes_on && i < combinations; ++i) {
    std::size_t rest = i;
    for (std::size_t v = 0; v < variables.size(); ++v) {
      scratch_[variables[v]] = choices[v][rest % choices[v].size()];
      rest /= choices[v].size();
    }
    goes_on = visit(scratch_);
  }
  for (const std::uint32_t variable : variables) {
    scratch_[variable] = recorded_[variable];
  }
  return true;
}

std::vector<Cases::Other> Cases::others(ExprId expr) {
  std::vector<Other> found;
  const std::vector<std::uint32_t> variables = table_.variables_in(expr);
  std::optional<std::uint64_t> recorded;
  for_each(std::span(&expr, 1), [&](std::span<const std::uint64_t> all) {
    const std::uint64_t value = table_.evaluate(expr, all);
    recorded = recorded ? recorded : value;
    const bool is_known =
        value == *recorded || std::any_of(found.begin(), found.end(), [&](const Other& o) { return o.value == value; });
    if (!is_known) {
      Other other{value, {}};
      for (const std::uint32_t variable : variables) {
        other.variables.emplace_back(variable, all[variable]);
      }
      found.push_back(std::move(other));
    }
    return found.size() < kMostValues;
  });
  return found;
}

}  // namespace sooth
