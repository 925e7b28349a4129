// `sooth cc` and `sooth c++`: the user's compiler command with what makes the program recordable.
#pragma once

#include <optional>
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

// Told by the name (`g++-12`, `x86_64-linux-gnu-gcc`, `clang++`), by that of the file that it is a link to (`c++`), or,
// when neither says, by the macros that the compiler defines. `compiler` is a command, not empty, perhaps with a
// launcher in front and options behind: {"ccache", "g++", "-m64"}.
Result<CompilerKind> compiler_kind(std::span<const std::string> compiler);

// The pass of `--deep`: docs/deep.md.
struct DeepOptions {
  std::vector<std::string> excluded;  // patterns of functions and source files without deep hooks
};
// The compilers that can load the pass, as `--deep` calls them when the user names none.
std::string deep_compiler(bool is_cxx);
// An error when the compiler is not a Clang of the version that the pass was built for.
Status check_deep_compiler(std::span<const std::string> compiler, CompilerKind kind);

// Puts in front of the user's arguments, so that theirs win:
//   compiling   -g -fsanitize=thread; for Clang also the reads that it leaves out when a write follows
//               and with `deep` the pass, which takes the place of ThreadSanitizer's for plain accesses
//   linking     our library in place of ThreadSanitizer's, and where the program finds it at run time
// A command without input (`--version`) stays as it is. An error when the user asks for what cannot be recorded.
Result<CompilerCommand> wrap_compiler(std::span<const std::string> compiler, CompilerKind kind,
                                      std::span<const std::string> arguments, const RuntimeLibrary& library,
                                      const std::optional<DeepOptions>& deep = std::nullopt);

// The words as a line that a POSIX shell reads back as the same words.
std::string shell_line(std::span<const std::string> words);

}  // namespace sooth
