// The intrinsics of LLVM that only compute.
#include <llvm/ADT/bit.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Intrinsics.h>

#include "recipe/execute/arithmetic.h"

namespace sooth {

namespace {

using Why = PathCondition::Why;
using llvm::CmpInst;
using llvm::Instruction;
namespace Intrinsic = llvm::Intrinsic;

constexpr Cell number(std::uint64_t value) { return {value, kNoExpr}; }

// Nothing happens, or nothing that an execution could tell.
bool is_silent(Intrinsic::ID id) {
  switch (id) {
    case Intrinsic::assume:
    case Intrinsic::lifetime_start:
    case Intrinsic::lifetime_end:
    case Intrinsic::invariant_start:
    case Intrinsic::invariant_end:
    case Intrinsic::experimental_noalias_scope_decl:
    case Intrinsic::var_annotation:
    case Intrinsic::donothing:
    case Intrinsic::prefetch:
    case Intrinsic::stackrestore:
    case Intrinsic::sideeffect:
    case Intrinsic::pseudoprobe: return true;
    default: return false;
  }
}

// The result is the first argument.
bool is_copy(Intrinsic::ID id) {
  switch (id) {
    case Intrinsic::expect:
    case Intrinsic::expect_with_probability:
    case Intrinsic::ssa_copy:
    case Intrinsic::launder_invariant_group:
    case Intrinsic::strip_invariant_group:
    case Intrinsic::annotation:
    case Intrinsic::ptr_annotation: return true;
    default: return false;
  }
}

}  // namespace

Cell Arithmetic::count_ones(unsigned width, const Cell& a, ConditionSink& sink) {
  if (!is_symbolic(a)) {
    return is_known(a) ? number(static_cast<unsigned>(llvm::popcount(a.bits))) : a;
  }
  Cell sum = number(0);
  for (unsigned bit = 0; bit < width; ++bit) {
    const Cell one = cell(table_.zext(table_.extract(a.expr, bit, 1), width), a.bits >> bit & 1);
    sum = binary(ExprOp::kAdd, width, width, sum, one, sink);
  }
  return sum;
}

Cell Arithmetic::count_zeros(bool leading, unsigned width, const Cell& a, ConditionSink& sink) {
  if (!is_known(a)) {
    return a;
  }
  // From the bit that decides last to the one that decides first.
  Cell found = number(width);
  for (unsigned i = 0; i < width; ++i) {
    const unsigned bit = leading ? i : width - 1 - i;
    const Cell zeros = number(leading ? width - 1 - bit : bit);
    Cell is_set = number(a.bits >> bit & 1);
    if (is_symbolic(a)) {
      is_set = cell(table_.extract(a.expr, bit, 1), is_set.bits);
    }
    found = choose(is_set, width, zeros, found, sink);
  }
  return found;
}

Cell Arithmetic::funnel(bool left, unsigned width, std::span<const Cell> arguments, ConditionSink& sink) {
  const Cell by = binary(ExprOp::kURem, width, width, arguments[2], number(width), sink);
  const Cell rest = binary(ExprOp::kSub, width, width, number(width & low_bits(width)), by, sink);
  const Cell high = binary(ExprOp::kShl, width, width, arguments[0], left ? by : rest, sink);
  const Cell low = binary(ExprOp::kLShr, width, width, arguments[1], left ? rest : by, sink);
  return binary(ExprOp::kOr, width, width, high, low, sink);
}

Cell Arithmetic::reverse(unsigned width, unsigned piece, const Cell& a) {
  if (!is_known(a)) {
    return a;
  }
  std::uint64_t bits = 0;
  ExprId whole = kNoExpr;
  for (unsigned at = 0; at < width; at += piece) {
    bits = bits << piece | (a.bits >> at & low_bits(piece));
    if (is_symbolic(a)) {
      const ExprId part = table_.extract(a.expr, at, piece);
      whole = whole == kNoExpr ? part : table_.make(ExprOp::kConcat, whole, part);
    }
  }
  return is_symbolic(a) ? cell(whole, bits) : number(bits);
}

std::pair<Cell, Cell> Arithmetic::checked(Instruction::BinaryOps op, bool is_signed, unsigned width, const Cell& a,
                                          const Cell& b, ConditionSink& sink) {
  const auto with = [&](ExprOp o, const Cell& x, const Cell& y) { return binary(o, width, width, x, y, sink); };
  const auto test = [&](ExprOp o, const Cell& x, const Cell& y) { return binary(o, width, 1, x, y, sink); };
  const Cell zero = number(0);
  const Cell result = integer_operation(op, width, a, b, sink);
  if (op == Instruction::Add) {
    return {result, is_signed
                        ? test(ExprOp::kSlt,
                               with(ExprOp::kAnd, with(ExprOp::kXor, result, a), with(ExprOp::kXor, result, b)), zero)
                        : test(ExprOp::kUlt, result, a)};
  }
  if (op == Instruction::Sub) {
    return {result, is_signed ? test(ExprOp::kSlt,
                                     with(ExprOp::kAnd, with(ExprOp::kXor, a, b), with(ExprOp::kXor, a, result)), zero)
                              : test(ExprOp::kUlt, a, b)};
  }
  // A product is right when dividing it gives the factor back; by -1 only the lowest number overflows.
  const Cell is_zero = test(ExprOp::kEq, b, zero);
  const Cell back = with(is_signed ? ExprOp::kSDiv : ExprOp::kUDiv, result, b);
  Cell differs = unary(ExprOp::kNot, 1, test(ExprOp::kEq, back, a));
  if (is_signed) {
    const Cell lowest = test(ExprOp::kEq, a, number(std::uint64_t{1} << (width - 1)));
    const Cell minus_one = test(ExprOp::kEq, b, number(low_bits(width)));
    differs = choose(minus_one, 1, lowest, differs, sink);
  }
  return {result, choose(is_zero, 1, number(0), differs, sink)};
}

bool Arithmetic::element(const llvm::CallBase& call, unsigned width, std::span<const Cell> arguments, Cell* result,
                         ConditionSink& sink) {
  const Cell a = arguments[0];
  const Cell b = arguments.size() > 1 ? arguments[1] : Cell{};
  const auto pick = [&](CmpInst::Predicate predicate) {
    return choose(compare(predicate, width, a, b, sink), width, a, b, sink);
  };
  const auto saturated = [&](Instruction::BinaryOps op, bool is_signed) {
    const auto [value, overflowed] = checked(op, is_signed, width, a, b, sink);
    const std::uint64_t top = is_signed ? low_bits(width) >> 1 : op == Instruction::Add ? low_bits(width) : 0;
    const Cell negative = compare(CmpInst::ICMP_SLT, width, a, number(0), sink);
    const Cell bound =
        is_signed ? choose(negative, width, number(std::uint64_t{1} << (width - 1)), number(top), sink) : number(top);
    return choose(overflowed, width, bound, value, sink);
  };
  switch (call.getIntrinsicID()) {
    case Intrinsic::smin: *result = pick(CmpInst::ICMP_SLT); return true;
    case Intrinsic::smax: *result = pick(CmpInst::ICMP_SGT); return true;
    case Intrinsic::umin: *result = pick(CmpInst::ICMP_ULT); return true;
    case Intrinsic::umax: *result = pick(CmpInst::ICMP_UGT); return true;
    case Intrinsic::abs:
      *result =
          choose(compare(CmpInst::ICMP_SLT, width, a, number(0), sink), width, unary(ExprOp::kNeg, width, a), a, sink);
      return true;
    case Intrinsic::bswap: *result = reverse(width, 8, a); return true;
    case Intrinsic::bitreverse: *result = reverse(width, 1, a); return true;
    case Intrinsic::ctpop: *result = count_ones(width, a, sink); return true;
    case Intrinsic::ctlz: *result = count_zeros(true, width, a, sink); return true;
    case Intrinsic::cttz: *result = count_zeros(false, width, a, sink); return true;
    case Intrinsic::fshl: *result = funnel(true, width, arguments, sink); return true;
    case Intrinsic::fshr: *result = funnel(false, width, arguments, sink); return true;
    case Intrinsic::uadd_sat: *result = saturated(Instruction::Add, false); return true;
    case Intrinsic::sadd_sat: *result = saturated(Instruction::Add, true); return true;
    case Intrinsic::usub_sat: *result = saturated(Instruction::Sub, false); return true;
    case Intrinsic::ssub_sat: *result = saturated(Instruction::Sub, true); return true;
    default: return false;
  }
}

bool Arithmetic::compute_intrinsic(const llvm::CallBase& call, const Operands& operands, Cell* result,
                                   ConditionSink& sink) {
  const Intrinsic::ID id = call.getIntrinsicID();
  const std::size_t leaves = layout(call, call.getType()).leaves.size();
  if (is_silent(id)) {
    std::fill_n(result, leaves, Cell{0, kUnknownExpr});
    return true;
  }
  if (is_copy(id)) {
    std::copy_n(operands[0], leaves, result);
    return true;
  }
  llvm::Type* type = call.arg_size() > 0 ? call.getArgOperand(0)->getType() : call.getType();
  const bool is_integer =
      type->isIntOrIntVectorTy() && type->getScalarSizeInBits() <= 64 && !llvm::isa<llvm::ScalableVectorType>(type);
  if (is_integer) {
    const unsigned width = type->getScalarSizeInBits();
    if (const auto* with_overflow = llvm::dyn_cast<llvm::WithOverflowInst>(&call);
        with_overflow != nullptr && leaves == 2) {
      std::tie(result[0], result[1]) =
          checked(with_overflow->getBinaryOp(), with_overflow->isSigned(), width, *operands[0], *operands[1], sink);
      return true;
    }
    const std::size_t arguments = std::min<std::size_t>(3, call.arg_size());
    bool done = call.getType() == type;
    for (std::size_t i = 0; done && i < leaves; ++i) {
      Cell cells[3] = {};
      for (unsigned j = 0; j < arguments; ++j) {
        const bool is_element = call.getArgOperand(j)->getType() == type;
        cells[j] = is_element ? operands[j][i] : *operands[j];
      }
      done = element(call, width, std::span(cells, arguments), &result[i], sink);
    }
    if (done && leaves > 0) {
      return true;
    }
  }
  if (!call.doesNotAccessMemory() || call.isTerminator() || call.doesNotReturn()) {
    return false;
  }
  if (!is_exact_function(call) || !exact_function(call, operands, result, sink)) {
    give_up(call, operands, result, sink);
  }
  return true;
}

bool Arithmetic::exact_function(const llvm::CallBase& call, const Operands& operands, Cell* result,
                                ConditionSink& sink) {
  const auto count = static_cast<unsigned>(call.arg_size());
  if (real_by_cases(call, count, operands, result, sink)) {
    return true;
  }
  if (!real(call, operands, result)) {
    return false;
  }
  for (unsigned i = 0; i < count; ++i) {
    pin(*operands[i], Why::kNotModelled, sink);
  }
  return true;
}

}  // namespace sooth
