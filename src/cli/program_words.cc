// The words of the user's program behind `--`, and how commands talk to the user beside their result.
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "report/describe.h"

namespace sooth {
namespace {

// The commands that take `-- PROGRAM ARGUMENTS`. For others `--` means what it means everywhere: no options behind it.
constexpr std::string_view kStartPrograms[] = {"analyze", "confirm", "explore", "record", "replay", "run", "test"};

std::vector<std::string> users_program;

}  // namespace

bool starts_program(std::string_view name) {
  return std::find(std::begin(kStartPrograms), std::end(kStartPrograms), name) != std::end(kStartPrograms);
}

void take_program_words(std::vector<std::string>& arguments) {
  const auto mark = std::find(arguments.begin(), arguments.end(), "--");
  if (mark != arguments.end() && mark != arguments.begin() && starts_program(arguments.front())) {
    users_program.assign(mark + 1, arguments.end());
    arguments.erase(mark, arguments.end());
  }
}

const std::vector<std::string>& program_words() { return users_program; }

void say(const std::string& sentence) { std::fprintf(stderr, "sooth: %s\n", printable(sentence).c_str()); }

}  // namespace sooth
