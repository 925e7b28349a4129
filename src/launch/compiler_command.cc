#include "launch/compiler_command.h"

#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>

#include "launch/compiler_arguments.h"
#include "launch/program_path.h"
#include "symbol/elf_file.h"

namespace sooth {
namespace {

// GCC writes small ones out, behind the pass that would have made their accesses visible. Calls are seen. Not strlen():
// programs have it in the initialisers of constants.
constexpr const char* kWrittenOut[] = {"memset",  "memcpy", "memmove", "mempcpy", "memcmp",  "bcopy",
                                       "bzero",   "bcmp",   "strcpy",  "stpcpy",  "strncpy", "strcat",
                                       "strncat", "strcmp", "strncmp", "sprintf", "snprintf"};

std::optional<CompilerKind> kind_by_name(const std::string& name) {
  if (name.find("clang") != std::string::npos) {
    return CompilerKind::kClang;
  }
  if (name.find("gcc") != std::string::npos || name.find("g++") != std::string::npos) {
    return CompilerKind::kGcc;
  }
  return std::nullopt;
}

// The macros that the compiler defines, as `#define NAME VALUE` lines.
Result<std::string> predefined_macros(std::span<const std::string> compiler) {
  std::vector<std::string> words(compiler.begin(), compiler.end());
  words.insert(words.end(), {"-dM", "-E", "-x", "c", "/dev/null"});
  const std::string line = shell_line(words);
  std::FILE* pipe = ::popen(line.c_str(), "re");
  if (pipe == nullptr) {
    return Status::internal("cannot run `" + line + "`");
  }
  std::string text;
  char buffer[4096];
  while (const std::size_t n = std::fread(buffer, 1, sizeof(buffer), pipe)) {
    text.append(buffer, n);
  }
  if (::pclose(pipe) != 0) {
    return Status::usage("`" + line + "` failed; name a compiler with --compiler");
  }
  return text;
}

// The word of the compiler command that names the compiler, behind launchers and in front of options.
const std::string& compiler_word(std::span<const std::string> compiler) {
  std::size_t last = compiler.size() - 1;
  while (last > 0 && compiler[last].starts_with('-')) {
    --last;
  }
  return compiler[last];
}

// What the command compiles for: "aarch64" with `aarch64-linux-gnu-g++` and `clang++ --target=aarch64-linux-gnu`; empty
// when nothing says so, which means this machine.
std::string named_machine(std::span<const std::string> compiler, std::span<const std::string> arguments) {
  const auto machine_of = [](const std::string& triple) {
    return triple.find("-linux") == std::string::npos ? std::string() : triple.substr(0, triple.find('-'));
  };
  std::string machine = machine_of(std::filesystem::path(compiler_word(compiler)).filename().string());
  for (const auto& words : {compiler, arguments}) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      constexpr std::string_view kTarget = "--target=";
      if (words[i].starts_with(kTarget)) {
        machine = machine_of(words[i].substr(kTarget.size()));
      } else if (words[i] == "-target" && i + 1 < words.size()) {
        machine = machine_of(words[i + 1]);
      }
    }
  }
  return machine;
}

// The directory with the libraries for that machine.
Result<std::string> library_directory(const RuntimeLibrary& library, const std::string& machine) {
  if (machine.empty() || machine == machine_name(kThisMachine)) {
    return library.directory;
  }
  const std::string directory = library.for_machine(machine);
  if (std::error_code error; !std::filesystem::exists(directory + "/" + kGccLinkName, error)) {
    return Status::usage("there is no run time library for " + machine + " (" + directory + ")" +
                         (machine == machine_name(Machine::kAarch64)
                              ? ": build sooth where aarch64-linux-gnu-g++ is installed"
                              : "; programs for x86_64 and aarch64 can be recorded"));
  }
  return directory;
}

void add_deep_pass(const DeepOptions& deep, const RuntimeLibrary& library, std::vector<std::string>& words) {
  const std::string pass = library.path(kDeepPassName);
  // -load makes the options of the pass known before they are read.
  words.insert(words.end(), {"-mllvm", "-tsan-instrument-memory-accesses=0", "-Xclang", "-load", "-Xclang", pass,
                             "-fpass-plugin=" + pass});
  for (const std::string& pattern : deep.excluded) {
    words.insert(words.end(), {"-mllvm", "-sooth-exclude=" + pattern});
  }
}

// GCC links what `-ltsan` finds first; Clang was told to link none. In both cases the library comes before the user's
// objects and stays even when the linker is told to drop what is not needed.
void add_library(CompilerKind kind, const std::string& directory, std::vector<std::string>& words) {
  switch (kind) {
    case CompilerKind::kGcc: words.push_back("-L" + directory); break;
    case CompilerKind::kClang:
      for (const std::string& word : {std::string("--push-state"), std::string("--no-as-needed"),
                                      directory + "/" + kGccRuntimeName, std::string("--pop-state")}) {
        words.insert(words.end(), {"-Xlinker", word});
      }
      break;
  }
  // Not -Wl, which would split a path at its commas.
  words.insert(words.end(), {"-Xlinker", "-rpath", "-Xlinker", directory});
}

}  // namespace

Result<CompilerKind> compiler_kind(std::span<const std::string> compiler) {
  namespace fs = std::filesystem;
  const std::string& name = compiler_word(compiler);
  if (const auto kind = kind_by_name(fs::path(name).filename().string())) {
    return *kind;
  }
  const Result<std::string> path = find_program(name);
  if (!path.ok()) {
    return path.status();
  }
  std::error_code error;
  const fs::path target = fs::canonical(*path, error);
  if (const auto kind = kind_by_name(target.filename().string()); !error && kind) {
    return *kind;
  }
  const Result<std::string> text = predefined_macros(compiler);
  if (!text.ok()) {
    return text.status();
  }
  if (text->find("#define __clang__ ") != std::string::npos) {
    return CompilerKind::kClang;
  }
  if (text->find("#define __GNUC__ ") != std::string::npos) {
    return CompilerKind::kGcc;
  }
  return Status::usage("`" + name + "` is neither GCC nor Clang; name one of them with --compiler");
}

std::string deep_compiler(bool is_cxx) { return std::string(is_cxx ? "clang++-" : "clang-") + SOOTH_LLVM_MAJOR; }

Status check_deep_compiler(std::span<const std::string> compiler, CompilerKind kind) {
  const std::string& name = compiler_word(compiler);
  const std::string wanted = "--deep needs Clang " SOOTH_LLVM_MAJOR ", whose LLVM the pass is built for: ";
  if (kind != CompilerKind::kClang) {
    return Status::usage(wanted + "`" + name + "` is GCC. Name another with --compiler, or none");
  }
  if (name.ends_with("-" SOOTH_LLVM_MAJOR)) {
    return {};
  }
  const Result<std::string> macros = predefined_macros(compiler);
  if (!macros.ok()) {
    return macros.status();
  }
  constexpr std::string_view kMajor = "#define __clang_major__ ";
  const std::size_t at = macros->find(kMajor);
  const std::size_t begin = at + kMajor.size();
  const std::string major = at == std::string::npos ? "" : macros->substr(begin, macros->find('\n', begin) - begin);
  return major == SOOTH_LLVM_MAJOR ? Status() : Status::usage(wanted + "`" + name + "` is Clang " + major);
}

Result<CompilerCommand> wrap_compiler(std::span<const std::string> compiler, CompilerKind kind,
                                      std::span<const std::string> arguments, const RuntimeLibrary& library,
                                      const std::optional<DeepOptions>& deep) {
  const CompilerJob job = understand_compiler_arguments(arguments);
  if (job.has_input && !job.other_sanitizer.empty()) {
    return Status::usage(
        "-fsanitize=" + job.other_sanitizer +
        " and recording exclude each other: both need to be the program's only sanitizer. Leave it out");
  }
  if (job.links() && job.fully_static) {
    return Status::usage("a statically linked program cannot be recorded: leave out -static");
  }
  if (job.links() && job.static_tsan) {
    return Status::usage("-static-libtsan would put ThreadSanitizer's own library into the program: leave it out");
  }
  CompilerCommand command;
  command.words.assign(compiler.begin(), compiler.end());
  if (job.has_input) {
    command.words.insert(command.words.end(), {"-g", "-fsanitize=thread"});
    if (kind == CompilerKind::kGcc) {
      for (const char* function : kWrittenOut) {
        command.words.push_back(std::string("-fno-builtin-") + function);
      }
      // It says of every atomic_thread_fence() that it is not supported. Here it is.
      command.words.push_back("-Wno-tsan");
    }
    // Last among the directories, so that a program that brings the header along keeps its own.
    if (!library.include_directory.empty()) {
      command.words.insert(command.words.end(), {"-idirafter", library.include_directory});
    }
    if (kind == CompilerKind::kClang) {
      // Clang warns of it where nothing is compiled.
      command.words.insert(command.words.end(),
                           {"--start-no-unused-arguments", "-mllvm", "-tsan-instrument-read-before-write"});
      if (deep) {
        add_deep_pass(*deep, library, command.words);
      }
      command.words.push_back("--end-no-unused-arguments");
    }
  }
  if (job.links() && kind == CompilerKind::kClang) {
    command.words.push_back("-fno-sanitize-link-runtime");
  }
  if (job.links() && !job.without_libraries) {
    const Result<std::string> directory = library_directory(library, named_machine(compiler, arguments));
    if (!directory.ok()) {
      return directory.status();
    }
    add_library(kind, *directory, command.words);
  }
  command.words.insert(command.words.end(), arguments.begin(), arguments.end());
  return command;
}

std::string shell_line(std::span<const std::string> words) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  std::string line;
  for (const std::string& word : words) {
    line += line.empty() ? "" : " ";
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) {
      line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    line += '\'';
  }
  return line;
}

}  // namespace sooth
