// What a program is, found out without running it: can it be recorded, and if not, why not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace sooth {

// The processors that our run time library knows (runtime/cpu.h).
enum class Machine : std::uint8_t { kX86_64, kAarch64 };

// What this tool itself was built for.
#if defined(__aarch64__)
inline constexpr Machine kThisMachine = Machine::kAarch64;
#else
inline constexpr Machine kThisMachine = Machine::kX86_64;
#endif

// "x86_64", "aarch64": as in the names of libraries, compilers and emulators.
std::string_view machine_name(Machine machine);

enum class FileFormat : std::uint8_t {
  kElf,         // for a Machine
  kForeignElf,  // for another one, or 32 bit
  kScript,      // starts with #!
  kOther,
};

enum class Linking : std::uint8_t {
  kDynamic,  // an executable that the dynamic linker starts: libraries can be preloaded
  kStatic,   // an executable without PT_INTERP, also static-pie: they cannot
  kSharedLibrary,
  kNotLinked,  // an object file or a core
};

enum class Tsan : std::uint8_t {
  kNone,       // not compiled with -fsanitize=thread
  kUndefined,  // calls the hooks of ThreadSanitizer, and a library has to bring them
  kContained,  // brings the hooks itself: linked with -static-libtsan or as clang does by default; or is such a library
};

// Which run time library of ThreadSanitizer a file asks for in DT_NEEDED.
enum class TsanLibrary : std::uint8_t {
  kNone,
  kGcc,    // libtsan.so.N
  kClang,  // libclang_rt.tsan-MACHINE.so
};

// Fields behind `format` are filled for FileFormat::kElf only, except that scripts have an interpreter.
struct BinaryInfo {
  std::string path;
  FileFormat format = FileFormat::kOther;
  Machine machine = kThisMachine;
  bool runs_as_other_user = false;  // setuid or setgid bit: the dynamic linker ignores LD_PRELOAD
  Linking linking = Linking::kNotLinked;
  Tsan tsan = Tsan::kNone;
  TsanLibrary tsan_library = TsanLibrary::kNone;
  std::string tsan_soname;      // e.g. libtsan.so.2; empty with TsanLibrary::kNone
  bool contains_sooth = false;  // defines a symbol that starts with kSoothSymbolPrefix
  bool needs_openmp = false;    // libgomp, libomp or libiomp5 in DT_NEEDED
  std::string interpreter;      // of a script: the line behind #!; else the dynamic linker
  std::string soname;
  std::string build_id;              // hexadecimal, empty when there is none
  std::vector<std::string> needed;   // DT_NEEDED, in order
  std::vector<std::string> rpath;    // directories of DT_RPATH, empty when there is a DT_RUNPATH; $ORIGIN replaced
  std::vector<std::string> runpath;  // directories of DT_RUNPATH; $ORIGIN replaced
};

// Our run time library takes the name of ThreadSanitizer's, so it is known by what it exports.
inline constexpr std::string_view kSoothSymbolPrefix = "__sooth_";

// Linear in the size of the symbol tables. Fails for files that cannot be read and for damaged ELF files.
Result<BinaryInfo> inspect_binary(const std::string& path);

// Where the block of an executable's thread-local variables begins, from the thread pointer; 0 when it has none.
Result<std::int64_t> thread_local_offset(const std::string& path);

struct NeededLibrary {
  std::string soname;     // as in DT_NEEDED
  std::string needed_by;  // path of the file that names it first
  BinaryInfo info;        // info.path is empty when the library was not found
};

struct ProgramInfo {
  BinaryInfo main;
  // What the program needs, directly or not, breadth first as the dynamic linker loads it; each soname once.
  std::vector<NeededLibrary> libraries;

  // Whether the file or a library that it needs calls the hooks of ThreadSanitizer.
  bool instrumented() const;
  // Whether our run time library is in the program or among its libraries.
  bool has_sooth() const;
};

// The program and its libraries. They are looked for where the dynamic linker looks: DT_RPATH of the file and of those
// that led to it, `library_path` (the value of LD_LIBRARY_PATH), DT_RUNPATH, then the default directories; its cache
// (ld.so.conf) is not read. `root` stands before the default directories: that of an emulator. A library that is not
// found there is listed without a path; one that is damaged is an error.
Result<ProgramInfo> inspect_program(const std::string& path, const std::string& library_path = "",
                                    const std::string& root = "");

}  // namespace sooth
