#include "recipe/judge/concrete_arithmetic.h"

#include <cmath>
#include <utility>

#include <llvm/ADT/APFloat.h>
#include <llvm/ADT/APSInt.h>
#include <llvm/IR/Instruction.h>
#include <llvm/IR/Type.h>

namespace sooth {
namespace {

using llvm::APFloat;
using llvm::APInt;
using llvm::CmpInst;
using llvm::Instruction;
using llvm::KnownBits;

Scalar truth(std::optional<bool> value) { return value ? Scalar::truth(*value) : Scalar::nothing_known(1); }

APFloat as_float(const llvm::Type& type, const Scalar& value) { return APFloat(type.getFltSemantics(), value.bits); }

Scalar from_float(const APFloat& value) { return Scalar::known(value.bitcastToAPInt()); }

std::optional<Scalar> known_operation(unsigned opcode, const APInt& a, const APInt& b) {
  const bool too_far = b.uge(a.getBitWidth());
  switch (opcode) {
    case Instruction::Add: return Scalar::known(a + b);
    case Instruction::Sub: return Scalar::known(a - b);
    case Instruction::Mul: return Scalar::known(a * b);
    case Instruction::And: return Scalar::known(a & b);
    case Instruction::Or: return Scalar::known(a | b);
    case Instruction::Xor: return Scalar::known(a ^ b);
    case Instruction::Shl: return too_far ? Scalar::nothing_known(a.getBitWidth()) : Scalar::known(a.shl(b));
    case Instruction::LShr: return too_far ? Scalar::nothing_known(a.getBitWidth()) : Scalar::known(a.lshr(b));
    case Instruction::AShr: return too_far ? Scalar::nothing_known(a.getBitWidth()) : Scalar::known(a.ashr(b));
    default: break;
  }
  if (b.isZero()) {
    return std::nullopt;
  }
  const bool overflows = a.isMinSignedValue() && b.isAllOnes();
  switch (opcode) {
    case Instruction::UDiv: return Scalar::known(a.udiv(b));
    case Instruction::URem: return Scalar::known(a.urem(b));
    case Instruction::SDiv: return overflows ? std::nullopt : std::optional(Scalar::known(a.sdiv(b)));
    case Instruction::SRem: return overflows ? std::nullopt : std::optional(Scalar::known(a.srem(b)));
    default: return std::nullopt;
  }
}

}  // namespace

std::optional<Scalar> integer_operation(unsigned opcode, const Scalar& a, const Scalar& b) {
  if (a.is_known() && b.is_known()) {
    return known_operation(opcode, a.bits, b.bits);
  }
  const KnownBits x = a.known_bits();
  const KnownBits y = b.known_bits();
  const bool may_shift = b.is_known() && b.bits.ult(a.width());
  switch (opcode) {
    case Instruction::Add: return Scalar::of(KnownBits::computeForAddSub(true, false, false, x, y));
    case Instruction::Sub: return Scalar::of(KnownBits::computeForAddSub(false, false, false, x, y));
    case Instruction::Mul: return Scalar::of(KnownBits::mul(x, y));
    case Instruction::And: return Scalar::of(x & y);
    case Instruction::Or: return Scalar::of(x | y);
    case Instruction::Xor: return Scalar::of(x ^ y);
    case Instruction::Shl: return may_shift ? Scalar::of(KnownBits::shl(x, y)) : Scalar::nothing_known(a.width());
    case Instruction::LShr: return may_shift ? Scalar::of(KnownBits::lshr(x, y)) : Scalar::nothing_known(a.width());
    case Instruction::AShr: return may_shift ? Scalar::of(KnownBits::ashr(x, y)) : Scalar::nothing_known(a.width());
    // The divisor may be zero when it is not known.
    case Instruction::UDiv:
    case Instruction::URem:
    case Instruction::SDiv:
    case Instruction::SRem:
      return b.is_known() && !b.bits.isZero() && !b.bits.isAllOnes() ? std::optional(Scalar::nothing_known(a.width()))
                                                                     : std::nullopt;
    default: return std::nullopt;
  }
}

std::optional<Scalar> float_operation(unsigned opcode, const llvm::Type& type, const Scalar& a, const Scalar& b) {
  if (!a.is_known() || !b.is_known()) {
    return Scalar::nothing_known(a.width());
  }
  APFloat x = as_float(type, a);
  const APFloat y = as_float(type, b);
  switch (opcode) {
    case Instruction::FAdd: x.add(y, APFloat::rmNearestTiesToEven); break;
    case Instruction::FSub: x.subtract(y, APFloat::rmNearestTiesToEven); break;
    case Instruction::FMul: x.multiply(y, APFloat::rmNearestTiesToEven); break;
    case Instruction::FDiv: x.divide(y, APFloat::rmNearestTiesToEven); break;
    case Instruction::FRem: x.mod(y); break;
    case Instruction::FNeg: x.changeSign(); break;
    default: return std::nullopt;
  }
  // Which bits of a NaN come out is up to the machine.
  return x.isNaN() && opcode != Instruction::FNeg ? Scalar::nothing_known(a.width()) : from_float(x);
}

Scalar compare_integers(CmpInst::Predicate predicate, const Scalar& a, const Scalar& b) {
  const KnownBits x = a.known_bits();
  const KnownBits y = b.known_bits();
  switch (predicate) {
    case CmpInst::ICMP_EQ: return truth(KnownBits::eq(x, y));
    case CmpInst::ICMP_NE: return truth(KnownBits::ne(x, y));
    case CmpInst::ICMP_UGT: return truth(KnownBits::ugt(x, y));
    case CmpInst::ICMP_UGE: return truth(KnownBits::uge(x, y));
    case CmpInst::ICMP_ULT: return truth(KnownBits::ult(x, y));
    case CmpInst::ICMP_ULE: return truth(KnownBits::ule(x, y));
    case CmpInst::ICMP_SGT: return truth(KnownBits::sgt(x, y));
    case CmpInst::ICMP_SGE: return truth(KnownBits::sge(x, y));
    case CmpInst::ICMP_SLT: return truth(KnownBits::slt(x, y));
    case CmpInst::ICMP_SLE: return truth(KnownBits::sle(x, y));
    default: return Scalar::nothing_known(1);
  }
}

Scalar compare_floats(CmpInst::Predicate predicate, const llvm::Type& type, const Scalar& a, const Scalar& b) {
  if (predicate == CmpInst::FCMP_FALSE || predicate == CmpInst::FCMP_TRUE) {
    return truth(predicate == CmpInst::FCMP_TRUE);
  }
  if (!a.is_known() || !b.is_known()) {
    return Scalar::nothing_known(1);
  }
  const APFloat::cmpResult order = as_float(type, a).compare(as_float(type, b));
  const bool unordered = order == APFloat::cmpUnordered;
  const bool equal = order == APFloat::cmpEqual;
  const bool less = order == APFloat::cmpLessThan;
  const bool greater = order == APFloat::cmpGreaterThan;
  switch (predicate) {
    case CmpInst::FCMP_OEQ: return truth(equal);
    case CmpInst::FCMP_OGT: return truth(greater);
    case CmpInst::FCMP_OGE: return truth(greater || equal);
    case CmpInst::FCMP_OLT: return truth(less);
    case CmpInst::FCMP_OLE: return truth(less || equal);
    case CmpInst::FCMP_ONE: return truth(less || greater);
    case CmpInst::FCMP_ORD: return truth(!unordered);
    case CmpInst::FCMP_UNO: return truth(unordered);
    case CmpInst::FCMP_UEQ: return truth(unordered || equal);
    case CmpInst::FCMP_UGT: return truth(unordered || greater);
    case CmpInst::FCMP_UGE: return truth(unordered || greater || equal);
    case CmpInst::FCMP_ULT: return truth(unordered || less);
    case CmpInst::FCMP_ULE: return truth(unordered || less || equal);
    case CmpInst::FCMP_UNE: return truth(unordered || less || greater);
    default: return Scalar::nothing_known(1);
  }
}

std::optional<Scalar> cast_scalar(unsigned opcode, const llvm::Type& from, const llvm::Type& to, unsigned width,
                                  const Scalar& value) {
  const bool known = value.is_known();
  switch (opcode) {
    case Instruction::Trunc: return Scalar::of(value.known_bits().trunc(width));
    case Instruction::ZExt:
    case Instruction::PtrToInt:
    case Instruction::IntToPtr: return Scalar::of(value.known_bits().zextOrTrunc(width));
    case Instruction::SExt: return Scalar::of(value.known_bits().sext(width));
    default: break;
  }
  if (!known) {
    return Scalar::nothing_known(width);
  }
  bool exact = false;
  switch (opcode) {
    case Instruction::FPToUI:
    case Instruction::FPToSI: {
      llvm::APSInt result(width, opcode == Instruction::FPToUI);
      const APFloat::opStatus status = as_float(from, value).convertToInteger(result, APFloat::rmTowardZero, &exact);
      return status == APFloat::opInvalidOp ? Scalar::nothing_known(width) : Scalar::known(result);
    }
    case Instruction::UIToFP:
    case Instruction::SIToFP: {
      APFloat result(to.getFltSemantics());
      result.convertFromAPInt(value.bits, opcode == Instruction::SIToFP, APFloat::rmNearestTiesToEven);
      return from_float(result);
    }
    case Instruction::FPTrunc:
    case Instruction::FPExt: {
      APFloat result = as_float(from, value);
      result.convert(to.getFltSemantics(), APFloat::rmNearestTiesToEven, &exact);
      return result.isNaN() ? Scalar::nothing_known(width) : from_float(result);
    }
    default: return std::nullopt;
  }
}

std::optional<Scalar> integer_intrinsic(llvm::Intrinsic::ID id, llvm::ArrayRef<const Scalar*> operands) {
  const Scalar& a = *operands[0];
  const unsigned width = a.width();
  for (const Scalar* operand : operands) {
    if (!operand->is_known()) {
      return Scalar::nothing_known(width);
    }
  }
  const APInt& x = a.bits;
  const APInt y = operands.size() > 1 ? operands[1]->bits : APInt(width, 0);
  const auto funnel = [&](bool left) {
    const unsigned by = static_cast<unsigned>(operands[2]->bits.urem(width));
    const APInt both = x.zext(2 * width).shl(width) | y.zext(2 * width);
    return Scalar::known(left ? both.shl(by).lshr(width).trunc(width) : both.lshr(by).trunc(width));
  };
  switch (id) {
    case llvm::Intrinsic::smax: return Scalar::known(llvm::APIntOps::smax(x, y));
    case llvm::Intrinsic::smin: return Scalar::known(llvm::APIntOps::smin(x, y));
    case llvm::Intrinsic::umax: return Scalar::known(llvm::APIntOps::umax(x, y));
    case llvm::Intrinsic::umin: return Scalar::known(llvm::APIntOps::umin(x, y));
    case llvm::Intrinsic::abs: return Scalar::known(x.abs());
    case llvm::Intrinsic::ctpop: return Scalar::known(APInt(width, x.popcount()));
    case llvm::Intrinsic::ctlz: return Scalar::known(APInt(width, x.countl_zero()));
    case llvm::Intrinsic::cttz: return Scalar::known(APInt(width, x.countr_zero()));
    case llvm::Intrinsic::bswap: return Scalar::known(x.byteSwap());
    case llvm::Intrinsic::bitreverse: return Scalar::known(x.reverseBits());
    case llvm::Intrinsic::fshl: return funnel(true);
    case llvm::Intrinsic::fshr: return funnel(false);
    case llvm::Intrinsic::uadd_sat: return Scalar::known(x.uadd_sat(y));
    case llvm::Intrinsic::sadd_sat: return Scalar::known(x.sadd_sat(y));
    case llvm::Intrinsic::usub_sat: return Scalar::known(x.usub_sat(y));
    case llvm::Intrinsic::ssub_sat: return Scalar::known(x.ssub_sat(y));
    default: return std::nullopt;
  }
}

std::optional<Scalar> float_intrinsic(llvm::Intrinsic::ID id, const llvm::Type& type,
                                      llvm::ArrayRef<const Scalar*> operands) {
  for (const Scalar* operand : operands) {
    if (!operand->is_known()) {
      return Scalar::nothing_known(operands[0]->width());
    }
  }
  APFloat x = as_float(type, *operands[0]);
  const auto rounded = [&](llvm::RoundingMode mode) {
    x.roundToIntegral(mode);
    return from_float(x);
  };
  switch (id) {
    case llvm::Intrinsic::fabs: x.clearSign(); return from_float(x);
    case llvm::Intrinsic::copysign: x.copySign(as_float(type, *operands[1])); return from_float(x);
    case llvm::Intrinsic::floor: return rounded(APFloat::rmTowardNegative);
    case llvm::Intrinsic::ceil: return rounded(APFloat::rmTowardPositive);
    case llvm::Intrinsic::trunc: return rounded(APFloat::rmTowardZero);
    case llvm::Intrinsic::round: return rounded(APFloat::rmNearestTiesToAway);
    case llvm::Intrinsic::roundeven:
    case llvm::Intrinsic::rint:
    case llvm::Intrinsic::nearbyint: return rounded(APFloat::rmNearestTiesToEven);
    case llvm::Intrinsic::sqrt:
      if (type.isDoubleTy() && !x.isNaN() && !x.isNegative()) {
        return from_float(APFloat(std::sqrt(x.convertToDouble())));
      }
      if (type.isFloatTy() && !x.isNaN() && !x.isNegative()) {
        return from_float(APFloat(std::sqrt(x.convertToFloat())));
      }
      return Scalar::nothing_known(operands[0]->width());
    case llvm::Intrinsic::fmuladd: {
      // The machine may round in between or not. Where that makes a difference, the result is not known.
      APFloat fused = x;
      fused.fusedMultiplyAdd(as_float(type, *operands[1]), as_float(type, *operands[2]), APFloat::rmNearestTiesToEven);
      x.multiply(as_float(type, *operands[1]), APFloat::rmNearestTiesToEven);
      x.add(as_float(type, *operands[2]), APFloat::rmNearestTiesToEven);
      return x.isNaN() || !x.bitwiseIsEqual(fused) ? Scalar::nothing_known(operands[0]->width()) : from_float(x);
    }
    default: return std::nullopt;
  }
}

std::optional<std::pair<Scalar, Scalar>> overflow_intrinsic(llvm::Intrinsic::ID id, const Scalar& a, const Scalar& b) {
  if (!a.is_known() || !b.is_known()) {
    return std::pair(Scalar::nothing_known(a.width()), Scalar::nothing_known(1));
  }
  bool overflows = false;
  APInt result(a.width(), 0);
  switch (id) {
    case llvm::Intrinsic::sadd_with_overflow: result = a.bits.sadd_ov(b.bits, overflows); break;
    case llvm::Intrinsic::uadd_with_overflow: result = a.bits.uadd_ov(b.bits, overflows); break;
    case llvm::Intrinsic::ssub_with_overflow: result = a.bits.ssub_ov(b.bits, overflows); break;
    case llvm::Intrinsic::usub_with_overflow: result = a.bits.usub_ov(b.bits, overflows); break;
    case llvm::Intrinsic::smul_with_overflow: result = a.bits.smul_ov(b.bits, overflows); break;
    case llvm::Intrinsic::umul_with_overflow: result = a.bits.umul_ov(b.bits, overflows); break;
    default: return std::nullopt;
  }
  return std::pair(Scalar::known(std::move(result)), truth(overflows));
}

}  // namespace sooth
