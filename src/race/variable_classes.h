// Which accesses are to the same variable, as far as findings tell variables apart.
#pragma once

#include <cstdint>

namespace sooth {

class VariableClasses {
 public:
  static constexpr std::uint32_t kOne = 0;  // not told apart from others

  virtual ~VariableClasses() = default;
  // A number for the variable that the byte is in now. Cheap when asked again.
  virtual std::uint32_t class_of(std::uint64_t address) = 0;
};

}  // namespace sooth
