// UTF-8, as far as reports need it: to never write anything else.
#pragma once

#include <cstddef>
#include <string_view>

namespace sooth {

inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";  // U+FFFD

struct Utf8Character {
  char32_t code = 0;      // when valid
  std::size_t bytes = 1;  // at least 1, never more than there are
  bool valid = false;     // no overlong form, surrogate, or number above U+10FFFF
};

// The character that `text` begins with. `text` is not empty. A byte that begins no character is one by itself,
// not valid.
Utf8Character first_character(std::string_view text);

}  // namespace sooth
