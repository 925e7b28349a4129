// Names for the addresses of a recorded run. Works from the files on disk after the run, never inside the program.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/status.h"
#include "symbol/debug_file.h"
#include "symbol/frame.h"
#include "symbol/module_table.h"
#include "symbol/type_reader.h"
#include "trace/variables.h"

namespace sooth {

// How much is known about a module.
enum class SymbolLevel : std::uint8_t {
  kNothing,  // the file is missing, damaged, not the recorded one, or stripped
  kSymbols,  // functions and variables, but no lines: compiled without -g, and no debug file was found
  kLines,    // debug information
};

// Modules are opened when an address of theirs is first asked for, and stay open. The table must outlive the
// symbolizer. Answers depend on nothing but the files. Not thread safe.
//
// Addresses are those of instructions: of a return address, pass one less, or the line can be that of the next
// statement.
class Symbolizer {
 public:
  // Variables have types when there is a catalogue to put them in.
  explicit Symbolizer(const ModuleTable& modules, SeparateDebug separate = SeparateDebug::kOfAll,
                      std::shared_ptr<TypeCatalog> catalog = nullptr);
  ~Symbolizer();
  Symbolizer(const Symbolizer&) = delete;
  Symbolizer& operator=(const Symbolizer&) = delete;

  // The frames of each address, innermost first, in the order of the addresses; an empty vector where nothing is known.
  // Functions have the names that reports of ThreadSanitizer have: as c++filt prints them, "ns::Queue<int>::push(int
  // const&)"; inlined functions for which the compiler left the mangled name out (GCC: lambdas and internal linkage)
  // lack the parameters.
  std::vector<std::vector<Frame>> symbolize(std::span<const ModuleAddress> addresses);
  std::vector<Frame> symbolize(ModuleAddress address);
  // The variable with static storage that the address is in. Thread locals have no fixed address, and are not found.
  std::optional<GlobalVariable> global(ModuleAddress address);
  // All variables with static storage of the module, by address, none overlapping.
  std::vector<PlacedGlobal> globals(ModuleId module);

  // As those of ModuleSymbols; nothing without a catalogue.
  std::vector<ShortLived> locals(ModuleAddress address);
  std::vector<ShortLived> thread_locals(ModuleId module);
  TypeId allocated_type(ModuleAddress address);

  SymbolLevel level(ModuleId module);
  // Why the module could not be opened, with what to do about it; ok when it could.
  const Status& status(ModuleId module);

 private:
  struct Opened;
  Opened& open(ModuleId module);

  const ModuleTable& modules_;
  const SeparateDebug separate_;
  std::shared_ptr<TypeCatalog> catalog_;
  std::vector<std::unique_ptr<Opened>> opened_;  // by ModuleId
};

}  // namespace sooth
