// Words of a command line as a person can paste them into a shell.
#pragma once

#include <span>
#include <string>

namespace sooth {

// The word, in single quotes if a shell would take it for something else.
std::string shell_word(const std::string& word);
// All of them, separated by blanks.
std::string shell_words(std::span<const std::string> words);

}  // namespace sooth
