// `sooth cc` and `sooth c++`: the user's compiler command with what makes the program recordable.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "launch/runtime_library.h"

namespace sooth {

enum class CompilerKind : std::uint8_t { kGcc, kClang };

struct CompilerCommand {
  std::vector<std::string> words;  // program and arguments, to be executed
  std::vector<std::string> notes;  // sentences for standard error
};

// Told by the name (`g++-12`, `x86_64-linux-gnu-gcc`, `clang++`), by that of the file that it is a link to (`c++`), or, when neither
// says, by the macros that the compiler defines. `compiler` is a command with possibly a launcher in front: {"ccache", "g++"}.
Result<CompilerKind> compiler_kind(std::span<const std::string> compiler);

// Puts in front of the user's arguments, so that theirs win:
//   compiling   -g -fsanitize=thread; for Clang also the reads that it leaves out when a write follows
//   linking     our library in place of ThreadSanitizer's, and where the program finds it at run time
// A command without input (`--version`) stays as it is. An error when the user asks for what cannot be recorded.
Result<CompilerCommand> wrap_compiler(std::span<const std::string> compiler, CompilerKind kind,
                                      std::span<const std::string> arguments, const RuntimeLibrary& library);

// The words as a line that a POSIX shell reads back as the same words.
std::string shell_line(std::span<const std::string> words);

}  // namespace sooth
