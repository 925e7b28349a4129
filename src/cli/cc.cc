// sooth cc, sooth c++: compilers whose programs can be recorded. They stand where $CC and $CXX of a build stand, so all
// arguments but a few leading ones are the compiler's; main hands them over unparsed.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "launch/compiler_command.h"

namespace sooth {
namespace {

constexpr char kHelp[] =
    R"(Compiles and links a program that `sooth record` can record.

Usage: sooth %s [--deep [--exclude=PATTERN]...] [--compiler=COMMAND] [--print-command] COMPILER-ARGUMENTS...

  --compiler=COMMAND  GCC or Clang, for example clang++-19 or "ccache g++"
                      (default: $%s, else %s)
  --deep              Let a serial recording keep all that is needed to execute the program
                      again, for `sooth analyze --with recipe`; needs %s
  --exclude=PATTERN   With --deep: no more than accesses of these functions or source files
  --print-command     Print the command instead of running it
  --help              Print this help

Ours are recognised in front only; everything else goes to the compiler, with -g and
-fsanitize=thread in front of it, and our run time library in place of ThreadSanitizer's
when it links. Made to be the CC and CXX of a build:

  cmake -DCMAKE_C_COMPILER="sooth;cc" -DCMAKE_CXX_COMPILER="sooth;c++" ...
  CC="sooth cc" CXX="sooth c++" ./configure
  make CC="sooth cc" CXX="sooth c++"

The exit status is the compiler's; 64 when the arguments rule recording out.
)";

struct Wrapper {
  const char* name;      // of the subcommand
  const char* variable;  // of the environment
  const char* fallback;
  bool is_cxx;
};
constexpr Wrapper kC = {"cc", "SOOTH_CC", "gcc", false};
constexpr Wrapper kCxx = {"c++", "SOOTH_CXX", "g++", true};

std::vector<std::string> split_words(const std::string& text) {
  std::istringstream words(text);
  std::vector<std::string> out;
  for (std::string word; words >> word;) {
    out.push_back(word);
  }
  return out;
}

// The compiler takes the place of this process: its status and its signals are its own.
Status execute(const CompilerCommand& command) {
  std::vector<char*> words;
  for (const std::string& word : command.words) {
    words.push_back(const_cast<char*>(word.c_str()));  // execvp takes them so and does not change them
  }
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  return Status::bad_input("cannot start " + command.words.front() + ": " + std::strerror(errno));
}

// Our own words, in front of the compiler's.
struct WrapperOptions {
  std::vector<std::string> compiler;  // empty: the user names none
  std::optional<DeepOptions> deep;
  bool print = false;
  bool help = false;
  std::span<const std::string> arguments;  // of the compiler
};

Result<WrapperOptions> parse(const Wrapper& wrapper, std::span<const std::string> arguments) {
  constexpr std::string_view kCompiler = "--compiler=";
  constexpr std::string_view kExclude = "--exclude=";
  const char* variable = std::getenv(wrapper.variable);
  WrapperOptions options;
  options.compiler = split_words(variable != nullptr ? variable : "");
  std::vector<std::string> excluded;
  for (; !arguments.empty() && !options.help; arguments = arguments.subspan(1)) {
    const std::string& word = arguments.front();
    if (word.starts_with(kCompiler)) {
      options.compiler = split_words(word.substr(kCompiler.size()));
      if (options.compiler.empty()) {
        return Status::usage("--compiler needs the name of a compiler");
      }
    } else if (word == "--deep") {
      options.deep.emplace();
    } else if (word.starts_with(kExclude)) {
      excluded.push_back(word.substr(kExclude.size()));
    } else if (word == "--print-command") {
      options.print = true;
    } else if (word == "--help") {
      options.help = true;
    } else {
      break;
    }
  }
  if (options.deep) {
    options.deep->excluded = std::move(excluded);
  } else if (!excluded.empty()) {
    return Status::usage("--exclude needs --deep: functions are left out of any recording by `sooth record --exclude`");
  }
  options.arguments = arguments;
  return options;
}

CommandResult compile(const Wrapper& wrapper, std::span<const std::string> arguments) {
  Result<WrapperOptions> options = parse(wrapper, arguments);
  if (!options.ok()) {
    return options.status();
  }
  if (options->help) {
    std::printf(kHelp, wrapper.name, wrapper.variable, wrapper.fallback, deep_compiler(wrapper.is_cxx).c_str());
    return ExitCode::kOk;
  }
  if (options->compiler.empty()) {
    options->compiler.push_back(options->deep ? deep_compiler(wrapper.is_cxx) : wrapper.fallback);
  }
  const Result<CompilerKind> kind = compiler_kind(options->compiler);
  if (!kind.ok()) {
    return kind.status();
  }
  if (Status status = options->deep ? check_deep_compiler(options->compiler, *kind) : Status(); !status.ok()) {
    return status;
  }
  const Result<RuntimeLibrary> library = find_runtime_library();
  if (!library.ok()) {
    return library.status();
  }
  const Result<CompilerCommand> command =
      wrap_compiler(options->compiler, *kind, options->arguments, *library, options->deep);
  if (!command.ok()) {
    return command.status();
  }
  for (const std::string& note : command->notes) {
    std::fprintf(stderr, "sooth: %s\n", note.c_str());
  }
  if (options->print) {
    std::printf("%s\n", shell_line(command->words).c_str());
    return ExitCode::kOk;
  }
  return execute(*command);
}

}  // namespace

std::optional<CommandResult> run_compiler_wrapper(std::span<const std::string> arguments) {
  if (arguments.empty()) {
    return std::nullopt;
  }
  for (const Wrapper& wrapper : {kC, kCxx}) {
    if (arguments.front() == wrapper.name) {
      return compile(wrapper, arguments.subspan(1));
    }
  }
  return std::nullopt;
}

void add_compiler_commands(CLI::App& root, CommandResult&) {
  root.add_subcommand(kC.name, "Compile C so that the program can be recorded");
  root.add_subcommand(kCxx.name, "Compile C++ so that the program can be recorded");
}

}  // namespace sooth
