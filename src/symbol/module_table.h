// The files that were loaded into a recorded program, and which of them an address belongs to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/status.h"

namespace sooth {

enum class ModuleId : std::uint32_t {};  // order of loading

// Counts the changes of the list of loaded files: 0 at the start of the program, one more for each dlopen or dlclose
// that changed it. The same addresses can belong to different modules in different generations.
enum class Generation : std::uint32_t {};
inline constexpr Generation kLastGeneration{0xffff'ffff};

struct AddressRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  // exclusive

  friend bool operator==(const AddressRange&, const AddressRange&) = default;
};

struct Module {
  std::string path;
  std::string build_id;              // hexadecimal; empty when the file had none
  std::uint64_t bias = 0;            // what was added to the addresses of the ELF file, wrapping
  std::vector<AddressRange> ranges;  // where its segments were, in run time addresses
  Generation first{};                // that it was loaded in
  Generation last = kLastGeneration;
};

// An address as the ELF file has it: run time address - bias.
struct ModuleAddress {
  ModuleId module{};
  std::uint64_t address = 0;

  friend auto operator<=>(const ModuleAddress&, const ModuleAddress&) = default;
};

// Append-only; lookups take logarithmic time unless files were loaded over the places of others. Not thread safe.
class ModuleTable {
 public:
  // Refuses an empty range, and one that overlaps a module that was loaded at the same time.
  Result<ModuleId> add(Module module);

  std::size_t size() const { return modules_.size(); }
  const Module& module(ModuleId id) const { return modules_[raw(id)]; }

  // Where the run time address `pc` was in that generation; nullopt for code without a file (JIT, vdso).
  std::optional<ModuleAddress> find(std::uint64_t pc, Generation generation = kLastGeneration) const;

 private:
  struct Entry {
    AddressRange range;
    std::uint64_t reach;  // the largest `end` of the entries up to here
    ModuleId module;
  };
  // Calls `visit` for the modules that cover a part of `range` until it returns true.
  template <typename Visit>
  bool any_overlap(const AddressRange& range, const Visit& visit) const;

  std::vector<Module> modules_;
  std::vector<Entry> entries_;  // by begin
};

}  // namespace sooth
