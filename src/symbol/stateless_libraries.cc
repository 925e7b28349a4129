#include "symbol/stateless_libraries.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "base/glob.h"
#include "base/text.h"
#include "symbol/elf_file.h"
#include "symbol/elf_image.h"
#include "trace/format/small_file.h"
#include "trace/recording/stream_format.h"

namespace sooth {
namespace {

// Each keeps what it knows in memory that it is given or has allocated for the caller. Not among them: what has a cache,
// a default that can be set, or a table that the first call fills (libcrypto, libwebp, libmpfr, libcurl).
constexpr std::string_view kKnown[] = {"libm",         "libmvec",      "libquadmath",    "libz",      "libbz2",
                                       "liblzma",      "libzstd",      "liblz4",         "liblzo2",   "libdeflate",
                                       "libbrotlienc", "libbrotlidec", "libsnappy",      "libxxhash", "libpng16",
                                       "libjpeg",      "libgmp",       "libbrotlicommon"};

// Whether `file` is a version of the library called `name`: libz is libz.so.1, and neither libzstd.so.1 nor libz3.so.
bool is_version_of(std::string_view file, std::string_view name) {
  return file.starts_with(name) && (file.size() == name.size() || file[name.size()] == '.');
}

// The files of the process, in the order in which names are looked up in them. Only what was called or has called is a
// module of the recording; the program needs more than that.
std::vector<std::string> loaded_files(const RecordedProcess& process) {
  std::vector<std::string> files;
  const auto add = [&files](const std::string& path) {
    if (!path.empty() && std::find(files.begin(), files.end(), path) == files.end()) {
      files.push_back(path);
    }
  };
  const char* library_path = std::getenv("LD_LIBRARY_PATH");
  for (const RecordedModule& module : process.modules) {
    const Result<ProgramInfo> program = inspect_program(module.path, library_path != nullptr ? library_path : "");
    if (program.ok() && program->main.linking == Linking::kDynamic) {
      add(module.path);
      for (const NeededLibrary& each : program->libraries) {
        add(each.info.path);
      }
    }
  }
  for (const RecordedModule& module : process.modules) {
    add(module.path);
  }
  return files;
}

}  // namespace

bool StatelessLibraries::is_known(std::string_view file) {
  return std::any_of(std::begin(kKnown), std::end(kKnown),
                     [&](std::string_view name) { return is_version_of(file_name(file), name); });
}

const std::string* StatelessLibraries::name_for(std::string_view file) const {
  const auto it = std::find_if(named_.begin(), named_.end(), [&](const std::string& name) {
    const std::string wanted = file_name(name);
    return wanted.find_first_of("*?") != std::string::npos ? glob_match(wanted, file_name(file))
                                                           : is_version_of(file_name(file), wanted);
  });
  return it == named_.end() ? nullptr : &*it;
}

FunctionNames functions_of(const StatelessLibraries& libraries, const RecordedProcess& process) {
  FunctionNames theirs, others;
  for (const std::string& path : loaded_files(process)) {
    const Result<MappedFile> file = MappedFile::open(path);
    if (!file.ok()) {
      continue;
    }
    const Result<ElfImage> image = ElfImage::parse(file->bytes(), path);
    const auto symbols = image.ok() ? image->symbols() : Result<std::vector<ElfImage::Symbol>>(image.status());
    const bool is_one = libraries.contains(path);
    for (const ElfImage::Symbol& symbol : symbols.ok() ? *symbols : std::vector<ElfImage::Symbol>()) {
      // Without versions, as in "foo@VERSION".
      const std::string_view name = symbol.name.substr(0, symbol.name.find('@'));
      if (symbol.defined && !symbol.local && !(is_one ? others : theirs).contains(name)) {
        (is_one ? theirs : others).emplace(name);
      }
    }
  }
  return theirs;
}

FunctionNames functions_of(const StatelessLibraries& libraries, const std::string& recording) {
  const std::string path = recording + "/" + stream::kProcessFile;
  const Result<std::string> text = read_required_file(path);
  const Result<RecordedProcess> process = text.ok() ? parse_process(*text, path) : text.status();
  return process.ok() ? functions_of(libraries, *process) : FunctionNames();
}

}  // namespace sooth
