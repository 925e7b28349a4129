// One ELF file with its debug information, opened through elfutils.
#pragma once

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"

namespace sooth {

// A unit of .debug_info that describes code. Type units and partial units are left out.
struct CompileUnit {
  Dwarf_Die skeleton;     // in the file itself: has the line table
  Dwarf_Die tree;         // has the functions; the same one, but with -gsplit-dwarf that of the .dwo file
  bool has_tree = false;  // false when the .dwo file is missing

  // The name of a source file as addr2line prints it: what libdw says, behind the compilation directory when that is
  // relative. Nothing else is done to it, so that a "../" stays. Empty for nullptr.
  std::string source_path(const char* name);
};

// Which files may get their debug information from a separate one.
enum class SeparateDebug : std::uint8_t {
  kOfAll,
  // Not those that were not compiled for ThreadSanitizer, such as the distribution's libraries: unpacking the debug
  // information of libc takes a tenth of a second, for the lines of functions that call the program. Their symbol
  // tables still are, so functions have names.
  kOfInstrumented,
};

// All addresses are those of the ELF file (its bias is 0). The debug information is that of the file or, when it was
// stripped, of a file found by build id or .gnu_debuglink, in the places where gdb looks (.debug/, /usr/lib/debug; the
// servers in $DEBUGINFOD_URLS when that is set). Not thread safe, as libdw is not.
class DebugFile {
 public:
  // With a `build_id` (hexadecimal) that is not the file's, an error that says that the file has changed.
  static Result<std::unique_ptr<DebugFile>> open(const std::string& path, const std::string& build_id,
                                                 SeparateDebug separate = SeparateDebug::kOfAll);
  ~DebugFile();
  DebugFile(const DebugFile&) = delete;
  DebugFile& operator=(const DebugFile&) = delete;

  Dwfl_Module* module() { return module_; }
  // In the order of .debug_info; empty without debug information.
  std::vector<CompileUnit>& units() { return units_; }
  // Whether the address is in an executable segment: line tables also speak of code that the linker has dropped.
  bool is_code(std::uint64_t address) const;

 private:
  DebugFile() = default;
  Status load(const std::string& path, bool use_separate);
  void read_units(Dwarf* dwarf);

  struct DwflEnd {
    void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
  };
  std::unique_ptr<Dwfl, DwflEnd> dwfl_;
  Dwfl_Module* module_ = nullptr;  // owned by dwfl_
  std::vector<CompileUnit> units_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> code_;  // [begin, end)
};

}  // namespace sooth
