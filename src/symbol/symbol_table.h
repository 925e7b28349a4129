// The symbol table of an ELF file: names for code and data that debug information does not describe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "symbol/debug_file.h"

namespace sooth {

class SymbolTable {
 public:
  struct Symbol {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;  // exclusive
    const char* name = "";  // as in the file; lives as long as the DebugFile
  };

  // Reads .symtab of the file or of its debug file, else .dynsym.
  explicit SymbolTable(DebugFile& file);

  // The symbol that covers the address, or nullptr. Of several with one address: a global one before weak and local
  // ones, then the first in the order of names.
  const Symbol* function(std::uint64_t address) const { return find(functions_, address); }
  const Symbol* object(std::uint64_t address) const { return find(objects_, address); }
  const std::vector<Symbol>& functions() const { return functions_; }  // by begin
  const std::vector<Symbol>& objects() const { return objects_; }      // by begin
  bool empty() const { return functions_.empty() && objects_.empty(); }

 private:
  static const Symbol* find(const std::vector<Symbol>& symbols, std::uint64_t address);

  std::vector<Symbol> functions_;  // by begin, one for each
  std::vector<Symbol> objects_;
};

}  // namespace sooth
