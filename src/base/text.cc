#include "base/text.h"

#include <array>
#include <charconv>

namespace sooth {

std::string hex_digits(std::uint64_t number, std::size_t width) {
  std::array<char, 16> digits;
  const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
  const auto size = static_cast<std::size_t>(end - digits.data());
  return std::string(size < width ? width - size : 0, '0') + std::string(digits.data(), size);
}

std::string hexadecimal(std::uint64_t number) { return "0x" + hex_digits(number); }

std::string counted(std::uint64_t number, std::string_view one, std::string_view many) {
  return std::to_string(number) + " " + std::string(number == 1 ? one : many);
}

std::string file_name(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

}  // namespace sooth
