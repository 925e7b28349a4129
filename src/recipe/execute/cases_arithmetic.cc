// What has no exact expression, as a table: its result for each of the values that its operands may have.
#include "recipe/execute/arithmetic.h"

#include <algorithm>

#include "recipe/execute/cases.h"

namespace sooth {

bool Arithmetic::by_cases(std::span<const Cell> operands, std::span<const unsigned> widths, unsigned width,
                          const CaseResult& compute, Cell* result, ConditionSink& sink) {
  std::vector<ExprId> exprs;
  for (const Cell& operand : operands) {
    if (!is_known(operand)) {
      return false;
    }
    if (is_symbolic(operand)) {
      exprs.push_back(operand.expr);
    }
  }
  struct Case {
    std::vector<Cell> operands;
    std::uint64_t result = 0;
  };
  std::vector<Case> cases;
  bool has_recorded = false;
  if (cases_ == nullptr || exprs.empty()) {
    return false;
  }
  const bool are_few = cases_->for_each(exprs, [&](std::span<const std::uint64_t> variables) {
    Case made;
    for (const Cell& operand : operands) {
      made.operands.push_back(
          {is_symbolic(operand) ? table_.evaluate(operand.expr, variables) : operand.bits, kNoExpr});
    }
    const auto is_same = [&](const Case& other) {
      return std::equal(other.operands.begin(), other.operands.end(), made.operands.begin(),
                        [](const Cell& a, const Cell& b) { return a.bits == b.bits; });
    };
    if (std::any_of(cases.begin(), cases.end(), is_same)) {
      return true;
    }
    const std::optional<std::uint64_t> value = compute(made.operands);
    if (value) {
      made.result = *value;
      cases.push_back(std::move(made));
    }
    has_recorded = has_recorded || value.has_value();
    return has_recorded;  // the recorded ones come first
  });
  if (!are_few || !has_recorded || cases.size() < 2) {
    return false;
  }
  ExprId whole = table_.constant(width, cases[0].result);
  ExprId any = table_.no();
  for (const Case& each : cases) {
    ExprId is_this = table_.yes();
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (is_symbolic(operands[i])) {
        const ExprId value = table_.constant(widths[i], each.operands[i].bits);
        is_this = table_.make(ExprOp::kAnd, is_this, table_.make(ExprOp::kEq, operands[i].expr, value));
      }
    }
    whole = table_.make(ExprOp::kIte, is_this, table_.constant(width, each.result), whole);
    any = table_.make(ExprOp::kOr, any, is_this);
  }
  hold(any, PathCondition::Why::kNotModelled, sink);
  *result = cell(whole, cases[0].result);
  return true;
}

bool Arithmetic::real_by_cases(const llvm::Instruction& instruction, unsigned operand_count, const Operands& operands,
                               Cell* result, ConditionSink& sink) {
  std::vector<Cell> given;
  std::vector<unsigned> widths;
  for (unsigned i = 0; i < operand_count; ++i) {
    const Layout& own = layout(instruction, instruction.getOperand(i)->getType());
    if (own.leaves.size() != 1) {
      return false;
    }
    given.push_back(*operands[i]);
    widths.push_back(own.leaves[0].bits);
  }
  const Layout& made = layout(instruction, instruction.getType());
  if (made.leaves.size() != 1) {
    return false;
  }
  const auto compute = [&](std::span<const Cell> cells) -> std::optional<std::uint64_t> {
    static constexpr Slot kSlots[] = {0, 1, 2, 3};
    Cell value;
    const Operands own(kSlots, cells.data());
    return operand_count <= 4 && real(instruction, own, &value) && is_known(value) ? std::optional(value.bits)
                                                                                   : std::nullopt;
  };
  return by_cases(given, widths, made.leaves[0].bits, compute, result, sink);
}

}  // namespace sooth
