// The steps of the LLVM pass of `sooth c++ --deep`, in this order, at the start of clang's pipeline (also at -O0): what
// a program does must be recorded as its source says, before optimisation merges and deletes accesses. docs/deep.md
// says what is recorded, deep/program.h by which instruction.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/PassManager.h>

namespace llvm {
class Function;
class GlobalVariable;
class Instruction;
class Module;
}  // namespace llvm

namespace sooth::deep {

// Whether accesses of this definition are recorded at all: it does not ask for no instrumentation.
bool is_instrumented(const llvm::Function& function);

// Adds what the module calls of the C++ library and what deep recordings cannot follow there: standard_library.cc.
void link_library(llvm::Module& module);

// Brings functions into the form that is kept: variables whose address nobody takes become values, small copies become
// loads and stores, small functions become part of their callers (not at -O0), and functions that get no hooks are
// marked. No access to memory that another thread could see is lost. `excluded` are patterns (base/glob.h) of functions
// and source files.
void prepare(llvm::Module& module, llvm::FunctionAnalysisManager& analyses, const std::vector<std::string>& excluded);

// Its steps, for a function that is instrumented.
void expand_small_copies(llvm::Function& function);
void promote_variables(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
void inline_small_functions(llvm::Module& module, llvm::FunctionAnalysisManager& analyses);

// The numbers of everything, as DeepProgram finds them in the kept code.
struct Numbering {
  std::vector<llvm::Function*> functions;  // definitions
  llvm::DenseMap<const llvm::Instruction*, std::uint32_t> instructions;

  explicit Numbering(llvm::Module& module);
};

// Puts the module as it is now into a section of it, with a Descriptor that a constructor registers. Returns the
// descriptor.
llvm::GlobalVariable* keep(llvm::Module& module);

// Inserts the calls of the run time library.
void add_hooks(const Numbering& numbering, llvm::GlobalVariable& descriptor);

}  // namespace sooth::deep
