// For tests with random cases: their number and first seed, which SOOTH_CASES and SOOTH_SEED override.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace sooth {

inline std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace sooth
