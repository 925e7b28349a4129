// What the arguments of a compiler ask for, as far as a wrapper around it must know.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/status.h"

namespace sooth {

// GCC and Clang agree on everything that is looked at here.
struct CompilerJob {
  bool has_input = false;          // something is to be compiled or linked; false: `--version`, `-print-...`, nothing
  bool stops_before_link = false;  // -c, -S, -E, -M, -fsyntax-only, or headers only
  bool without_libraries = false;  // -r, -nostdlib, -nodefaultlibs: the driver would not add a run time library either
  bool fully_static = false;       // -static, -static-pie
  bool static_tsan = false;        // -static-libtsan
  bool openmp = false;
  std::string other_sanitizer;  // one that cannot be together with the thread sanitizer; empty: none

  bool links() const { return has_input && !stops_before_link; }
};

// `arguments` are those of the compiler, without its name. Response files (@FILE) are looked into, also nested ones; as
// for the compiler, one that cannot be read is an argument like any other.
CompilerJob understand_compiler_arguments(std::span<const std::string> arguments);

// The words of a response file: separated by white space, quoted by ' or ", with \ in front of a literal character.
std::vector<std::string> split_response_file(std::string_view text);

}  // namespace sooth
