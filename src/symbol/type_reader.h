// From the types of debug information to layouts.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "symbol/debug_file.h"
#include "trace/layout.h"

namespace sooth {

// The types of all modules. Those with the same name and size are the same: every unit of a program describes
// std::string again.
class TypeCatalog {
 public:
  TypeCatalog() : types_(1) {}

  // [0] is none. Grows; a type never changes.
  const std::vector<TypeLayout>& types() const { return types_; }

 private:
  friend class TypeReader;
  std::vector<TypeLayout> types_;
  std::map<std::pair<std::string, std::uint64_t>, TypeId> by_name_;  // records only
};

// Reads those that are asked for, and what they contain. Views into the DebugFile, which must outlive it. Not thread
// safe.
class TypeReader {
 public:
  // The catalogue must outlive it.
  TypeReader(DebugFile& file, TypeCatalog& catalog) : file_(file), catalog_(catalog) {}

  // kNoType for what is complete nowhere in the module, and when there are too many.
  TypeId read(Dwarf_Die type);
  // Of the type that DW_AT_type of a variable, member or function names.
  TypeId type_of(Dwarf_Die& die);
  // What the pointer that DW_AT_type names points to.
  TypeId pointee_of(Dwarf_Die& die);
  const std::string& name(TypeId type) const { return catalog_.types()[raw(type)].name; }
  // Bytes; 0 of kNoType.
  std::uint64_t size(TypeId type) const { return catalog_.types()[raw(type)].size; }

 private:
  // `alias`: the typedef that it was come to by, or nullptr.
  TypeId read_bare(Dwarf_Die& type, const char* alias);
  // "Node*". What it points to is read, too, as soon as nothing else is being read; what that points to is not.
  TypeId read_pointer(Dwarf_Die& type);
  TypeId read_record(Dwarf_Die& type, const char* alias, bool is_union);
  std::string record_name(Dwarf_Die& type, const char* alias);
  void read_argument(Dwarf_Die& type);
  // A class that this unit only declares: compilers leave its description to the one that has its vtable or constructor.
  TypeId read_declared(Dwarf_Die& type);
  TypeId read_array(Dwarf_Die& type);
  TypeId add(TypeLayout layout);
  void add_members(Dwarf_Die& type, bool is_library, TypeLayout& layout);
  void add_member(Dwarf_Die& die, bool is_library, TypeLayout& layout);
  std::string qualified(Dwarf_Die& type);
  void note_names();
  void note_names(Dwarf_Die& parent, const std::string& around, int depth);
  void note_whole(Dwarf_Die& type, const std::string& around);

  DebugFile& file_;
  TypeCatalog& catalog_;
  std::unordered_map<const void*, TypeId> known_;           // by die
  std::unordered_map<const void*, std::string> enclosing_;  // die of a class -> "ns::Outer::"
  // Classes by qualified name, where they are whole; no address: there are different ones of the name.
  std::unordered_map<std::string, Dwarf_Die> whole_;
  std::vector<Dwarf_Die> pointees_;  // still to be read
  bool names_noted_ = false;
  bool reads_pointees_ = false;
  int depth_ = 0;
};

}  // namespace sooth
