#include "symbol/module_symbols.h"

#include <dwarf.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <tuple>

#include "symbol/demangle.h"
#include "symbol/local_variables.h"

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
    frame = {.file = lines_.file(*row), .function = "", .line = row->line, .column = row->column, .function_line = 0};
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
    frame.function_line = number(scope.die, DW_AT_decl_line);
    frames.push_back(std::move(frame));
    if (scope.inlined) {
      frame = {.file = file_name(row->unit, scope.die, DW_AT_call_file),
               .function = "",
               .line = number(scope.die, DW_AT_call_line),
               .column = number(scope.die, DW_AT_call_column),
               .function_line = 0};
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
        std::uint64_t size = size_of(variables[v].die);
        if (size == 0) {  // the type is complete in another unit only
          const SymbolTable::Symbol* symbol = symbols_.object(begin);
          size = symbol != nullptr && symbol->begin == begin ? symbol->end - symbol->begin : 1;
        }
        globals_->push_back({begin, begin + size, u, v});
      }
    }
  }
  std::sort(globals_->begin(), globals_->end(), [](const Global& a, const Global& b) {
    return std::tie(a.begin, a.end, a.unit, a.variable) < std::tie(b.begin, b.end, b.unit, b.variable);
  });
}

std::string ModuleSymbols::variable_name(UnitIndex& unit, Dwarf_Die& die, const SymbolTable::Symbol* symbol) {
  const char* mangled = UnitIndex::linkage_name(die);
  if (mangled == nullptr) {
    mangled = symbol != nullptr && is_mangled(symbol->name) ? symbol->name : nullptr;
  }
  std::string name = mangled != nullptr ? demangle(mangled) : unit.qualified_name(die);
  if (const std::size_t tag = name.find("[abi:"); tag != std::string::npos) {
    name.erase(tag, name.find(']', tag) + 1 - tag);  // looks like an element of an array
  }
  return name;
}

GlobalVariable ModuleSymbols::describe(const Global& global) {
  UnitIndex& index = unit(global.unit);
  Dwarf_Die& die = index.variables()[global.variable].die;
  const SymbolTable::Symbol* symbol = symbols_.object(global.begin);
  return {.name = variable_name(index, die, symbol != nullptr && symbol->begin == global.begin ? symbol : nullptr),
          .file = file_name(global.unit, die, DW_AT_decl_file),
          .line = number(die, DW_AT_decl_line),
          .offset = 0,
          .size = global.end - global.begin,
          .type = types_ != nullptr ? types_->type_of(die) : kNoType};
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
                        .size = symbol->end - symbol->begin,
                        .type = kNoType};
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

std::vector<ShortLived> ModuleSymbols::locals(std::uint64_t address) {
  const LineTable::Row* row = lines_.find(address);
  if (row == nullptr || types_ == nullptr) {
    return {};
  }
  UnitIndex& index = unit(row->unit);
  std::uint32_t at = index.find(address);
  while (at != UnitIndex::kNoScope && index.scope(at).inlined) {
    at = index.scope(at).parent;
  }
  return at == UnitIndex::kNoScope ? std::vector<ShortLived>()
                                   : local_variables(*file_, index, index.scope(at), address, *types_);
}

std::vector<ShortLived> ModuleSymbols::thread_locals() {
  std::vector<ShortLived> found;
  for (std::uint32_t u = 0; u < units_.size() && types_ != nullptr; ++u) {
    UnitIndex& index = unit(u);
    for (UnitIndex::Variable& variable : index.thread_locals()) {
      const TypeId type = types_->type_of(variable.die);
      const std::uint64_t size = std::max(size_of(variable.die), types_->size(type));
      found.push_back({variable_name(index, variable.die, nullptr), "", static_cast<std::int64_t>(variable.address),
                       std::max<std::uint64_t>(size, 1), type});
    }
  }
  std::sort(found.begin(), found.end(), [](const ShortLived& a, const ShortLived& b) { return a.offset < b.offset; });
  return found;
}

TypeId ModuleSymbols::allocated_type(std::uint64_t address) {
  const LineTable::Row* row = lines_.find(address);
  if (row == nullptr || types_ == nullptr) {
    return kNoType;
  }
  UnitIndex& index = unit(row->unit);
  const std::uint32_t innermost = index.find(address);
  for (std::uint32_t at = innermost; at != UnitIndex::kNoScope; at = index.scope(at).parent) {
    UnitIndex::Scope& scope = index.scope(at);
    const std::string name = function_name(index, scope);
    const bool is_library = name.starts_with("std::") || name.starts_with("__gnu_cxx::");
    if (is_library && name.find("::allocate(") != std::string::npos) {
      if (const TypeId type = types_->pointee_of(scope.die); type != kNoType) {
        return type;
      }
    }
    // What has no constructor of its own is known by what is asked for.
    if (name.find("std::make_unique<") != std::string::npos) {
      if (const TypeId type = first_template_argument(scope.die, *types_); type != kNoType) {
        return type;
      }
    }
  }
  const TypeId inlined =
      innermost == UnitIndex::kNoScope ? kNoType : constructed_type(index, innermost, address, row->line, *types_);
  return inlined != kNoType ? inlined : constructor_called_after(address);
}

// A call is E8 and how far the function is behind it. That other bytes look like a call of just a constructor, in the
// line of an operator new, does not happen.
TypeId ModuleSymbols::constructor_called_after(std::uint64_t address) {
  constexpr std::uint64_t kWithin = 128;
  constexpr std::uint8_t kCall = 0xe8;
  const LineTable::Row* line = lines_.find(address);
  Dwarf_Addr base = address + 1;
  Dwarf_Addr bias = 0;
  Elf_Scn* section = dwfl_module_address_section(file_->module(), &base, &bias);
  Elf_Data* data = section == nullptr ? nullptr : elf_getdata(section, nullptr);
  if (data == nullptr || data->d_buf == nullptr || base >= data->d_size) {
    return kNoType;
  }
  const auto* bytes = static_cast<const std::uint8_t*>(data->d_buf);
  for (std::uint64_t i = 0; i < kWithin && base + i + 5 <= data->d_size; ++i) {
    if (bytes[base + i] != kCall) {
      continue;
    }
    std::int32_t distance = 0;
    std::memcpy(&distance, bytes + base + i + 1, sizeof distance);
    const std::uint64_t target = address + 1 + i + 5 + static_cast<std::uint64_t>(std::int64_t{distance});
    const SymbolTable::Symbol* function = symbols_.function(target);
    const LineTable::Row* there = lines_.find(target);
    const LineTable::Row* row = lines_.find(address + 1 + i);
    if (function == nullptr || function->begin != target || there == nullptr || row == nullptr ||
        row->unit != line->unit || row->line != line->line) {
      continue;
    }
    UnitIndex& index = unit(there->unit);
    const std::uint32_t scope = index.find(target);
    const TypeId type = scope == UnitIndex::kNoScope ? kNoType : class_of_constructor(index.scope(scope).die, *types_);
    if (type != kNoType) {
      return type;
    }
  }
  return kNoType;
}

}  // namespace sooth
