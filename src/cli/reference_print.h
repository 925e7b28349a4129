// The shapes that documentation of the command line comes in. Each function returns a whole file.
#pragma once

#include <cstddef>
#include <string>

#include "cli/reference_model.h"

namespace sooth {

// What `--help` prints, in lines of at most `width` characters, but for words that are longer and lines to copy.
std::string help_page(const ReferenceCommand& command, std::size_t width);

// docs/commands.md: all commands on one page.
std::string markdown_page(const ReferenceCommand& root);

// The manual page of one command, in man(7); `root` is what the pages are about, for references between them.
std::string man_page(const ReferenceCommand& root, const ReferenceCommand& command);
// "sooth-trace-gen" for "sooth trace gen": what `man` is asked for. The file has `.1` behind it.
std::string man_name(const ReferenceCommand& command);

// Completions of commands, options, their values, files, and of programs behind `--`.
std::string bash_completion(const ReferenceCommand& root);
std::string zsh_completion(const ReferenceCommand& root);
std::string fish_completion(const ReferenceCommand& root);

}  // namespace sooth
