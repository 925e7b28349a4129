#include "launch/preflight.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

#include "launch/emulator.h"
#include "launch/engine.h"
#include "launch/excluded_code.h"
#include "launch/program_path.h"
#include "launch/runtime_library.h"
#include "symbol/elf_file.h"
#include "symbol/elf_image.h"

namespace sooth {
namespace {

// What pthread_create() is called by, here or in a library that is known.
constexpr std::string_view kThreadStarters[] = {"pthread_create", "thrd_create", "_ZNSt6thread15_M_start_thread",
                                                "GOMP_parallel",  "GOMP_teams",  "__kmpc_fork"};

constexpr std::string_view kLoaders[] = {"dlopen"};

bool imports_any(const std::string& path, std::span<const std::string_view> names) {
  const Result<MappedFile> file = MappedFile::open(path);
  const auto image = file.ok() ? ElfImage::parse(file->bytes(), path) : Result<ElfImage>(file.status());
  const auto symbols = image.ok() ? image->symbols() : Result<std::vector<ElfImage::Symbol>>(image.status());
  return symbols.ok() && std::any_of(symbols->begin(), symbols->end(), [&](const ElfImage::Symbol& symbol) {
           return !symbol.defined && std::any_of(names.begin(), names.end(), [&](std::string_view name) {
             return std::string_view(symbol.name).starts_with(name);
           });
         });
}

Status refuse_if_impossible(const BinaryInfo& main) {
  const std::string cannot = main.path + " cannot be recorded: ";
  if (main.format == FileFormat::kForeignElf) {
    return Status::usage(cannot + "it is for a machine that Sooth does not know; it knows x86_64 and aarch64");
  }
  if (main.runs_as_other_user) {
    return Status::usage(cannot +
                         "it is setuid or setgid, and no library is loaded into such a program; record a copy without "
                         "that bit");
  }
  if (main.format == FileFormat::kElf && main.linking == Linking::kStatic) {
    return Status::usage(cannot + "it is linked statically; link it without -static");
  }
  if (main.tsan == Tsan::kContained && !main.contains_sooth) {
    return Status::usage(
        cannot +
        "ThreadSanitizer's own library is linked into it; link it again with `sooth c++`, or with "
        "`g++ -fsanitize=thread` without -static-libtsan, or with `clang++ -fsanitize=thread -shared-libsan`");
  }
  return {};
}

// A program for another machine needs an emulator, and our library for that machine.
Status settle_emulator(const BinaryInfo& main, const RuntimeLibrary& library) {
  Result<std::optional<Emulator>> found = find_emulator(main.machine);
  if (!found.ok()) {
    return std::move(found).status().prefixed(main.path + " cannot be recorded");
  }
  std::error_code error;
  const std::string ours = library.for_machine(machine_name(main.machine)) + "/" + kGccRuntimeName;
  if (found->has_value() && !std::filesystem::exists(ours, error)) {
    return Status::usage(main.path + " cannot be recorded: it is for " + std::string(machine_name(main.machine)) +
                         ", and this sooth was built without the run time library for it, which needs g++-" +
                         std::string(machine_name(main.machine)) + "-linux-gnu when it is built");
  }
  choose_emulator(std::move(*found));
  return {};
}

// A program that asks for Clang's library, itself or through one of its own, gets ours under that name.
bool wants_clang_name(const ProgramInfo& program) {
  return program.main.tsan_library == TsanLibrary::kClang ||
         (program.main.tsan_library == TsanLibrary::kNone &&
          std::any_of(program.libraries.begin(), program.libraries.end(),
                      [](const NeededLibrary& each) { return each.info.tsan_library == TsanLibrary::kClang; }));
}

// Whether the file starts threads, or a library that it brings with it.
bool starts_threads(const ProgramInfo& program) {
  if (imports_any(program.main.path, kThreadStarters)) {
    return true;
  }
  return std::any_of(program.libraries.begin(), program.libraries.end(), [](const NeededLibrary& each) {
    return !each.info.path.empty() && is_unseen_library(each.soname, each.info.tsan) &&
           imports_any(each.info.path, kThreadStarters);
  });
}

// By default what has no hooks and has threads runs under Valgrind, if there is one. Programs that start others (a shell,
// make) mostly have none, and are left as they are; so is what loads modules by itself (python3), which may have hooks.
Status settle_engine(const ProgramInfo& program) {
  const bool is_elf = program.main.format == FileFormat::kElf;
  if (!engine_is_chosen() && is_elf && !emulator().has_value() && !program.instrumented() && starts_threads(program) &&
      !imports_any(program.main.path, kLoaders) && find_valgrind_tool().ok()) {
    choose_engine(Engine::kValgrind);
  }
  if (engine() != Engine::kValgrind) {
    return {};
  }
  if (program.instrumented()) {
    return Status::usage(program.main.path +
                         " has hooks of its own (-fsanitize=thread): record it without --engine valgrind");
  }
  if (!is_elf || emulator().has_value()) {
    return Status::usage(program.main.path + " is no program of this machine: name its interpreter to record that");
  }
  return find_valgrind_tool();
}

}  // namespace

bool is_unseen_library(const std::string& path, Tsan tsan) {
  constexpr std::string_view kKnown[] = {"libc.so",    "libm.so",      "libstdc++.so", "libgcc_s.so", "libpthread.so",
                                         "libdl.so",   "librt.so",     "ld-linux",     "libgomp.so",  "libatomic.so",
                                         "libtsan.so", "libclang_rt.", "libc++",       "libunwind",   "linux-vdso",
                                         "libomp.so",  "libomp5.so",   "libiomp5.so",  "liburing.so"};
  const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
  return tsan == Tsan::kNone && std::none_of(std::begin(kKnown), std::end(kKnown),
                                             [&](std::string_view known) { return name.starts_with(known); });
}

Result<PreparedProgram> prepare_program(const std::string& name, const std::vector<std::string>& exclude) {
  const Result<std::string> path = find_program(name);
  if (!path.ok()) {
    return path.status();
  }
  const Result<RuntimeLibrary> library = find_runtime_library();
  if (!library.ok()) {
    return library.status();
  }
  const Result<BinaryInfo> file = inspect_binary(*path);
  if (!file.ok()) {
    return file.status();
  }
  SOOTH_RETURN_IF_ERROR(refuse_if_impossible(*file));
  SOOTH_RETURN_IF_ERROR(settle_emulator(*file, *library));
  const char* library_path = std::getenv("LD_LIBRARY_PATH");
  const Result<ProgramInfo> program = inspect_program(*path, library_path != nullptr ? library_path : "",
                                                      emulator().has_value() ? emulator()->root : "");
  if (!program.ok()) {
    return program.status();
  }
  SOOTH_RETURN_IF_ERROR(settle_engine(*program));
  PreparedProgram answer;
  const std::string machine(machine_name(file->machine));
  answer.library = (emulator().has_value() ? library->for_machine(machine) : library->directory) + "/" +
                   (wants_clang_name(*program) ? "libclang_rt.tsan-" + machine + ".so" : std::string(kGccRuntimeName));
  answer.instrumented = program->instrumented() || engine() != Engine::kHooks;
  if (!answer.instrumented) {
    const bool script = program->main.format == FileFormat::kScript;
    answer.notes.push_back("warning: " + *path + (script ? " is a script" : " is not instrumented") +
                           ": only programs that it starts can be recorded" +
                           (script ? "" : std::string(". ") + kHowToInstrument) +
                           (!script && starts_threads(*program) && find_valgrind_tool().ok()
                                ? "; or take it as it is, with --engine valgrind"
                                : ""));
  }
  for (const NeededLibrary& each : program->libraries) {
    if (!each.info.path.empty() && is_unseen_library(each.soname, each.info.tsan)) {
      answer.unseen.push_back(each.soname);
    }
  }
  std::sort(answer.unseen.begin(), answer.unseen.end());
  Result<ExcludedCode> excluded = find_excluded_code(*program, exclude);
  if (!excluded.ok()) {
    return std::move(excluded).status();
  }
  answer.exclude_code = std::move(excluded->ranges);
  answer.notes.insert(answer.notes.end(), excluded->notes.begin(), excluded->notes.end());
  return answer;
}

}  // namespace sooth
