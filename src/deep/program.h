// The code of a program that was built with `sooth c++ --deep`, as it was before hooks were added, and where it was
// loaded. docs/deep.md.
//
// Which instructions leave something in the recording. Every rule is decided by the kept code alone, so that whoever
// walks through a function knows at each instruction what must come next in the thread's trace (deep/walk.h is the
// reference):
//   load, store               one access event of that many bytes (store size): 1, 2, 4, 8 or 16 with a value, else a range without. A load whose
//     (EventRule::kPlain)     event has no value, for whatever reason, is followed by kWord records: its bytes, in words
//   store of a vtable pointer kBranch: 1, and then the write as above, or 0, and no event, because the memory has this value already
//     (EventRule::kVtable)
//   atomic load, store, rmw,  one atomic event. A read without a value is followed by kWord records as above. Optimisers may turn an
//     cmpxchg (kAtomic)       rmw whose result nobody uses into a store, and one that changes nothing into a load; a cmpxchg that fails is a load
//   fence (kFence)            one event, or none
//   llvm.memcpy, memmove,     kWord with the length unless that is constant; then a read and a write, or a write, of that many bytes: without values
//     memset, and .inline     unless they are 1, 2, 4, 8 or 16 (a read of these without a value is followed by kWord records), nothing when they are
//                             0, in parts of 2^30 when they are more. Those of at most 128 bytes whose length is constant are not in the kept
//                             code: they have become loads and stores
//   alloca,                   kAddress
//     llvm.threadlocal.address
//   br (conditional), switch  kBranch, also when all successors are the same block
//   call, invoke              of an exact definition of the same module (direct, GlobalValue::hasExactDefinition): what the callee does, from its kEnter
//                             on. Of intrinsics: nothing, but for those named here. Of anything else, inline assembly included: what happens
//                             in it (events; deep code that it calls or is, from kEnter on), and kReturn when it returns normally.
//                             A call that may return twice (setjmp) has kLanded in front of its kReturn
//   landingpad                kLanded
//   function entry            kEnter, then, unless the function is local and its address is not taken, kWord records of its arguments in order; a
//                             pointer that is passed `byval` is one as well
// All else leaves nothing. Functions with the attribute deep::kNotDeep (trace/recording/deep_format.h) leave nothing at all, and
// calls of them are calls of something else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "trace/tables.h"

namespace llvm {
class CallBase;
class Function;
class GlobalValue;
class Instruction;
class Module;
}  // namespace llvm

namespace sooth {

// An instruction, named from outside. Functions are numbered by the order of definitions in the module, instructions by
// their order in the function; debug intrinsics do not count.
struct InstructionRef {
  std::uint32_t module = 0;
  std::uint32_t function = 0;
  std::uint32_t instruction = 0;

  friend auto operator<=>(const InstructionRef&, const InstructionRef&) = default;
};

enum class EventRule : std::uint8_t { kNone, kPlain, kVtable, kAtomic, kFence };
// Which of the events above an instruction has; kNone for calls.
EventRule event_rule(const llvm::Instruction& instruction);

// For tests: a module as IR text, and where its globals were.
struct DeepModuleText {
  std::string text;
  std::vector<std::pair<std::string, std::uint64_t>> addresses;  // name without @, address
};

// Move-only, immutable; may be read by several threads at a time, as long as nobody makes new types or constants in the
// context.
class DeepProgram {
 public:
  struct Place {
    std::uint32_t module = 0;
    const llvm::Function* function = nullptr;
  };

  // Of a complete recording. An error when the program was not built with --deep, or was not recorded with --schedule
  // serial: says so.
  static Result<DeepProgram> load(const std::string& recording);
  static Result<DeepProgram> parse(std::span<const DeepModuleText> modules);

  DeepProgram(DeepProgram&&) noexcept;
  DeepProgram& operator=(DeepProgram&&) noexcept;
  ~DeepProgram();

  std::size_t modules() const;
  const llvm::Module& module(std::uint32_t module) const;
  // Definitions of a module.
  std::uint32_t functions(std::uint32_t module) const;
  const llvm::Function* function(std::uint32_t module, std::uint32_t number) const;  // nullptr: none
  // Of a definition in any module. O(1).
  Place place(const llvm::Function& function) const;
  std::uint32_t function_number(const llvm::Function& function) const;
  // Without debug intrinsics.
  std::size_t instructions(const llvm::Function& function) const;
  const llvm::Instruction* instruction(const llvm::Function& function, std::uint32_t number) const;  // nullptr: none
  const llvm::Instruction* instruction(const InstructionRef& ref) const;                             // nullptr: none
  std::uint32_t number(const llvm::Instruction& instruction) const;                                  // O(1)
  InstructionRef ref(const llvm::Instruction& instruction) const;                                    // O(1)

  // Run time address of a global variable, an alias or a function, also of those that the module only declares.
  // Functions that are only called by their name, and thread-local variables, have none.
  std::optional<std::uint64_t> address(std::uint32_t module, const llvm::GlobalValue& global) const;
  // The definition at an address. Of inline functions, which several modules define, any of them.
  std::optional<Place> function_at(std::uint64_t address) const;

  // Whether runs of this definition are in recordings: see above.
  bool is_recorded(const llvm::Function& function) const;
  // Whether the call goes to a recorded definition of its own module, so that it has no kReturn. Only for what is no
  // intrinsic.
  bool is_followed(const llvm::CallBase& call) const;

  // Where the instruction stands in the source, spelled like the sites of a recording. Without debug information only
  // the function is known.
  Site site(const llvm::Instruction& instruction) const;

 private:
  struct State;
  explicit DeepProgram(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace sooth
