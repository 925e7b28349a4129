// Looks at a program before it is started: can it be recorded, and with which library.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "symbol/elf_file.h"

namespace sooth {

struct PreparedProgram {
  std::string library;              // path of the run time library to load into it
  bool instrumented = true;         // false: nothing in it can be recorded, but it may start a program that can
  std::vector<std::string> notes;   // what the user should know, one sentence each
  std::string exclude_code;         // for RecordingOptions
  std::vector<std::string> unseen;  // libraries that it needs and that are not instrumented: file names, sorted
};

// `name` as for find_program(). Refuses, with what to do, programs into which no library can be loaded (statically
// linked, setuid) and those that bring a run time library of ThreadSanitizer of their own. `exclude`: of
// RecordingOptions.
Result<PreparedProgram> prepare_program(const std::string& name, const std::vector<std::string>& exclude = {});

// Whether calls of the library are not seen: it is not instrumented, and none of those of the system whose functions
// are known.
bool is_unseen_library(const std::string& path, Tsan tsan);

// What to do about a program that is not instrumented.
inline constexpr char kHowToInstrument[] =
    "Build it with `sooth c++` or `sooth cc` in place of the compiler, or with -g -fsanitize=thread";

}  // namespace sooth
