// Enumerators by their names.
#pragma once

#include <optional>
#include <string_view>

namespace sooth {

// The value from `begin` up to `end` that `name_of` gives this name; nothing when none has it.
template <typename Value>
std::optional<Value> named(std::string_view name, int begin, int end, std::string_view (*name_of)(Value)) {
  for (int i = begin; i < end; ++i) {
    if (name_of(Value(i)) == name) {
      return Value(i);
    }
  }
  return std::nullopt;
}

}  // namespace sooth
