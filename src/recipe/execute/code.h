// The functions of a deep program, prepared for being executed many times: operands are numbers instead of pointers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include "base/ids.h"
#include "deep/program.h"
#include "smt/expr.h"

namespace sooth {

// A piece of a value, of at most 64 bits: what it was in the recorded run, and what it is in every run.
struct Cell {
  std::uint64_t bits = 0;
  ExprId expr = kNoExpr;  // kNoExpr: always `bits`
};
// In place of an expression: not even the recorded value is known (an address that nobody wrote down, an undefined
// value). It is the same in every run that takes the same way.
inline constexpr ExprId kUnknownExpr{~std::uint32_t{0}};

inline bool is_known(const Cell& cell) { return cell.expr != kUnknownExpr; }
inline bool is_symbolic(const Cell& cell) { return cell.expr != kNoExpr && cell.expr != kUnknownExpr; }

// How a value of a type is cut into cells: scalars of up to 64 bits are one, longer ones several, aggregates and
// vectors are those of their elements in a row.
struct Layout {
  struct Leaf {
    std::uint32_t offset = 0;  // bytes, in memory
    std::uint32_t bits = 0;
  };
  std::vector<Leaf> leaves;
  std::uint64_t bytes = 0;  // that a load or store touches
  bool is_in_bytes = true;  // false: elements share bytes (vectors of i1); offsets mean nothing
};

// Where an operand is: a cell of the frame, or ~i for constants[i].
using Slot = std::int32_t;

struct Step {
  const llvm::Instruction* instruction = nullptr;
  std::uint32_t result = 0;    // first cell in the frame
  std::uint32_t operands = 0;  // first in FunctionCode::slots, in the order of LLVM
};

struct FunctionCode {
  std::uint32_t module = 0;
  std::uint32_t number = 0;
  const llvm::Function* function = nullptr;
  std::vector<Step> steps;  // without debug intrinsics: the index is the number of the instruction
  std::vector<Slot> slots;
  std::vector<Cell> constants;
  std::vector<std::uint32_t> arguments;                           // first cells
  llvm::DenseMap<const llvm::BasicBlock*, std::uint32_t> blocks;  // their first steps
  std::uint32_t cells = 0;
};

// Prepares on first use. Not thread safe.
class CodeTable {
 public:
  explicit CodeTable(const DeepProgram& program) : program_(program) {}

  const DeepProgram& program() const { return program_; }
  // nullptr: no such function.
  const FunctionCode* function(std::uint32_t module, std::uint32_t number);
  const FunctionCode& function(const llvm::Function& function);
  // Types belong to a module: `module` has the sizes.
  const Layout& layout(const llvm::Module& module, llvm::Type* type);
  // Cells in front of that element of an aggregate.
  std::uint32_t cells_before(const llvm::Module& module, llvm::Type* type, std::span<const unsigned> path);
  // Appends the cells of a constant.
  void constant(std::uint32_t module, const llvm::Constant& constant, std::vector<Cell>& cells);

 private:
  void add_leaves(const llvm::DataLayout& data, llvm::Type* type, std::uint64_t offset, Layout& layout);
  void constant_expression(std::uint32_t module, const llvm::ConstantExpr& expression, std::vector<Cell>& cells);
  void number_values(const llvm::Function& function, FunctionCode& code,
                     llvm::DenseMap<const llvm::Value*, std::uint32_t>& places);

  const DeepProgram& program_;
  llvm::DenseMap<const llvm::Function*, std::unique_ptr<FunctionCode>> functions_;
  llvm::DenseMap<llvm::Type*, std::unique_ptr<Layout>> layouts_;
};

}  // namespace sooth
