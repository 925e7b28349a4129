// The functions, inlined calls and variables of one compile unit, ready to be looked up by address.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbol/debug_file.h"

namespace sooth {

// Made by one walk over the tree of the unit; lookups are binary searches. Views into the DebugFile, which must outlive
// it.
class UnitIndex {
 public:
  static constexpr std::uint32_t kNoScope = 0xffff'ffff;

  // A function, or a call that was inlined.
  struct Scope {
    Dwarf_Die die{};
    std::uint64_t entry = 0;          // its first instruction
    std::uint32_t parent = kNoScope;  // of an inlined call: the scope it was inlined into
    bool inlined = false;
  };
  // A variable with a fixed address: a global, or a static one of a function or class.
  struct Variable {
    Dwarf_Die die{};
    std::uint64_t address = 0;
  };

  explicit UnitIndex(CompileUnit& unit);

  // The innermost scope at the address, or kNoScope.
  std::uint32_t find(std::uint64_t address) const;
  Scope& scope(std::uint32_t index) { return scopes_[index]; }
  std::vector<Variable>& variables() { return variables_; }
  // Variables that each thread has of its own; `address` is the offset in the block of thread-local variables.
  std::vector<Variable>& thread_locals() { return thread_locals_; }
  // All functions and inlined calls, parents first.
  const std::vector<Scope>& scopes() const { return scopes_; }

  // The mangled name that debug information gives, or nullptr: C has none, and GCC leaves it out for what has internal
  // linkage.
  static const char* linkage_name(Dwarf_Die& die);
  // "ns::Class::f": what can be said without a mangled name, so without parameters. Empty for what has no name.
  std::string qualified_name(Dwarf_Die die) const;

 private:
  class Walk;
  struct Range {
    std::uint64_t begin, end;
    std::uint32_t scope;
  };
  void flatten(std::vector<Range> ranges);

  std::vector<Scope> scopes_;    // parents first
  std::vector<Range> segments_;  // disjoint, by begin: the innermost scope of each piece
  std::vector<Variable> variables_;
  std::vector<Variable> thread_locals_;
  std::unordered_map<Dwarf_Off, std::string> enclosing_;  // die without linkage name -> "ns::Class::", unless empty
};

}  // namespace sooth
