#include "recipe/execute/arithmetic.h"

#include <algorithm>

#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/Operator.h>

namespace sooth {

namespace {

using Why = PathCondition::Why;
using llvm::CmpInst;
using llvm::Instruction;

constexpr Cell kUnknownCell{0, kUnknownExpr};

// Elements of a vector or the one value; the type that they have.
unsigned element_count(llvm::Type* type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector == nullptr ? 1 : vector->getNumElements();
}

// Of integers and pointers of up to 64 bits; else 0.
unsigned scalar_width(const llvm::DataLayout& data, llvm::Type* type) {
  llvm::Type* scalar = type->getScalarType();
  if (llvm::isa<llvm::ScalableVectorType>(type) || !(scalar->isIntegerTy() || scalar->isPointerTy())) {
    return 0;
  }
  const std::uint64_t width = data.getTypeSizeInBits(scalar).getFixedValue();
  return width <= 64 ? static_cast<unsigned>(width) : 0;
}

}  // namespace

void Arithmetic::hold(ExprId condition, Why why, ConditionSink& sink) {
  if (condition != table_.yes() && !sink.is_held(condition)) {
    sink.hold(condition, why);
  }
}

void Arithmetic::pin(const Cell& cell, Why why, ConditionSink& sink) {
  if (!is_symbolic(cell)) {
    return;
  }
  const ExprId condition = table_.make(ExprOp::kEq, cell.expr, table_.constant(table_.width(cell.expr), cell.bits));
  if (!sink.is_held(condition)) {
    ++pins_;
    sink.hold(condition, why);
  }
}

void Arithmetic::pin(std::span<const Cell> cells, Why why, ConditionSink& sink) {
  for (const Cell& cell : cells) {
    pin(cell, why, sink);
  }
}

ExprId Arithmetic::expr(const Cell& cell, unsigned width) {
  return is_symbolic(cell) ? cell.expr : table_.constant(width, cell.bits);
}

Cell Arithmetic::cell(ExprId expr, std::uint64_t bits) { return {bits, table_.is_constant(expr) ? kNoExpr : expr}; }

Cell Arithmetic::resize(const Cell& value, unsigned from, unsigned to) {
  if (!is_known(value) || from == to) {
    return value;
  }
  const std::uint64_t bits = value.bits & low_bits(std::min(from, to));
  if (!is_symbolic(value)) {
    return {bits, kNoExpr};
  }
  return cell(from > to ? table_.extract(value.expr, 0, to) : table_.zext(value.expr, to), bits);
}

Cell Arithmetic::binary(ExprOp op, unsigned from, unsigned to, const Cell& a, const Cell& b, ConditionSink& sink) {
  if (!is_known(a) || !is_known(b)) {
    pin(a, Why::kNotModelled, sink);
    pin(b, Why::kNotModelled, sink);
    return kUnknownCell;
  }
  const std::uint64_t bits = ExprTable::apply(op, to, from, a.bits, b.bits, 0);
  if (!is_symbolic(a) && !is_symbolic(b)) {
    return {bits, kNoExpr};
  }
  return cell(table_.make(op, expr(a, from), expr(b, from)), bits);
}

Cell Arithmetic::unary(ExprOp op, unsigned width, const Cell& a) {
  if (!is_known(a)) {
    return a;
  }
  const std::uint64_t bits = ExprTable::apply(op, width, width, a.bits, 0, 0);
  return is_symbolic(a) ? cell(table_.make(op, a.expr), bits) : Cell{bits, kNoExpr};
}

Cell Arithmetic::choose(const Cell& condition, unsigned width, const Cell& a, const Cell& b, ConditionSink& sink) {
  if (!is_known(condition)) {
    pin(a, Why::kNotModelled, sink);
    pin(b, Why::kNotModelled, sink);
    return is_known(a) && is_known(b) && a.bits == b.bits ? Cell{a.bits, kNoExpr} : kUnknownCell;
  }
  const Cell& chosen = condition.bits != 0 ? a : b;
  if (!is_symbolic(condition)) {
    return chosen;
  }
  if (!is_known(a) || !is_known(b)) {
    pin(condition, Why::kNotModelled, sink);
    return chosen;
  }
  return cell(table_.make(ExprOp::kIte, condition.expr, expr(a, width), expr(b, width)), chosen.bits);
}

Cell Arithmetic::compare(CmpInst::Predicate predicate, unsigned width, const Cell& a, const Cell& b,
                         ConditionSink& sink) {
  const auto less = [&](ExprOp op, const Cell& x, const Cell& y) { return binary(op, width, 1, x, y, sink); };
  switch (predicate) {
    case CmpInst::ICMP_EQ: return less(ExprOp::kEq, a, b);
    case CmpInst::ICMP_NE: return unary(ExprOp::kNot, 1, less(ExprOp::kEq, a, b));
    case CmpInst::ICMP_ULT: return less(ExprOp::kUlt, a, b);
    case CmpInst::ICMP_ULE: return less(ExprOp::kUle, a, b);
    case CmpInst::ICMP_UGT: return less(ExprOp::kUlt, b, a);
    case CmpInst::ICMP_UGE: return less(ExprOp::kUle, b, a);
    case CmpInst::ICMP_SLT: return less(ExprOp::kSlt, a, b);
    case CmpInst::ICMP_SLE: return less(ExprOp::kSle, a, b);
    case CmpInst::ICMP_SGT: return less(ExprOp::kSlt, b, a);
    case CmpInst::ICMP_SGE: return less(ExprOp::kSle, b, a);
    default: return kUnknownCell;
  }
}

Cell Arithmetic::integer_operation(Instruction::BinaryOps op, unsigned width, const Cell& a, const Cell& b,
                                   ConditionSink& sink) {
  const bool is_division =
      op == Instruction::UDiv || op == Instruction::SDiv || op == Instruction::URem || op == Instruction::SRem;
  const bool is_shift = op == Instruction::Shl || op == Instruction::LShr || op == Instruction::AShr;
  if (is_known(b) && ((is_division && b.bits == 0) || (is_shift && b.bits >= width))) {
    pin(a, Why::kNotModelled, sink);
    pin(b, Why::kNotModelled, sink);
    return kUnknownCell;
  }
  if (is_division && is_known(a) && is_known(b) && (is_symbolic(a) || is_symbolic(b))) {
    const ExprId divisor = expr(b, width);
    hold(table_.make(ExprOp::kNot, table_.make(ExprOp::kEq, divisor, table_.constant(width, 0))), Why::kDivisor, sink);
    if (op == Instruction::SDiv || op == Instruction::SRem) {
      const ExprId lowest =
          table_.make(ExprOp::kEq, expr(a, width), table_.constant(width, std::uint64_t{1} << (width - 1)));
      const ExprId overflows =
          table_.make(ExprOp::kAnd, table_.make(ExprOp::kEq, divisor, table_.constant(width, low_bits(width))), lowest);
      hold(table_.make(ExprOp::kNot, overflows), Why::kDivisor, sink);
    }
  }
  if (is_shift && is_symbolic(b) && is_known(a) && (width & (width - 1)) == 0) {
    hold(table_.make(ExprOp::kUlt, b.expr, table_.constant(width, width)), Why::kNotModelled, sink);
  } else if (is_shift) {
    pin(b, Why::kNotModelled, sink);
  }
  static constexpr std::pair<Instruction::BinaryOps, ExprOp> kOps[] = {
      {Instruction::Add, ExprOp::kAdd},   {Instruction::Sub, ExprOp::kSub},   {Instruction::Mul, ExprOp::kMul},
      {Instruction::UDiv, ExprOp::kUDiv}, {Instruction::SDiv, ExprOp::kSDiv}, {Instruction::URem, ExprOp::kURem},
      {Instruction::SRem, ExprOp::kSRem}, {Instruction::And, ExprOp::kAnd},   {Instruction::Or, ExprOp::kOr},
      {Instruction::Xor, ExprOp::kXor},   {Instruction::Shl, ExprOp::kShl},   {Instruction::LShr, ExprOp::kLShr},
      {Instruction::AShr, ExprOp::kAShr}};
  for (const auto& [from, to] : kOps) {
    if (from == op) {
      return binary(to, width, width, a, b, sink);
    }
  }
  return kUnknownCell;
}

Cell Arithmetic::update(llvm::AtomicRMWInst::BinOp operation, unsigned width, const Cell& old, const Cell& operand,
                        ConditionSink& sink) {
  using Rmw = llvm::AtomicRMWInst;
  const auto pick = [&](CmpInst::Predicate p) {
    return choose(compare(p, width, old, operand, sink), width, old, operand, sink);
  };
  const auto with = [&](ExprOp op) { return binary(op, width, width, old, operand, sink); };
  switch (operation) {
    case Rmw::Xchg: return operand;
    case Rmw::Add: return with(ExprOp::kAdd);
    case Rmw::Sub: return with(ExprOp::kSub);
    case Rmw::And: return with(ExprOp::kAnd);
    case Rmw::Or: return with(ExprOp::kOr);
    case Rmw::Xor: return with(ExprOp::kXor);
    case Rmw::Nand: return unary(ExprOp::kNot, width, with(ExprOp::kAnd));
    case Rmw::Max: return pick(CmpInst::ICMP_SGT);
    case Rmw::Min: return pick(CmpInst::ICMP_SLT);
    case Rmw::UMax: return pick(CmpInst::ICMP_UGT);
    case Rmw::UMin: return pick(CmpInst::ICMP_ULT);
    default:  // floating point, wrapping counters
      pin(old, Why::kNotModelled, sink);
      pin(operand, Why::kNotModelled, sink);
      return {0, kUnknownExpr};
  }
}

void Arithmetic::give_up(const Instruction& instruction, const Operands& operands, Cell* result, ConditionSink& sink) {
  for (unsigned i = 0; i < instruction.getNumOperands(); ++i) {
    pin(std::span(operands[i], layout(instruction, instruction.getOperand(i)->getType()).leaves.size()),
        Why::kNotModelled, sink);
  }
  std::fill_n(result, layout(instruction, instruction.getType()).leaves.size(), kUnknownCell);
}

void Arithmetic::address(const llvm::GetElementPtrInst& instruction, const Operands& operands, Cell* result,
                         ConditionSink& sink) {
  const llvm::DataLayout& data = instruction.getModule()->getDataLayout();
  Cell sum = *operands[0];
  unsigned operand = 1;
  for (auto type = llvm::gep_type_begin(&instruction); type != llvm::gep_type_end(&instruction); ++type, ++operand) {
    Cell offset;
    if (llvm::StructType* structure = type.getStructTypeOrNull()) {
      const auto field = static_cast<unsigned>(llvm::cast<llvm::ConstantInt>(type.getOperand())->getZExtValue());
      offset.bits = data.getStructLayout(structure)->getElementOffset(field).getFixedValue();
    } else {
      const unsigned width = scalar_width(data, type.getOperand()->getType());
      if (width == 0) {
        return give_up(instruction, operands, result, sink);
      }
      offset = *operands[operand];
      if (width < 64 && is_known(offset)) {
        const std::uint64_t bits = ExprTable::apply(ExprOp::kSext, 64, width, offset.bits, 0, 0);
        offset = is_symbolic(offset) ? cell(table_.sext(offset.expr, 64), bits) : Cell{bits, kNoExpr};
      }
      const std::uint64_t stride = type.getSequentialElementStride(data).getFixedValue();
      offset = binary(ExprOp::kMul, 64, 64, offset, Cell{stride, kNoExpr}, sink);
    }
    sum = binary(ExprOp::kAdd, 64, 64, sum, offset, sink);
  }
  *result = sum;
}

bool Arithmetic::cast(const llvm::CastInst& instruction, const Operands& operands, Cell* result, ConditionSink& sink) {
  const llvm::DataLayout& data = instruction.getModule()->getDataLayout();
  const unsigned from = scalar_width(data, instruction.getSrcTy());
  const unsigned to = scalar_width(data, instruction.getDestTy());
  const unsigned count = element_count(instruction.getDestTy());
  const auto each = [&](auto&& change) {
    for (unsigned i = 0; i < count; ++i) {
      result[i] = change(operands[0][i]);
    }
    return true;
  };
  switch (instruction.getOpcode()) {
    case Instruction::Trunc:
    case Instruction::ZExt:
    case Instruction::PtrToInt:
    case Instruction::IntToPtr: return from != 0 && to != 0 && each([&](const Cell& c) { return resize(c, from, to); });
    case Instruction::SExt:
      return from != 0 && to != 0 && each([&](const Cell& c) {
               if (!is_known(c)) {
                 return c;
               }
               const std::uint64_t bits = ExprTable::apply(ExprOp::kSext, to, from, c.bits, 0, 0);
               return is_symbolic(c) ? cell(table_.sext(c.expr, to), bits) : Cell{bits, kNoExpr};
             });
    case Instruction::BitCast:
    case Instruction::AddrSpaceCast: {
      const Layout& before = layout(instruction, instruction.getSrcTy());
      const Layout& after = layout(instruction, instruction.getDestTy());
      const auto same = [](const Layout::Leaf& a, const Layout::Leaf& b) { return a.bits == b.bits; };
      if (!std::equal(before.leaves.begin(), before.leaves.end(), after.leaves.begin(), after.leaves.end(), same)) {
        return false;
      }
      std::copy_n(operands[0], after.leaves.size(), result);
      return true;
    }
    default: break;
  }
  if (real_by_cases(instruction, 1, operands, result, sink)) {
    return true;
  }
  pin(std::span(operands[0], layout(instruction, instruction.getSrcTy()).leaves.size()), Why::kNotModelled, sink);
  return real(instruction, operands, result);
}

// What moves cells without looking into them.
bool Arithmetic::rearrange(const Instruction& instruction, const Operands& operands, Cell* result,
                           ConditionSink& sink) {
  const std::size_t leaves = layout(instruction, instruction.getType()).leaves.size();
  if (const auto* extract = llvm::dyn_cast<llvm::ExtractValueInst>(&instruction)) {
    const llvm::ArrayRef<unsigned> path = extract->getIndices();
    const std::uint32_t from = code_.cells_before(*instruction.getModule(), extract->getAggregateOperand()->getType(),
                                                  std::span(path.data(), path.size()));
    std::copy_n(operands[0] + from, leaves, result);
    return true;
  }
  if (const auto* insert = llvm::dyn_cast<llvm::InsertValueInst>(&instruction)) {
    const llvm::ArrayRef<unsigned> path = insert->getIndices();
    std::copy_n(operands[0], leaves, result);
    const std::uint32_t to =
        code_.cells_before(*instruction.getModule(), insert->getType(), std::span(path.data(), path.size()));
    std::copy_n(operands[1], layout(instruction, insert->getInsertedValueOperand()->getType()).leaves.size(),
                result + to);
    return true;
  }
  if (const auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(&instruction)) {
    const auto count = static_cast<int>(element_count(shuffle->getOperand(0)->getType()));
    const std::size_t each = leaves / shuffle->getShuffleMask().size();
    for (const int from : shuffle->getShuffleMask()) {
      const Cell* source = from < 0       ? nullptr
                           : from < count ? operands[0] + from * each
                                          : operands[1] + (from - count) * each;
      for (std::size_t i = 0; i < each; ++i) {
        *result++ = source == nullptr ? kUnknownCell : source[i];
      }
    }
    return true;
  }
  const bool is_extract = llvm::isa<llvm::ExtractElementInst>(instruction);
  if (is_extract || llvm::isa<llvm::InsertElementInst>(instruction)) {
    const Cell& index = *operands[is_extract ? 1 : 2];
    llvm::Type* vector = instruction.getOperand(0)->getType();
    const std::size_t each = layout(instruction, vector->getScalarType()).leaves.size();
    if (!is_known(index) || index.bits >= element_count(vector)) {
      return false;
    }
    pin(index, Why::kNotModelled, sink);
    if (is_extract) {
      std::copy_n(operands[0] + index.bits * each, each, result);
    } else {
      std::copy_n(operands[0], leaves, result);
      std::copy_n(operands[1], each, result + index.bits * each);
    }
    return true;
  }
  return false;
}

void Arithmetic::select(const llvm::SelectInst& instruction, const Operands& operands, Cell* result,
                        ConditionSink& sink) {
  const Layout& shape = layout(instruction, instruction.getType());
  const bool is_wide = instruction.getCondition()->getType()->isVectorTy();
  for (std::size_t i = 0; i < shape.leaves.size(); ++i) {
    const std::size_t elements = element_count(instruction.getCondition()->getType());
    const Cell& condition = is_wide ? operands[0][i / (shape.leaves.size() / elements)] : *operands[0];
    result[i] = choose(condition, shape.leaves[i].bits, operands[1][i], operands[2][i], sink);
  }
}

bool Arithmetic::compute(const Instruction& instruction, const Operands& operands, Cell* result, ConditionSink& sink) {
  const llvm::DataLayout& data = instruction.getModule()->getDataLayout();
  const auto with_recorded_values = [&](bool done) {
    if (!done) {
      give_up(instruction, operands, result, sink);
    }
    return true;
  };
  const auto pinned = [&] {
    for (unsigned i = 0; i < instruction.getNumOperands(); ++i) {
      pin(std::span(operands[i], layout(instruction, instruction.getOperand(i)->getType()).leaves.size()),
          Why::kNotModelled, sink);
    }
  };
  if (const auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(&instruction)) {
    if (const unsigned width = scalar_width(data, instruction.getType()); width != 0) {
      for (unsigned i = 0; i < element_count(instruction.getType()); ++i) {
        result[i] = integer_operation(operation->getOpcode(), width, operands[0][i], operands[1][i], sink);
      }
      return true;
    }
    if (instruction.getType()->isFloatingPointTy() && real_by_cases(instruction, 2, operands, result, sink)) {
      return true;
    }
    pinned();
    return with_recorded_values(instruction.getType()->isFPOrFPVectorTy() ? real(instruction, operands, result)
                                                                          : wide(instruction, operands, result));
  }
  if (const auto* comparison = llvm::dyn_cast<llvm::ICmpInst>(&instruction)) {
    if (const unsigned width = scalar_width(data, comparison->getOperand(0)->getType()); width != 0) {
      for (unsigned i = 0; i < element_count(instruction.getType()); ++i) {
        result[i] = compare(comparison->getPredicate(), width, operands[0][i], operands[1][i], sink);
      }
      return true;
    }
    pinned();
    return with_recorded_values(wide(instruction, operands, result));
  }
  if (const auto* conversion = llvm::dyn_cast<llvm::CastInst>(&instruction)) {
    if (cast(*conversion, operands, result, sink)) {
      return true;
    }
    pinned();
    return with_recorded_values(wide(instruction, operands, result));
  }
  if (llvm::isa<llvm::FCmpInst>(instruction) || instruction.getOpcode() == Instruction::FNeg) {
    if (real_by_cases(instruction, instruction.getNumOperands(), operands, result, sink)) {
      return true;
    }
    pinned();
    return with_recorded_values(real(instruction, operands, result));
  }
  if (const auto* choice = llvm::dyn_cast<llvm::SelectInst>(&instruction)) {
    select(*choice, operands, result, sink);
    return true;
  }
  if (const auto* element = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction)) {
    if (instruction.getType()->isVectorTy() || data.getPointerTypeSizeInBits(instruction.getType()) != 64) {
      return with_recorded_values(false);
    }
    address(*element, operands, result, sink);
    return true;
  }
  if (instruction.getOpcode() == Instruction::Freeze) {
    std::copy_n(operands[0], layout(instruction, instruction.getType()).leaves.size(), result);
    return true;
  }
  if (llvm::isa<llvm::ExtractValueInst, llvm::InsertValueInst, llvm::ExtractElementInst, llvm::InsertElementInst,
                llvm::ShuffleVectorInst>(instruction)) {
    return with_recorded_values(rearrange(instruction, operands, result, sink));
  }
  return false;
}

}  // namespace sooth
