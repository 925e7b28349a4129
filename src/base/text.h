// Numbers and names as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sooth {

// "1f", with zeros in front up to `width` digits.
std::string hex_digits(std::uint64_t number, std::size_t width = 0);
// "0x1f".
std::string hexadecimal(std::uint64_t number);

// "1 race", "2 races".
std::string counted(std::uint64_t number, std::string_view one, std::string_view many);

// What follows the last slash.
std::string file_name(std::string_view path);

}  // namespace sooth
