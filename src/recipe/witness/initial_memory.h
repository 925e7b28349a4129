// What the globals of a deep program contain before it does anything.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "deep/program.h"

namespace sooth {

// From the initialisers of definitions that nothing can replace when the program is linked or loaded. Pointers to
// globals and into them are known where the addresses of those are. Of initialisers that are not just zeros, at most
// 2^26 bytes are kept; the others are not known.
class InitialMemory {
 public:
  explicit InitialMemory(const DeepProgram& program);

  // nullopt: not known.
  std::optional<std::uint8_t> operator()(std::uint64_t address) const;

 private:
  friend class InitialMemoryBuilder;
  static constexpr std::int16_t kUnknown = -1;
  struct Global {
    std::uint64_t size = 0;
    std::vector<std::int16_t> bytes;  // none: all are zero
  };
  std::map<std::uint64_t, Global> globals_;  // by address
};

}  // namespace sooth
