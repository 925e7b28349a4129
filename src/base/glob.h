// Patterns in which users name functions, files and places.
#pragma once

#include <string_view>

namespace sooth {

// Whether all of `text` matches: `*` stands for any characters (also none), `?` for exactly one, all others for
// themselves (no brackets: they are common in C++ names). Time is bounded by the product of the two lengths.
bool glob_match(std::string_view pattern, std::string_view text);

}  // namespace sooth
