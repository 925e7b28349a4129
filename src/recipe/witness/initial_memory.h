// What the globals of a deep program contain before it does anything.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "deep/program.h"

namespace sooth {

// From the initialisers of definitions that nothing can replace when the program is linked or loaded. Pointers to
// globals and into them are known where the addresses of those are.
class InitialMemory {
 public:
  explicit InitialMemory(const DeepProgram& program);

  // nullopt: not known.
  std::optional<std::uint8_t> operator()(std::uint64_t address) const;

 private:
  friend class InitialMemoryBuilder;
  static constexpr std::int16_t kUnknown = -1;
  std::map<std::uint64_t, std::vector<std::int16_t>> globals_;  // by address: their bytes
};

}  // namespace sooth
