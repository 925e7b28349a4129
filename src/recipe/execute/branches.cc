#include "recipe/execute/branches.h"

#include <algorithm>

namespace sooth {

std::uint32_t enter_block(CodeTable& code, CodeFrame& frame, Cell* cells, const llvm::BasicBlock& from,
                          const llvm::BasicBlock& to, std::vector<Cell>& scratch) {
  const std::uint32_t first = frame.code->blocks.find(&to)->second;
  frame.pc = first;
  // All phis read before any is written.
  scratch.clear();
  for (; llvm::isa<llvm::PHINode>(frame.code->steps[frame.pc].instruction); ++frame.pc) {
    const Step& step = frame.code->steps[frame.pc];
    const auto& phi = llvm::cast<llvm::PHINode>(*step.instruction);
    const Slot slot = frame.code->slots[step.operands + static_cast<unsigned>(phi.getBasicBlockIndex(&from))];
    const Cell* value = slot >= 0 ? cells + slot : frame.code->constants.data() + ~slot;
    scratch.insert(scratch.end(), value, value + code.layout(*phi.getModule(), phi.getType()).leaves.size());
  }
  const Cell* value = scratch.data();
  for (std::uint32_t pc = first; pc < frame.pc; ++pc) {
    const Step& step = frame.code->steps[pc];
    const std::size_t leaves = code.layout(*step.instruction->getModule(), step.instruction->getType()).leaves.size();
    std::copy_n(value, leaves, cells + step.result);
    value += leaves;
  }
  return frame.pc - first;
}

std::uint32_t outcome_of(const llvm::Instruction& branch, std::uint64_t value) {
  const auto* choice = llvm::dyn_cast<llvm::SwitchInst>(&branch);
  if (choice == nullptr) {
    return (value & 1) != 0 ? 0 : 1;
  }
  for (const auto& c : choice->cases()) {
    if (c.getCaseValue()->getValue() == value) {
      return c.getSuccessorIndex();
    }
  }
  return 0;
}

ExprId goes_to(ExprTable& table, const llvm::Instruction& branch, ExprId value, const llvm::BasicBlock& block) {
  const auto* choice = llvm::dyn_cast<llvm::SwitchInst>(&branch);
  if (choice == nullptr) {
    const bool first = branch.getSuccessor(0) == &block;
    const bool second = branch.getSuccessor(1) == &block;
    return first && second ? table.yes() : first ? value : table.make(ExprOp::kNot, value);
  }
  // With the default leading there it is "none of the cases that lead elsewhere", else "one of those that lead there".
  const bool is_default = choice->getDefaultDest() == &block;
  ExprId any = table.no();
  for (const auto& c : choice->cases()) {
    if ((c.getCaseSuccessor() == &block) != is_default) {
      const ExprId equal =
          table.make(ExprOp::kEq, value, table.constant(table.width(value), c.getCaseValue()->getZExtValue()));
      any = table.make(ExprOp::kOr, any, equal);
    }
  }
  return is_default ? table.make(ExprOp::kNot, any) : any;
}

}  // namespace sooth
