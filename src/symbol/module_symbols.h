// All that is known about the code and data of one file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "symbol/debug_file.h"
#include "symbol/frame.h"
#include "symbol/line_table.h"
#include "symbol/symbol_table.h"
#include "symbol/unit_index.h"

namespace sooth {

// Opening reads the line and symbol tables; the functions of a compile unit are read when an address first falls into
// it, and variables when one is first asked for. Not thread safe.
class ModuleSymbols {
 public:
  // As DebugFile::open().
  static Result<std::unique_ptr<ModuleSymbols>> open(const std::string& path, const std::string& build_id,
                                                     SeparateDebug separate = SeparateDebug::kOfAll);

  // The calls that the instruction at the address stands for, innermost (inlined) first. Empty when nothing is known.
  std::vector<Frame> frames(std::uint64_t address);
  std::optional<GlobalVariable> global(std::uint64_t address);
  // All of them, by address; where two overlap, the one that starts first.
  std::vector<PlacedGlobal> globals();

  const LineTable& lines() const { return lines_; }
  const SymbolTable& symbols() const { return symbols_; }

 private:
  struct Global {
    std::uint64_t begin, end;
    std::uint32_t unit;
    std::uint32_t variable;  // index into UnitIndex::variables()
  };

  explicit ModuleSymbols(std::unique_ptr<DebugFile> file);
  UnitIndex& unit(std::uint32_t index);
  std::string function_name(UnitIndex& unit, UnitIndex::Scope& scope);
  // The name of file number `attribute` of the die, in the table of its unit.
  std::string file_name(std::uint32_t unit, Dwarf_Die& die, unsigned attribute);
  void read_globals();
  GlobalVariable describe(const Global& global);

  std::unique_ptr<DebugFile> file_;
  LineTable lines_;
  SymbolTable symbols_;
  std::vector<std::unique_ptr<UnitIndex>> units_;           // as DebugFile::units(), null until used
  std::unordered_map<const void*, std::string> functions_;  // readable names by mangled name or die
  std::optional<std::vector<Global>> globals_;              // by begin, once read
};

}  // namespace sooth
