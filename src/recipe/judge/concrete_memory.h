// The memory of the whole program, byte by byte, while a judge lets threads run.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <llvm/IR/DataLayout.h>

#include "base/flat_map.h"
#include "deep/program.h"
#include "race/range_map.h"
#include "race/witness_memory.h"
#include "recipe/judge/concrete_value.h"

namespace llvm {
class GlobalVariable;
}  // namespace llvm

namespace sooth {

// What the program's file says of the first contents of global variables, and the addresses that the loader put there.
class GlobalContents {
 public:
  // The program must outlive it.
  explicit GlobalContents(const DeepProgram& program);
  std::optional<std::uint8_t> byte(std::uint64_t address) const;
  // Address and size of the variable that the byte belongs to.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> variable_around(std::uint64_t address) const;

 private:
  struct Variable {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    std::uint32_t module = 0;
    const llvm::GlobalVariable* global = nullptr;
  };
  const Variable* find(std::uint64_t address) const;

  const DeepProgram* program_;
  std::vector<std::unique_ptr<llvm::DataLayout>> layouts_;  // by module
  std::vector<Variable> variables_;                         // by address
};

// What was in memory before anybody wrote to it: what the recorded run has read there, else what the program's file
// says.
class FirstContents {
 public:
  explicit FirstContents(const DeepProgram& program) : globals_(program) {}

  // In the space and at the address of a Stretch. All bits are unknown where nothing is known.
  ConcreteByte byte(bool allocated, std::uint64_t address) const;
  void learn(bool allocated, std::uint64_t address, std::uint8_t value);
  std::optional<std::pair<std::uint64_t, std::uint64_t>> variable_around(std::uint64_t address) const {
    return globals_.variable_around(address);
  }

 private:
  static constexpr std::uint16_t kKnown = 0x100;
  GlobalContents globals_;
  std::array<FlatMap<std::array<std::uint16_t, 8>>, 2> learnt_;  // by address / 8
};

// A byte, and who wrote it last.
struct MemoryCell {
  ConcreteByte content;
  bool changed = false;    // it is, or may be, not what that write left there in the recorded run
  bool seen = false;       // it was read or written before
  std::uint32_t when = 0;  // number of that write, from 1; 0: nobody has written
};

// Bytes are those of stretches (race/witness_memory.h). Time and memory are linear in the bytes touched; cover() costs
// a logarithm.
class ConcreteMemory {
 public:
  explicit ConcreteMemory(const FirstContents& first) : first_(first) {}

  MemoryCell read(bool allocated, std::uint64_t address) const;
  void write(bool allocated, std::uint64_t address, const MemoryCell& cell);
  // The same for many bytes of which nothing is known any more.
  void cover(const Stretch& stretch, std::uint32_t when);

 private:
  const FirstContents& first_;
  struct Space {
    FlatMap<std::array<MemoryCell, 8>> granules;  // by address / 8
    RangeMap<std::uint32_t> covered;              // when; the later of the two counts
  };
  std::array<Space, 2> spaces_;  // by Stretch::allocated
};

}  // namespace sooth
