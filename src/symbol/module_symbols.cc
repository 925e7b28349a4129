#include "symbol/module_symbols.h"

#include <dwarf.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "symbol/demangle.h"

namespace sooth {
namespace {

std::uint32_t number(Dwarf_Die& die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  return dwarf_formudata(dwarf_attr_integrate(&die, name, &attribute), &value) == 0 ? static_cast<std::uint32_t>(value)
                                                                                    : 0;
}

// Bytes of the variable's type; 0 when it is incomplete.
std::uint64_t size_of(Dwarf_Die& variable) {
  Dwarf_Attribute attribute;
  Dwarf_Die type;
  Dwarf_Word size = 0;
  if (dwarf_formref_die(dwarf_attr_integrate(&variable, DW_AT_type, &attribute), &type) == nullptr ||
      dwarf_aggregate_size(&type, &size) != 0) {
    return 0;
  }
  return size;
}

bool is_mangled(const char* name) { return name[0] == '_' && name[1] == 'Z'; }

}  // namespace

Result<std::unique_ptr<ModuleSymbols>> ModuleSymbols::open(const std::string& path, const std::string& build_id,
                                                           SeparateDebug separate) {
  auto file = DebugFile::open(path, build_id, separate);
  if (!file.ok()) {
    return file.status();
  }
  return std::unique_ptr<ModuleSymbols>(new ModuleSymbols(std::move(*file)));
}

ModuleSymbols::ModuleSymbols(std::unique_ptr<DebugFile> file)
    : file_(std::move(file)), lines_(*file_), symbols_(*file_), units_(file_->units().size()) {}

UnitIndex& ModuleSymbols::unit(std::uint32_t index) {
  if (units_[index] == nullptr) {
    units_[index] = std::make_unique<UnitIndex>(file_->units()[index]);
  }
  return *units_[index];
}

std::vector<Frame> ModuleSymbols::frames(std::uint64_t address) {
  std::vector<Frame> frames;
  Frame frame;
  const LineTable::Row* row = lines_.find(address);
  std::uint32_t at = UnitIndex::kNoScope;
  if (row != nullptr) {
    frame = {.file = lines_.file(*row), .function = "", .line = row->line, .column = row->column};
    at = unit(row->unit).find(address);
  }
  if (at == UnitIndex::kNoScope) {
    if (const SymbolTable::Symbol* symbol = symbols_.function(address); symbol != nullptr) {
      frame.function = demangle(symbol->name);
    }
    if (row != nullptr || !frame.function.empty()) {
      frames.push_back(std::move(frame));
    }
    return frames;
  }
  UnitIndex& index = unit(row->unit);
  while (at != UnitIndex::kNoScope) {
    UnitIndex::Scope& scope = index.scope(at);
    frame.function = function_name(index, scope);
    frames.push_back(std::move(frame));
    if (scope.inlined) {
      frame = {.file = file_name(row->unit, scope.die, DW_AT_call_file),
               .function = "",
               .line = number(scope.die, DW_AT_call_line),
               .column = number(scope.die, DW_AT_call_column)};
    }
    at = scope.parent;
  }
  return frames;
}

std::string ModuleSymbols::function_name(UnitIndex& unit, UnitIndex::Scope& scope) {
  const char* mangled = UnitIndex::linkage_name(scope.die);
  if (mangled == nullptr && !scope.inlined) {
    // GCC says no more than DW_AT_name of functions with internal linkage and of lambdas; the symbol table has it all.
    const SymbolTable::Symbol* symbol = symbols_.function(scope.entry);
    mangled = symbol != nullptr && symbol->begin == scope.entry && is_mangled(symbol->name) ? symbol->name : nullptr;
  }
  // All inlined copies of a function share one mangled name.
  std::string& name = functions_[mangled != nullptr ? mangled : scope.die.addr];
  if (name.empty()) {
    name = mangled != nullptr ? demangle(mangled) : unit.qualified_name(scope.die);
  }
  return name;
}

std::string ModuleSymbols::file_name(std::uint32_t unit, Dwarf_Die& die, unsigned attribute) {
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  Dwarf_Attribute found;
  Dwarf_Word index = 0;
  if (dwarf_getsrcfiles(&file_->units()[unit].tree, &files, &count) != 0 ||
      dwarf_formudata(dwarf_attr_integrate(&die, attribute, &found), &index) != 0 || index >= count) {
    return "";
  }
  return file_->units()[unit].source_path(dwarf_filesrc(files, index, nullptr, nullptr));
}

void ModuleSymbols::read_globals() {
  globals_.emplace();
  for (std::uint32_t u = 0; u < units_.size(); ++u) {
    auto& variables = unit(u).variables();
    for (std::uint32_t v = 0; v < variables.size(); ++v) {
      const std::uint64_t begin = variables[v].address;
      if (begin != 0) {  // the linker has dropped it
        globals_->push_back({begin, begin + std::max<std::uint64_t>(size_of(variables[v].die), 1), u, v});
      }
    }
  }
  std::sort(globals_->begin(), globals_->end(), [](const Global& a, const Global& b) {
    return std::tie(a.begin, a.end, a.unit, a.variable) < std::tie(b.begin, b.end, b.unit, b.variable);
  });
}

GlobalVariable ModuleSymbols::describe(const Global& global) {
  UnitIndex& index = unit(global.unit);
  Dwarf_Die& die = index.variables()[global.variable].die;
  const char* mangled = UnitIndex::linkage_name(die);
  if (mangled == nullptr) {
    const SymbolTable::Symbol* symbol = symbols_.object(global.begin);
    mangled = symbol != nullptr && symbol->begin == global.begin && is_mangled(symbol->name) ? symbol->name : nullptr;
  }
  return {.name = mangled != nullptr ? demangle(mangled) : index.qualified_name(die),
          .file = file_name(global.unit, die, DW_AT_decl_file),
          .line = number(die, DW_AT_decl_line),
          .offset = 0,
          .size = size_of(die)};
}

std::optional<GlobalVariable> ModuleSymbols::global(std::uint64_t address) {
  if (!globals_) {
    read_globals();
  }
  auto after = std::upper_bound(globals_->begin(), globals_->end(), address,
                                [](std::uint64_t value, const Global& g) { return value < g.begin; });
  if (after != globals_->begin() && address < std::prev(after)->end) {
    const Global& found = *std::prev(after);
    GlobalVariable variable = describe(found);
    variable.offset = address - found.begin;
    return variable;
  }
  const SymbolTable::Symbol* symbol = symbols_.object(address);
  if (symbol == nullptr) {
    return std::nullopt;
  }
  return GlobalVariable{.name = demangle(symbol->name),
                        .file = "",
                        .line = 0,
                        .offset = address - symbol->begin,
                        .size = symbol->end - symbol->begin};
}

std::vector<PlacedGlobal> ModuleSymbols::globals() {
  if (!globals_) {
    read_globals();
  }
  std::set<std::uint64_t> addresses;
  for (const Global& each : *globals_) {
    addresses.insert(each.begin);
  }
  for (const SymbolTable::Symbol& each : symbols_.objects()) {
    addresses.insert(each.begin);
  }
  std::vector<PlacedGlobal> placed;
  std::uint64_t end = 0;
  for (const std::uint64_t address : addresses) {
    std::optional<GlobalVariable> variable = global(address);
    if (address >= end && variable.has_value() && variable->offset == 0) {
      end = address + std::max<std::uint64_t>(variable->size, 1);
      placed.push_back({address, std::move(*variable)});
    }
  }
  return placed;
}

}  // namespace sooth
