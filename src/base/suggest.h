// "Did you mean ...?" for words that are nearly right.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sooth {

// The word of `known` that `word` was most likely meant to be: one that it is the beginning of, or that is made from it
// by few steps (a letter too many, too few, wrong, or two in the wrong order), up to one for every three letters. Of
// several that are equally near, the first. Empty when none is near.
std::string nearest_word(std::string_view word, std::span<const std::string> known);

// " Did you mean `x`?", to be put behind a sentence; empty when no word is near.
std::string did_you_mean(std::string_view word, std::span<const std::string> known);

// "there is no KIND `word`; there are: a, b", and what was meant when a word is near.
std::string no_such(std::string_view kind, std::string_view word, std::span<const std::string> known);

}  // namespace sooth
