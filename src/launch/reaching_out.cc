#include "launch/reaching_out.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>
#include <string_view>

#include "symbol/elf_file.h"
#include "symbol/elf_image.h"

namespace sooth {
namespace {

constexpr std::string_view kReaching[] = {"bind",     "creat",    "execve",      "execvp", "fopen",  "freopen", "mkdir",
                                          "mkfifo",   "mq_open",  "open",        "openat", "popen",  "rename",  "rmdir",
                                          "sem_open", "shm_open", "posix_spawn", "shmget", "system", "unlink"};

// What the symbol stands for; empty when it reaches nothing. "open64" and "open64@GLIBC_2.2" are open.
std::string reach_of(std::string_view symbol) {
  symbol = symbol.substr(0, symbol.find('@'));
  if (symbol.find("basic_ofstream") != symbol.npos || symbol.find("basic_fstream") != symbol.npos ||
      symbol.find("basic_filebuf") != symbol.npos) {
    return "std::ofstream";
  }
  if (symbol.ends_with("64")) {
    symbol.remove_suffix(2);
  }
  return std::find(std::begin(kReaching), std::end(kReaching), symbol) == std::end(kReaching) ? ""
                                                                                              : std::string(symbol);
}

void add_calls(const std::string& path, std::set<std::string>& calls) {
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file.ok()) {
    return;
  }
  const Result<ElfImage> image = ElfImage::parse(file->bytes(), path);
  const auto symbols = image.ok() ? image->symbols() : Result<std::vector<ElfImage::Symbol>>(image.status());
  if (!symbols.ok()) {
    return;
  }
  for (const ElfImage::Symbol& symbol : *symbols) {
    if (std::string name = symbol.defined ? "" : reach_of(symbol.name); !name.empty()) {
      calls.insert(std::move(name));
    }
  }
}

}  // namespace

std::vector<std::string> calls_that_reach_out(const std::string& path) {
  const char* const library_path = std::getenv("LD_LIBRARY_PATH");
  const Result<ProgramInfo> program = inspect_program(path, library_path == nullptr ? "" : library_path);
  if (!program.ok() || program->main.format != FileFormat::kElf) {
    return {"other programs"};
  }
  std::set<std::string> calls;
  add_calls(path, calls);
  for (const NeededLibrary& library : program->libraries) {
    if (library.info.tsan == Tsan::kUndefined && !library.info.path.empty()) {
      add_calls(library.info.path, calls);
    }
  }
  return {calls.begin(), calls.end()};
}

}  // namespace sooth
