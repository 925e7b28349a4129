#include "symbol/elf_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "symbol/elf_image.h"

namespace sooth {
namespace {

// Where Debian, Ubuntu and Fedora keep libraries, in the order of the dynamic linker.
std::vector<std::string> default_directories(Machine machine, const std::string& root) {
  const std::string folder = "/" + std::string(machine_name(machine)) + "-linux-gnu";
  return {root + "/lib" + folder,
          root + "/usr/lib" + folder,
          root + "/lib64",
          root + "/usr/lib64",
          root + "/lib",
          root + "/usr/lib",
          root + "/usr/local/lib" + folder,
          root + "/usr/local/lib"};
}

std::optional<Machine> machine_of(const Elf64_Ehdr& header) {
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return std::nullopt;
  }
  switch (header.e_machine) {
    case EM_X86_64: return Machine::kX86_64;
    case EM_AARCH64: return Machine::kAarch64;
    default: return std::nullopt;
  }
}

std::string replace_all(std::string text, std::string_view what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

// "a:b" as directories. $ORIGIN is the folder of the file that says it; an empty entry is the current folder.
std::vector<std::string> split_path(const std::string& list, const std::string& origin) {
  std::vector<std::string> directories;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(':', begin), list.size());
    std::string directory = list.substr(begin, end - begin);
    directory = replace_all(replace_all(std::move(directory), "${ORIGIN}", origin), "$ORIGIN", origin);
    directories.push_back(directory.empty() ? "." : directory);
    begin = end + 1;
  }
  return directories;
}

std::string folder_of(const std::string& path) {
  std::error_code error;
  const auto absolute = std::filesystem::canonical(path, error);
  return error ? "." : absolute.parent_path().string();
}

TsanLibrary tsan_library_of(std::string_view soname) {
  if (soname.starts_with("libtsan.so")) {
    return TsanLibrary::kGcc;
  }
  return soname.starts_with("libclang_rt.tsan") ? TsanLibrary::kClang : TsanLibrary::kNone;
}

bool is_openmp(std::string_view soname) {
  return soname.starts_with("libgomp.so") || soname.starts_with("libomp.so") || soname.starts_with("libiomp5.so");
}

Linking linking_of(const ElfImage& image, const BinaryInfo& info, std::span<const Elf64_Dyn> dynamic) {
  if (image.header().e_type != ET_EXEC && image.header().e_type != ET_DYN) {
    return Linking::kNotLinked;
  }
  // libc.so.6 has a PT_INTERP as well, but a name under which other programs need it.
  if (!info.interpreter.empty() && info.soname.empty()) {
    return Linking::kDynamic;
  }
  const bool pie = std::any_of(dynamic.begin(), dynamic.end(), [](const Elf64_Dyn& entry) {
    return entry.d_tag == DT_FLAGS_1 && (entry.d_un.d_val & DF_1_PIE) != 0;
  });
  return image.header().e_type == ET_EXEC || pie ? Linking::kStatic : Linking::kSharedLibrary;
}

Status read_dynamic(const ElfImage& image, BinaryInfo& info) {
  const auto dynamic = image.dynamic();
  if (!dynamic.ok()) {
    return dynamic.status();
  }
  const std::string origin = folder_of(info.path);
  std::vector<std::string> soname, rpath, runpath;
  for (const auto& [tag, out] : {std::pair{DT_NEEDED, &info.needed}, std::pair{DT_SONAME, &soname},
                                 std::pair{DT_RPATH, &rpath}, std::pair{DT_RUNPATH, &runpath}}) {
    auto strings = image.dynamic_strings(*dynamic, tag);
    if (!strings.ok()) {
      return strings.status();
    }
    *out = std::move(*strings);
  }
  info.soname = soname.empty() ? "" : soname.front();
  if (!runpath.empty()) {
    info.runpath = split_path(runpath.front(), origin);
  } else if (!rpath.empty()) {
    info.rpath = split_path(rpath.front(), origin);
  }
  for (const std::string& name : info.needed) {
    info.needs_openmp = info.needs_openmp || is_openmp(name);
    if (const TsanLibrary library = tsan_library_of(name); library != TsanLibrary::kNone) {
      info.tsan_library = library;
      info.tsan_soname = name;
    }
  }
  info.linking = linking_of(image, info, *dynamic);
  return {};
}

Status read_symbols(const ElfImage& image, BinaryInfo& info) {
  const auto symbols = image.symbols();
  if (!symbols.ok()) {
    return symbols.status();
  }
  bool calls_hooks = info.tsan_library != TsanLibrary::kNone;  // all that is known without section headers
  bool has_hooks = false;
  for (const ElfImage::Symbol& symbol : *symbols) {
    calls_hooks = calls_hooks || (!symbol.defined && symbol.name.starts_with("__tsan_"));
    has_hooks = has_hooks || (symbol.defined && symbol.name == "__tsan_read4");
    info.contains_sooth = info.contains_sooth || (symbol.defined && symbol.name.starts_with(kSoothSymbolPrefix));
  }
  info.tsan = has_hooks ? Tsan::kContained : calls_hooks ? Tsan::kUndefined : Tsan::kNone;
  return {};
}

Status read_elf(const ElfImage& image, BinaryInfo& info) {
  auto interpreter = image.interpreter();
  if (!interpreter.ok()) {
    return interpreter.status();
  }
  info.interpreter = std::move(*interpreter);
  auto build_id = image.build_id();
  if (!build_id.ok()) {
    return build_id.status();
  }
  info.build_id = std::move(*build_id);
  SOOTH_RETURN_IF_ERROR(read_dynamic(image, info));
  return read_symbols(image, info);
}

// Looks for needed libraries the way the dynamic linker does.
class LibraryWalk {
 public:
  LibraryWalk(ProgramInfo& program, const std::string& library_path, const std::string& root)
      : program_(program), default_directories_(default_directories(program.main.machine, root)) {
    if (!library_path.empty()) {
      library_path_ = split_path(library_path, folder_of(program.main.path));
    }
  }

  Status run() {
    SOOTH_RETURN_IF_ERROR(add_needed(kMain));
    for (std::size_t i = 0; i < program_.libraries.size(); ++i) {
      SOOTH_RETURN_IF_ERROR(add_needed(i));
    }
    return {};
  }

 private:
  static constexpr std::size_t kMain = static_cast<std::size_t>(-1);

  const BinaryInfo& info(std::size_t file) const {
    return file == kMain ? program_.main : program_.libraries[file].info;
  }

  Status add_needed(std::size_t file) {
    const std::vector<std::string> needed = info(file).needed;  // a copy: `libraries` grows
    for (const std::string& soname : needed) {
      if (!seen_.insert(soname).second) {
        continue;
      }
      NeededLibrary library{.soname = soname, .needed_by = info(file).path, .info = {}};
      if (const std::string path = find(soname, file); !path.empty()) {
        auto inspected = inspect_binary(path);
        if (!inspected.ok()) {
          return std::move(inspected).status().prefixed("needed by " + library.needed_by);
        }
        library.info = std::move(*inspected);
      }
      program_.libraries.push_back(std::move(library));
      parents_.push_back(file);
    }
    return {};
  }

  // An existing file for the program's machine: the dynamic linker passes over those of others.
  bool usable(const std::string& path) const {
    const auto file = MappedFile::open(path);
    if (!file.ok()) {
      return false;
    }
    const auto image = ElfImage::parse(file->bytes(), path);
    return !image.ok() ||
           machine_of(image->header()) == program_.main.machine;  // a damaged one is reported, not passed over
  }

  std::string find(const std::string& soname, std::size_t file) const {
    if (soname.find('/') != std::string::npos) {
      return usable(soname) ? soname : "";
    }
    std::vector<std::string> directories;
    const auto append = [&](const auto& more) { directories.insert(directories.end(), more.begin(), more.end()); };
    if (info(file).runpath.empty()) {
      for (std::size_t at = file; at != kMain; at = parents_[at]) {
        append(info(at).rpath);
      }
      append(program_.main.rpath);
    }
    append(library_path_);
    append(info(file).runpath);
    append(default_directories_);
    for (const std::string& directory : directories) {
      if (std::string path = directory + "/" + soname; usable(path)) {
        return path;
      }
    }
    return "";
  }

  ProgramInfo& program_;
  std::vector<std::string> library_path_;
  std::vector<std::string> default_directories_;
  std::vector<std::size_t> parents_;  // of each library: the one that needs it
  std::set<std::string> seen_;
};

}  // namespace

std::string_view machine_name(Machine machine) {
  switch (machine) {
    case Machine::kX86_64: return "x86_64";
    case Machine::kAarch64: return "aarch64";
  }
  return "";
}

Result<std::int64_t> thread_local_offset(const std::string& path) {
  const auto file = MappedFile::open(path);
  if (!file.ok()) {
    return file.status();
  }
  const auto image = ElfImage::parse(file->bytes(), path);
  if (!image.ok()) {
    return image.status();
  }
  for (const Elf64_Phdr& segment : image->segments()) {
    if (segment.p_type == PT_TLS) {
      const std::uint64_t alignment = std::max<std::uint64_t>(segment.p_align, 1);
      const auto round_up = [&](std::uint64_t n) {
        return static_cast<std::int64_t>((n + alignment - 1) / alignment * alignment);
      };
      // By the ABIs: it ends at the thread pointer, or begins behind the two words that this points at.
      return machine_of(image->header()) == Machine::kAarch64 ? round_up(16) : -round_up(segment.p_memsz);
    }
  }
  return std::int64_t{0};
}

Result<BinaryInfo> inspect_binary(const std::string& path) {
  const auto file = MappedFile::open(path);
  if (!file.ok()) {
    return file.status();
  }
  BinaryInfo info;
  info.path = path;
  info.runs_as_other_user = (file->mode() & (S_ISUID | S_ISGID)) != 0;
  const std::string_view text(file->bytes().data(), file->bytes().size());
  if (text.starts_with("#!")) {
    info.format = FileFormat::kScript;
    const std::size_t begin = std::min(text.find_first_not_of(" \t", 2), text.size());
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    info.interpreter = text.substr(begin, end - begin);
    return info;
  }
  if (!text.starts_with(ELFMAG)) {
    return info;
  }
  const auto image = ElfImage::parse(file->bytes(), path);
  // The headers of a 32-bit file are smaller ones, which may not parse.
  const bool other_class = text.size() > EI_DATA && (text[EI_CLASS] == ELFCLASS32 || text[EI_DATA] == ELFDATA2MSB);
  const std::optional<Machine> machine = image.ok() ? machine_of(image->header()) : std::nullopt;
  if (other_class || (image.ok() && !machine.has_value())) {
    info.format = FileFormat::kForeignElf;
    return info;
  }
  if (!image.ok()) {
    return image.status();
  }
  info.format = FileFormat::kElf;
  info.machine = *machine;
  SOOTH_RETURN_IF_ERROR(read_elf(*image, info));
  return info;
}

bool ProgramInfo::instrumented() const {
  return main.tsan != Tsan::kNone || std::any_of(libraries.begin(), libraries.end(), [](const NeededLibrary& library) {
           return library.info.tsan == Tsan::kUndefined;
         });
}

bool ProgramInfo::has_sooth() const {
  return main.contains_sooth || std::any_of(libraries.begin(), libraries.end(),
                                            [](const NeededLibrary& library) { return library.info.contains_sooth; });
}

Result<ProgramInfo> inspect_program(const std::string& path, const std::string& library_path, const std::string& root) {
  auto main = inspect_binary(path);
  if (!main.ok()) {
    return main.status();
  }
  ProgramInfo program{.main = std::move(*main), .libraries = {}};
  SOOTH_RETURN_IF_ERROR(LibraryWalk(program, library_path, root).run());
  return program;
}

}  // namespace sooth
