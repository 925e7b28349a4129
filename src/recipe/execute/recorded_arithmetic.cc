// What Arithmetic computes with recorded values only: integers of more than 64 bits, and floating point.
#include <algorithm>

#include <llvm/ADT/APSInt.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Operator.h>

#include "recipe/execute/arithmetic.h"

#include <cmath>
namespace sooth {

namespace {

using llvm::APFloat;
using llvm::APInt;
using llvm::Instruction;

// False when a cell is unknown.
bool gather(const Cell* cells, unsigned bits, APInt& value) {
  value = APInt(bits, 0);
  for (unsigned at = 0; at < bits; at += 64, ++cells) {
    if (!is_known(*cells)) {
      return false;
    }
    value.insertBits(cells->bits, at, std::min(64u, bits - at));
  }
  return true;
}

void spread(const APInt& value, Cell* cells) {
  for (unsigned at = 0; at < value.getBitWidth(); at += 64) {
    *cells++ = {value.extractBitsAsZExtValue(std::min(64u, value.getBitWidth() - at), at), kNoExpr};
  }
}

bool operate(Instruction::BinaryOps op, const APInt& a, const APInt& b, APInt& result) {
  const bool is_division =
      op == Instruction::UDiv || op == Instruction::SDiv || op == Instruction::URem || op == Instruction::SRem;
  const bool is_shift = op == Instruction::Shl || op == Instruction::LShr || op == Instruction::AShr;
  if ((is_division && b.isZero()) || (is_shift && b.uge(a.getBitWidth()))) {
    return false;
  }
  switch (op) {
    case Instruction::Add: result = a + b; return true;
    case Instruction::Sub: result = a - b; return true;
    case Instruction::Mul: result = a * b; return true;
    case Instruction::UDiv: result = a.udiv(b); return true;
    case Instruction::SDiv: result = a.sdiv(b); return true;
    case Instruction::URem: result = a.urem(b); return true;
    case Instruction::SRem: result = a.srem(b); return true;
    case Instruction::Shl: result = a.shl(b); return true;
    case Instruction::LShr: result = a.lshr(b); return true;
    case Instruction::AShr: result = a.ashr(b); return true;
    case Instruction::And: result = a & b; return true;
    case Instruction::Or: result = a | b; return true;
    case Instruction::Xor: result = a ^ b; return true;
    default: return false;
  }
}

unsigned bits_of(llvm::Type* type) {
  const llvm::TypeSize size = type->getPrimitiveSizeInBits();
  return size.isScalable() ? 0 : static_cast<unsigned>(size.getFixedValue());
}

bool load_real(llvm::Type* type, const Cell* cells, APFloat& value) {
  APInt bits;
  if (!type->isFloatingPointTy() || type->isPPC_FP128Ty() || !gather(cells, bits_of(type), bits)) {
    return false;
  }
  value = APFloat(type->getFltSemantics(), bits);
  return true;
}

bool operate(Instruction::BinaryOps op, APFloat& a, const APFloat& b) {
  constexpr auto kNearest = llvm::RoundingMode::NearestTiesToEven;
  switch (op) {
    case Instruction::FAdd: a.add(b, kNearest); return true;
    case Instruction::FSub: a.subtract(b, kNearest); return true;
    case Instruction::FMul: a.multiply(b, kNearest); return true;
    case Instruction::FDiv: a.divide(b, kNearest); return true;
    case Instruction::FRem: a.mod(b); return true;
    default: return false;
  }
}

// Processors agree on numbers, but not on which NaN an operation makes.
bool store_real(const APFloat& value, Cell* result) {
  if (value.isNaN()) {
    return false;
  }
  spread(value.bitcastToAPInt(), result);
  return true;
}

bool convert(const llvm::CastInst& cast, const Operands& operands, Cell* result) {
  llvm::Type* from = cast.getSrcTy();
  llvm::Type* to = cast.getDestTy();
  constexpr auto kNearest = llvm::RoundingMode::NearestTiesToEven;
  bool lossy = false;
  if (const bool is_signed = cast.getOpcode() == Instruction::SIToFP;
      is_signed || cast.getOpcode() == Instruction::UIToFP) {
    APInt integer;
    if (!from->isIntegerTy() || !to->isFloatingPointTy() || to->isPPC_FP128Ty() ||
        !gather(operands[0], bits_of(from), integer)) {
      return false;
    }
    APFloat value(to->getFltSemantics());
    value.convertFromAPInt(integer, is_signed, kNearest);
    return store_real(value, result);
  }
  APFloat value(0.0);
  if (!load_real(from, operands[0], value)) {
    return false;
  }
  if (const bool is_signed = cast.getOpcode() == Instruction::FPToSI;
      is_signed || cast.getOpcode() == Instruction::FPToUI) {
    if (!to->isIntegerTy()) {
      return false;
    }
    llvm::APSInt integer(bits_of(to), !is_signed);
    if (value.convertToInteger(integer, llvm::RoundingMode::TowardZero, &lossy) == APFloat::opInvalidOp) {
      return false;
    }
    spread(integer, result);
    return true;
  }
  if (!to->isFloatingPointTy() || to->isPPC_FP128Ty()) {
    return false;
  }
  value.convert(to->getFltSemantics(), kNearest, &lossy);
  return store_real(value, result);
}

}  // namespace

bool Arithmetic::wide(const Instruction& instruction, const Operands& operands, Cell* result) {
  llvm::Type* type = instruction.getOperand(0)->getType();
  APInt a;
  APInt b;
  if (llvm::isa<llvm::CastInst>(instruction)) {
    // A cast of a whole value, bits for bits: through memory order, which is that of the bits.
    llvm::Type* to = instruction.getType();
    const unsigned from_bits = bits_of(type);
    const unsigned to_bits = bits_of(to);
    const Layout& shape = layout(instruction, type);
    const Layout& made = layout(instruction, to);
    if (from_bits == 0 || to_bits == 0 || !shape.is_in_bytes || !made.is_in_bytes) {
      return false;
    }
    a = APInt(from_bits, 0);
    for (std::size_t i = 0; i < shape.leaves.size(); ++i) {
      if (!is_known(operands[0][i])) {
        return false;
      }
      a.insertBits(operands[0][i].bits, shape.leaves[i].offset * 8, shape.leaves[i].bits);
    }
    const bool is_signed = instruction.getOpcode() == Instruction::SExt;
    a = is_signed ? a.sextOrTrunc(to_bits) : a.zextOrTrunc(to_bits);
    for (std::size_t i = 0; i < made.leaves.size(); ++i) {
      result[i] = {a.extractBitsAsZExtValue(made.leaves[i].bits, made.leaves[i].offset * 8), kNoExpr};
    }
    return true;
  }
  if (!type->isIntegerTy() || !gather(operands[0], bits_of(type), a) || !gather(operands[1], bits_of(type), b)) {
    return false;
  }
  if (const auto* comparison = llvm::dyn_cast<llvm::ICmpInst>(&instruction)) {
    *result = {llvm::ICmpInst::compare(a, b, comparison->getPredicate()) ? 1u : 0u, kNoExpr};
    return true;
  }
  APInt value;
  const auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(&instruction);
  if (operation == nullptr || !operate(operation->getOpcode(), a, b, value)) {
    return false;
  }
  spread(value, result);
  return true;
}

namespace {

// The name of the function of a double that the call computes, however it is called.
llvm::StringRef real_function_name(const llvm::CallBase& call) {
  llvm::Type* type = call.getType();
  const bool all_same = std::all_of(call.arg_begin(), call.arg_end(),
                                    [&](const llvm::Use& argument) { return argument->getType() == type; });
  const llvm::Function* callee = call.getCalledFunction();
  if (callee == nullptr || !all_same || (!type->isDoubleTy() && !type->isFloatTy())) {
    return "";
  }
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::sqrt: return "sqrt";
    case llvm::Intrinsic::fabs: return "fabs";
    case llvm::Intrinsic::floor: return "floor";
    case llvm::Intrinsic::ceil: return "ceil";
    case llvm::Intrinsic::trunc: return "trunc";
    case llvm::Intrinsic::fmuladd: return "fmuladd";
    case llvm::Intrinsic::not_intrinsic: break;
    default: return "";
  }
  llvm::StringRef name = callee->isDeclaration() ? callee->getName() : "";
  if (type->isFloatTy() && !name.consume_back("f")) {
    return "";
  }
  static constexpr llvm::StringLiteral kNames[] = {"sqrt", "fabs", "floor", "ceil", "trunc"};
  const auto* known = std::find(std::begin(kNames), std::end(kNames), name);
  return known == std::end(kNames) ? llvm::StringRef() : llvm::StringRef(*known);
}

}  // namespace

bool Arithmetic::is_exact_function(const llvm::CallBase& call) { return !real_function_name(call).empty(); }

bool Arithmetic::real_function(const llvm::CallBase& call, const Operands& operands, Cell* result) {
  constexpr auto kNearest = llvm::RoundingMode::NearestTiesToEven;
  const llvm::StringRef name = real_function_name(call);
  APFloat value(0.0);
  if (name.empty() || !load_real(call.getType(), operands[0], value) || value.isNaN()) {
    return false;
  }
  if (name == "sqrt") {
    if (value.isNegative()) {
      return false;
    }
    value = call.getType()->isDoubleTy() ? APFloat(std::sqrt(value.convertToDouble()))
                                         : APFloat(std::sqrt(value.convertToFloat()));
  } else if (name == "fabs") {
    value.clearSign();
  } else if (name == "fmuladd") {
    // The machine may round in between or not.
    APFloat factor(0.0), summand(0.0);
    if (!load_real(call.getType(), operands[1], factor) || !load_real(call.getType(), operands[2], summand)) {
      return false;
    }
    APFloat fused = value;
    fused.fusedMultiplyAdd(factor, summand, kNearest);
    value.multiply(factor, kNearest);
    value.add(summand, kNearest);
    if (value.isNaN() || !value.bitwiseIsEqual(fused)) {
      return false;
    }
  } else {
    value.roundToIntegral(name == "floor"  ? llvm::RoundingMode::TowardNegative
                          : name == "ceil" ? llvm::RoundingMode::TowardPositive
                                           : llvm::RoundingMode::TowardZero);
  }
  return store_real(value, result);
}

bool Arithmetic::real(const Instruction& instruction, const Operands& operands, Cell* result) {
  if (llvm::isa<llvm::FPMathOperator>(instruction) && instruction.getFastMathFlags().any()) {
    return false;  // what the machine computes is then up to the optimiser
  }
  if (const auto* conversion = llvm::dyn_cast<llvm::CastInst>(&instruction)) {
    return convert(*conversion, operands, result);
  }
  if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
    return real_function(*call, operands, result);
  }
  llvm::Type* type = instruction.getOperand(0)->getType();
  APFloat a(0.0);
  APFloat b(0.0);
  if (!load_real(type, operands[0], a)) {
    return false;
  }
  if (instruction.getOpcode() == Instruction::FNeg) {
    a.changeSign();
    spread(a.bitcastToAPInt(), result);
    return true;
  }
  if (!load_real(type, operands[1], b)) {
    return false;
  }
  if (const auto* comparison = llvm::dyn_cast<llvm::FCmpInst>(&instruction)) {
    *result = {llvm::FCmpInst::compare(a, b, comparison->getPredicate()) ? 1u : 0u, kNoExpr};
    return true;
  }
  const auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(&instruction);
  return operation != nullptr && operate(operation->getOpcode(), a, b) && store_real(a, result);
}

}  // namespace sooth
