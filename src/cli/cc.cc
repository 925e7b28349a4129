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

// Behind the options in `--help`; %s are the names of the subcommand.
constexpr char kFooter[] =
    R"(Usage: sooth %s [OPTIONS] COMPILER-ARGUMENTS. Options of ours are recognised in front only; everything else
goes to the compiler, with -g and -fsanitize=thread in front of it, and our run time library in
place of ThreadSanitizer's when it links. Made to be the CC and CXX of a build:

  cmake -DCMAKE_C_COMPILER="sooth;cc" -DCMAKE_CXX_COMPILER="sooth;c++" ...
  CC="sooth cc" CXX="sooth c++" ./configure
  make CC="sooth cc" CXX="sooth c++"

or a launcher in front of the compiler of some targets, as sooth_instrument() of the CMake package does:

  sooth %s --launch g++ -c file.cc

The exit status is the compiler's; 64 when the arguments rule recording out.)";

struct Wrapper {
  const char* name;      // of the subcommand
  const char* variable;  // of the environment
  const char* fallback;
  bool is_cxx;
  const char* summary;
};
constexpr Wrapper kC = {.name = "cc",
                        .variable = "SOOTH_CC",
                        .fallback = "gcc",
                        .is_cxx = false,
                        .summary = "Compile C so that the program can be recorded"};
constexpr Wrapper kCxx = {.name = "c++",
                          .variable = "SOOTH_CXX",
                          .fallback = "g++",
                          .is_cxx = true,
                          .summary = "Compile C++ so that the program can be recorded"};

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

// What the leading arguments ask for; the rest is the compiler's.
struct Request {
  std::vector<std::string> compiler;
  std::optional<DeepOptions> deep;
  bool print = false;
  bool help = false;
  std::span<const std::string> arguments;
};

// Words that stand in front of a compiler and are none.
bool is_launcher(const std::string& word) {
  const std::string name = word.substr(word.rfind('/') + 1);
  return name == "ccache" || name == "sccache" || name == "distcc" || name == "icecc";
}

// `--launch` says that the compiler stands next, as in the command that a build system would have run itself.
std::vector<std::string> take_compiler(std::span<const std::string>& arguments) {
  std::vector<std::string> compiler;
  for (bool more = true; more && !arguments.empty(); arguments = arguments.subspan(1)) {
    compiler.push_back(arguments.front());
    more = is_launcher(compiler.back());
  }
  return compiler;
}

Result<Request> read_request(const Wrapper& wrapper, std::span<const std::string> arguments) {
  constexpr std::string_view kCompiler = "--compiler=", kExclude = "--exclude=";
  const char* variable = std::getenv(wrapper.variable);
  Request request;
  request.compiler = split_words(variable != nullptr ? variable : "");
  bool named = false;
  std::vector<std::string> excluded;
  for (; !arguments.empty(); arguments = arguments.subspan(1)) {
    const std::string& word = arguments.front();
    if (word.starts_with(kCompiler)) {
      request.compiler = split_words(word.substr(kCompiler.size()));
      named = true;
    } else if (word == "--deep") {
      request.deep.emplace();
    } else if (word.starts_with(kExclude)) {
      excluded.push_back(word.substr(kExclude.size()));
    } else if (word == "--print-command") {
      request.print = true;
    } else if (word == "--help") {
      request.help = true;
    } else {
      break;
    }
  }
  if (!arguments.empty() && arguments.front() == "--launch") {
    arguments = arguments.subspan(1);
    request.compiler = take_compiler(arguments);
    named = true;
  }
  if (!excluded.empty() && !request.deep) {
    return Status::usage("--exclude needs --deep: functions are left out of any recording by `sooth record --exclude`");
  }
  if (request.deep) {
    request.deep->excluded = std::move(excluded);
  }
  if (request.compiler.empty()) {
    if (named) {
      return Status::usage("--compiler and --launch need the name of a compiler");
    }
    request.compiler.push_back(request.deep ? deep_compiler(wrapper.is_cxx) : wrapper.fallback);
  }
  request.arguments = arguments;
  return request;
}

CommandResult compile(const Request& request) {
  const Result<CompilerKind> kind = compiler_kind(request.compiler);
  if (!kind.ok()) {
    return kind.status();
  }
  if (request.deep) {
    SOOTH_RETURN_IF_ERROR(check_deep_compiler(request.compiler, *kind));
  }
  const Result<RuntimeLibrary> library = find_runtime_library();
  if (!library.ok()) {
    return library.status();
  }
  if (request.deep && ::access(library->path(kDeepPassName).c_str(), R_OK) != 0) {
    return Status::usage("this sooth was built without --deep (SOOTH_WITH_DEEP=OFF)");
  }
  const Result<CompilerCommand> command =
      wrap_compiler(request.compiler, *kind, request.arguments, *library, request.deep);
  if (!command.ok()) {
    return command.status();
  }
  for (const std::string& note : command->notes) {
    std::fprintf(stderr, "sooth: %s\n", note.c_str());
  }
  if (request.print) {
    std::printf("%s\n", shell_line(command->words).c_str());
    return ExitCode::kOk;
  }
  return execute(*command);
}

// For `--help` and the reference; read_request is what parses.
void declare(CLI::App& root, const Wrapper& wrapper) {
  CLI::App* command = root.add_subcommand(wrapper.name, wrapper.summary);
  command->add_option("--compiler")
      ->description("GCC or Clang, for example --compiler=clang++-19 or --compiler=\"ccache g++\" (default: $" +
                    std::string(wrapper.variable) + ", else " + wrapper.fallback + ")")
      ->type_name("COMMAND");
  command->add_flag("--deep")->description(
      "Let a serial recording keep all that is needed to execute the program again, for `sooth analyze --with recipe`; "
      "needs " +
      deep_compiler(wrapper.is_cxx));
  command->add_option("--exclude")
      ->description("With --deep: no more than accesses of these functions or source files; may be repeated")
      ->type_name("PATTERN");
  command->add_flag("--launch")->description("The compiler is what stands next, perhaps behind ccache or the like");
  command->add_flag("--print-command")->description("Print the command instead of running it");
  char footer[2 * sizeof(kFooter)];
  std::snprintf(footer, sizeof footer, kFooter, wrapper.name, wrapper.name);
  command->footer(footer);
  command->allow_extras();
}

}  // namespace

std::optional<CommandResult> run_compiler_wrapper(std::span<const std::string> arguments) {
  if (arguments.empty()) {
    return std::nullopt;
  }
  for (const Wrapper& wrapper : {kC, kCxx}) {
    if (arguments.front() == wrapper.name) {
      const Result<Request> request = read_request(wrapper, arguments.subspan(1));
      if (!request.ok()) {
        return request.status();
      }
      return request->help ? std::nullopt : std::optional<CommandResult>(compile(*request));
    }
  }
  return std::nullopt;
}

void add_compiler_commands(CLI::App& root, CommandResult&) {
  declare(root, kC);
  declare(root, kCxx);
}

}  // namespace sooth
