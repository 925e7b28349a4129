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
#include "symbol/type_reader.h"
#include "symbol/unit_index.h"
#include "trace/variables.h"

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

  // From here on globals have types, which go into the catalogue; it must outlive this.
  void use_types(TypeCatalog& catalog) { types_ = std::make_unique<TypeReader>(*file_, catalog); }
  // The rest needs use_types().
  //
  // The variables of the function around the address, which is behind its prologue: offsets are from the canonical
  // frame address.
  std::vector<ShortLived> locals(std::uint64_t address);
  // Variables that each thread has of its own; offsets are from the begin of their block.
  std::vector<ShortLived> thread_locals();
  // What a block that is allocated by the call at the address holds, one or many of it: the library's allocators tell
  // by their type, operator new by the constructor that follows. kNoType when nobody tells.
  TypeId allocated_type(std::uint64_t address);

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
  std::string variable_name(UnitIndex& unit, Dwarf_Die& die, const SymbolTable::Symbol* symbol);
  // The class whose constructor is called next behind the address, as the bytes of the code tell.
  TypeId constructor_called_after(std::uint64_t address);
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
  std::unique_ptr<TypeReader> types_;                       // null: nobody wants types
};

}  // namespace sooth
