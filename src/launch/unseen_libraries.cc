#include "launch/unseen_libraries.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

#include "launch/preflight.h"
#include "symbol/elf_file.h"
#include "symbol/elf_image.h"
#include "trace/format/small_file.h"
#include "trace/recording/process_file.h"
#include "trace/recording/stream_format.h"

namespace sooth {
namespace {

// Who calls one of these may wait for what another thread does with means that nobody sees: a futex by hand, a flag that
// is looked at again and again.
constexpr std::string_view kByHand[] = {"clock_nanosleep", "clone",  "nanosleep", "pause", "pthread_yield",
                                        "sched_yield",     "select", "syscall",   "usleep"};

struct Code {
  std::set<std::string, std::less<>> defines, needs;
  bool is_direct = false;  // instrumented code may call it without saying so here
};

bool synchronises_by_hand(const Code& code) {
  return std::any_of(code.needs.begin(), code.needs.end(), [](const std::string& name) {
    return name.starts_with("__atomic_") ||
           std::find(std::begin(kByHand), std::end(kByHand), name) != std::end(kByHand);
  });
}

bool calls(const Code& caller, const Code& callee) {
  return std::any_of(caller.needs.begin(), caller.needs.end(),
                     [&](const std::string& name) { return callee.defines.contains(name); });
}

// Names without versions, as in "foo@VERSION".
void add_symbols(const std::string& path, Code& code) {
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file.ok()) {
    return;
  }
  const Result<ElfImage> image = ElfImage::parse(file->bytes(), path);
  const auto symbols = image.ok() ? image->symbols() : Result<std::vector<ElfImage::Symbol>>(image.status());
  for (const ElfImage::Symbol& symbol : symbols.ok() ? *symbols : std::vector<ElfImage::Symbol>()) {
    (symbol.defined ? code.defines : code.needs).emplace(symbol.name.substr(0, symbol.name.find('@')));
  }
}

class Libraries {
 public:
  void add_module(const std::string& path) {
    const Result<BinaryInfo> file = inspect_binary(path);
    if (!file.ok()) {
      return;
    }
    if (file->linking == Linking::kSharedLibrary) {
      if (!is_unseen_library(path, file->tsan)) {
        add_caller(path, file->tsan);
      } else if (add_unseen(std::filesystem::path(path).filename().string(), path)) {
        loaded_by_hand_.insert(std::filesystem::path(path).filename().string());
      }
      return;
    }
    if (file->tsan == Tsan::kNone) {
      plain_programs_.insert(std::filesystem::path(path).filename().string());
    }
    // Only what instrumented code was called from or made known to us is a module; the program needs more than that.
    add_caller(path, file->tsan);
    const char* library_path = std::getenv("LD_LIBRARY_PATH");
    const Result<ProgramInfo> program = inspect_program(path, library_path != nullptr ? library_path : "");
    for (const NeededLibrary& each : program.ok() ? program->libraries : std::vector<NeededLibrary>{}) {
      if (each.info.path.empty()) {
        continue;
      }
      if (is_unseen_library(each.soname, each.info.tsan)) {
        add_unseen(each.soname, each.info.path);
        needed_.insert({each.soname, std::filesystem::path(each.info.path).filename().string()});
      } else {
        add_caller(each.info.path, each.info.tsan);
      }
    }
  }

  UnseenLibraries finish() {
    UnseenLibraries result;
    for (auto& [name, code] : unseen_) {
      result.loaded.push_back(name);
      code.is_direct = calls(instrumented_, code) || (loaded_by_hand_.contains(name) && !needed_.contains(name));
    }
    std::set<std::string> reached;
    for (bool more = true; std::exchange(more, false);) {
      for (const auto& [name, code] : unseen_) {
        const bool is_reached = code.is_direct || std::any_of(reached.begin(), reached.end(), [&](const auto& caller) {
                                  return calls(unseen_.at(caller), code);
                                });
        more = (is_reached && reached.insert(name).second) || more;
      }
    }
    if (!plain_programs_.empty()) {
      // Nobody sees more of its libraries than of the program.
      result.is_plain_program = true;
      result.may_order.assign(plain_programs_.begin(), plain_programs_.end());
      return result;
    }
    for (const auto& [name, code] : unseen_) {
      if (reached.contains(name) && (code.is_direct || synchronises_by_hand(code))) {
        result.may_order.push_back(name);
      }
    }
    return result;
  }

 private:
  bool add_unseen(const std::string& name, const std::string& path) {
    const auto [it, added] = unseen_.try_emplace(name);
    if (added) {
      add_symbols(path, it->second);
    }
    return added;
  }
  void add_caller(const std::string& path, Tsan tsan) {
    if (tsan != Tsan::kNone && callers_.insert(path).second) {
      add_symbols(path, instrumented_);
    }
  }

  std::map<std::string, Code> unseen_;
  Code instrumented_;
  std::set<std::string> callers_, loaded_by_hand_, needed_;
  std::set<std::string> plain_programs_;  // that were recorded all the same: by another engine
};

}  // namespace

UnseenLibraries unseen_libraries(const std::string& directory) {
  const Result<std::string> text = read_required_file(directory + "/" + stream::kProcessFile);
  const Result<RecordedProcess> process = text.ok() ? parse_process(*text, directory) : text.status();
  Libraries libraries;
  for (const RecordedModule& module : process.ok() ? process->modules : std::vector<RecordedModule>{}) {
    libraries.add_module(module.path);
  }
  return libraries.finish();
}

}  // namespace sooth
