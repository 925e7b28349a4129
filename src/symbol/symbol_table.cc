#include "symbol/symbol_table.h"

#include <algorithm>
#include <string_view>
#include <tuple>

namespace sooth {
namespace {

struct Candidate {
  SymbolTable::Symbol symbol;
  int rank;  // of its binding, best first
};

int rank_of(unsigned char info) {
  switch (GELF_ST_BIND(info)) {
    case STB_GLOBAL: return 0;
    case STB_WEAK: return 1;
    default: return 2;
  }
}

// The end of the section that the symbol is in; 0 when there is none.
std::uint64_t section_end(Elf* elf, GElf_Word section) {
  Elf_Scn* found = elf_getscn(elf, section);
  GElf_Shdr header;
  return gelf_getshdr(found, &header) == nullptr ? 0 : header.sh_addr + header.sh_size;
}

std::vector<SymbolTable::Symbol> best_of_each_address(std::vector<Candidate> candidates) {
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::tuple(a.symbol.begin, a.rank, std::string_view(a.symbol.name)) <
           std::tuple(b.symbol.begin, b.rank, std::string_view(b.symbol.name));
  });
  std::vector<SymbolTable::Symbol> symbols;
  for (const Candidate& candidate : candidates) {
    if (symbols.empty() || symbols.back().begin != candidate.symbol.begin) {
      symbols.push_back(candidate.symbol);
    }
  }
  return symbols;
}

}  // namespace

SymbolTable::SymbolTable(DebugFile& file) {
  std::vector<Candidate> functions, objects;
  const int count = dwfl_module_getsymtab(file.module());
  for (int i = 1; i < count; ++i) {
    GElf_Sym symbol;
    GElf_Addr address = 0;
    GElf_Word section = 0;
    Elf* elf = nullptr;
    const char* name = dwfl_module_getsym_info(file.module(), i, &symbol, &address, &section, &elf, nullptr);
    if (name == nullptr || name[0] == '\0' || section == SHN_UNDEF || section >= SHN_LORESERVE) {
      continue;
    }
    const int type = GELF_ST_TYPE(symbol.st_info);
    const bool is_function = type == STT_FUNC || type == STT_GNU_IFUNC;
    const bool is_label = type == STT_NOTYPE && file.is_code(address);  // assembler code without .type
    if (is_function || is_label) {
      // Hand-written functions often have no size; they reach to the next one or to the end of the section.
      const std::uint64_t end = symbol.st_size == 0 ? section_end(elf, section) : address + symbol.st_size;
      functions.push_back({{address, end, name}, rank_of(symbol.st_info) + (is_label ? 3 : 0)});
    } else if (type == STT_OBJECT) {
      objects.push_back(
          {{address, address + std::max<std::uint64_t>(symbol.st_size, 1), name}, rank_of(symbol.st_info)});
    }
  }
  functions_ = best_of_each_address(std::move(functions));
  objects_ = best_of_each_address(std::move(objects));
}

const SymbolTable::Symbol* SymbolTable::find(const std::vector<Symbol>& symbols, std::uint64_t address) {
  auto symbol = std::upper_bound(symbols.begin(), symbols.end(), address,
                                 [](std::uint64_t value, const Symbol& s) { return value < s.begin; });
  if (symbol == symbols.begin() || address >= std::prev(symbol)->end) {
    return nullptr;
  }
  return &*std::prev(symbol);
}

}  // namespace sooth
