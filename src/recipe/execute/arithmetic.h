// What instructions compute that touch no memory: once with the recorded values, once as expressions.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <llvm/ADT/APFloat.h>
#include <llvm/ADT/APInt.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>

#include "recipe/execute/code.h"
#include "recipe/execute/thread_trace.h"
#include "smt/expr.h"

namespace sooth {

class Cases;

// Takes what must hold for the execution to go on as it does. Conditions that are always true do not arrive here.
class ConditionSink {
 public:
  virtual ~ConditionSink() = default;
  virtual void hold(ExprId condition, PathCondition::Why why) = 0;
  // Whether that was said before, so that it need not be said again.
  virtual bool is_held(ExprId condition) const = 0;
};

// The operands of a step in its frame.
class Operands {
 public:
  Operands(const FunctionCode& code, const Step& step, const Cell* frame)
      : slots_(code.slots.data() + step.operands), constants_(code.constants.data()), frame_(frame) {}
  // Operand i is frame[slots[i]].
  Operands(const Slot* slots, const Cell* frame) : slots_(slots), constants_(nullptr), frame_(frame) {}
  // The cells of operand i.
  const Cell* operator[](unsigned i) const { return slots_[i] >= 0 ? frame_ + slots_[i] : constants_ + ~slots_[i]; }

 private:
  const Slot* slots_;
  const Cell* constants_;
  const Cell* frame_;
};

// What has no exact expression is computed for each of the values that its operands may have, if these are few
// (recipe/execute/cases.h): a condition says that they have one of them. Else it is computed with recorded values, and
// its operands are pinned to these. What cannot be computed is unknown.
class Arithmetic {
 public:
  // `cases` may be nullptr, and must outlive it.
  Arithmetic(CodeTable& code, ExprTable& table, Cases* cases = nullptr) : code_(code), table_(table), cases_(cases) {}

  // Writes the cells of the result. False: the instruction is none of those that only compute.
  bool compute(const llvm::Instruction& instruction, const Operands& operands, Cell* result, ConditionSink& sink);
  // The same of calls of intrinsics. False: it has to do with memory or control, or is not modelled.
  bool compute_intrinsic(const llvm::CallBase& call, const Operands& operands, Cell* result, ConditionSink& sink);

  // From here on the cell has its recorded value.
  void pin(const Cell& cell, PathCondition::Why why, ConditionSink& sink);
  void pin(std::span<const Cell> cells, PathCondition::Why why, ConditionSink& sink);
  // A condition, unless it is always true. What is always false contradicts the recorded run: it is held, too.
  void hold(ExprId condition, PathCondition::Why why, ConditionSink& sink);
  // The expression of a known cell of that width.
  ExprId expr(const Cell& cell, unsigned width);
  // A cell with an expression; constants need none.
  Cell cell(ExprId expr, std::uint64_t bits);
  // The same value in another width, by cutting or filling with zeros.
  Cell resize(const Cell& value, unsigned from, unsigned to);

  // One operation; the operands are of width `from`, the result has `to`.
  Cell binary(ExprOp op, unsigned from, unsigned to, const Cell& a, const Cell& b, ConditionSink& sink);
  Cell unary(ExprOp op, unsigned width, const Cell& a);
  Cell choose(const Cell& condition, unsigned width, const Cell& a, const Cell& b, ConditionSink& sink);
  Cell compare(llvm::CmpInst::Predicate predicate, unsigned width, const Cell& a, const Cell& b, ConditionSink& sink);
  // As the instruction of that name does it: excludes what is undefined.
  Cell integer_operation(llvm::Instruction::BinaryOps op, unsigned width, const Cell& a, const Cell& b,
                         ConditionSink& sink);

  // What functions of real numbers return that are exact: sqrt, fabs, floor and their like, by name or as intrinsics.
  static bool is_exact_function(const llvm::CallBase& call);
  // A call of one of those. False: its result is not known, and what must have its recorded value is not pinned.
  bool exact_function(const llvm::CallBase& call, const Operands& operands, Cell* result, ConditionSink& sink);

  // What an atomic read-modify-write leaves.
  Cell update(llvm::AtomicRMWInst::BinOp operation, unsigned width, const Cell& old, const Cell& operand,
              ConditionSink& sink);

  // How often something was pinned.
  std::uint64_t pins() const { return pins_; }

 private:
  // Pins all and makes the result unknown.
  void give_up(const llvm::Instruction& instruction, const Operands& operands, Cell* result, ConditionSink& sink);
  void address(const llvm::GetElementPtrInst& instruction, const Operands& operands, Cell* result, ConditionSink& sink);
  bool cast(const llvm::CastInst& instruction, const Operands& operands, Cell* result, ConditionSink& sink);
  bool rearrange(const llvm::Instruction& instruction, const Operands& operands, Cell* result, ConditionSink& sink);
  void select(const llvm::SelectInst& instruction, const Operands& operands, Cell* result, ConditionSink& sink);
  // Integers of more than 64 bits and floating point: with recorded values only. False: not even so.
  bool wide(const llvm::Instruction& instruction, const Operands& operands, Cell* result);
  bool real(const llvm::Instruction& instruction, const Operands& operands, Cell* result);
  static bool real_function(const llvm::CallBase& call, const Operands& operands, Cell* result);
  // The result as a table over the values of the operands; false: there is none, or nothing depends on variables.
  using CaseResult = std::function<std::optional<std::uint64_t>(std::span<const Cell> operands)>;
  bool by_cases(std::span<const Cell> operands, std::span<const unsigned> widths, unsigned width,
                const CaseResult& compute, Cell* result, ConditionSink& sink);
  bool real_by_cases(const llvm::Instruction& instruction, unsigned operand_count, const Operands& operands,
                     Cell* result, ConditionSink& sink);
  // One element of the result of an intrinsic that works on integers of that width, element by element. False: not one
  // of those.
  bool element(const llvm::CallBase& call, unsigned width, std::span<const Cell> arguments, Cell* result,
               ConditionSink& sink);
  // leaf 0: the result, leaf 1: whether it overflowed.
  std::pair<Cell, Cell> checked(llvm::Instruction::BinaryOps op, bool is_signed, unsigned width, const Cell& a,
                                const Cell& b, ConditionSink& sink);
  Cell count_ones(unsigned width, const Cell& a, ConditionSink& sink);
  Cell count_zeros(bool leading, unsigned width, const Cell& a, ConditionSink& sink);
  Cell funnel(bool left, unsigned width, std::span<const Cell> arguments, ConditionSink& sink);
  Cell reverse(unsigned width, unsigned piece, const Cell& a);

  const Layout& layout(const llvm::Instruction& instruction, llvm::Type* type) {
    return code_.layout(*instruction.getModule(), type);
  }

  CodeTable& code_;
  ExprTable& table_;
  Cases* cases_;
  std::uint64_t pins_ = 0;
};

}  // namespace sooth
