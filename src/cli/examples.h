// Command lines to copy, for `--help` and the documentation.
#pragma once

#include <string_view>
#include <vector>

namespace sooth {

struct CommandExample {
  std::string_view command;  // "sooth trace gen": what it is an example of
  std::string_view line;     // what to type
  std::string_view purpose;  // what one would want with it, no full stop
};

// Those of the command at `path`, the simplest first. A test types the options of every one of them.
std::vector<CommandExample> examples_of(std::string_view path);

}  // namespace sooth
