#include "recipe/judge/concrete_ops.h"

#include <algorithm>
#include <utility>

#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/GlobalAlias.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include "recipe/judge/concrete_arithmetic.h"

namespace sooth {
namespace {

using llvm::APInt;
using llvm::Instruction;

constexpr unsigned kMaxDepth = 64;  // of nested constants

// Leaves of the parts of an aggregate that stand in front of the one that `indices` name.
std::optional<std::pair<std::size_t, llvm::Type*>> leaf_of_part(std::uint32_t module, ConcreteOps& ops,
                                                                llvm::Type* type, llvm::ArrayRef<unsigned> indices) {
  std::size_t first = 0;
  for (const unsigned index : indices) {
    if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) {
      for (unsigned i = 0; i < index; ++i) {
        const TypeShape* shape = ops.shape(module, structure->getElementType(i));
        if (shape == nullptr) {
          return std::nullopt;
        }
        first += shape->leaves.size();
      }
      type = structure->getElementType(index);
    } else if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) {
      type = array->getElementType();
      const TypeShape* shape = ops.shape(module, type);
      if (shape == nullptr) {
        return std::nullopt;
      }
      first += index * shape->leaves.size();
    } else {
      return std::nullopt;
    }
  }
  return std::pair(first, type);
}

}  // namespace

ConcreteOps::ConcreteOps(const DeepProgram& program) : program_(program) {
  for (std::uint32_t m = 0; m < program.modules(); ++m) {
    layouts_.push_back(std::make_unique<llvm::DataLayout>(program.module(m).getDataLayout()));
  }
}

const ExceptionTypes& ConcreteOps::exception_types() {
  if (exception_types_ == nullptr) {
    exception_types_ = std::make_unique<const ExceptionTypes>(program_);
  }
  return *exception_types_;
}

std::optional<DeepProgram::Place> ConcreteOps::definition(llvm::StringRef name) {
  if (definitions_.empty()) {
    for (std::uint32_t m = 0; m < program_.modules(); ++m) {
      for (const llvm::Function& function : program_.module(m)) {
        if (!function.isDeclaration() && !function.hasLocalLinkage() && !function.isInterposable()) {
          definitions_.try_emplace(function.getName(), DeepProgram::Place{m, &function});
        }
      }
    }
  }
  const auto found = definitions_.find(name);
  return found != definitions_.end() ? std::optional(found->second) : std::nullopt;
}

bool ConcreteOps::is_standard_stream(std::uint64_t address) const {
  for (std::uint32_t m = 0; m < program_.modules(); ++m) {
    for (const char* name : {"_ZSt4cout", "_ZSt4cerr", "_ZSt4clog"}) {
      const llvm::GlobalVariable* stream = program_.module(m).getNamedGlobal(name);
      if (stream != nullptr && program_.address(m, *stream) == address) {
        return true;
      }
    }
  }
  return false;
}

const Concrete* ConcreteOps::constant(std::uint32_t module, const llvm::Constant& constant) {
  const auto found = constants_.find(&constant);
  if (found != constants_.end()) {
    return found->second.get();
  }
  std::optional<Concrete> value = make_constant(module, constant, 0);
  auto kept = value ? std::make_unique<Concrete>(std::move(*value)) : nullptr;
  return constants_.try_emplace(&constant, std::move(kept)).first->second.get();
}

std::optional<Concrete> ConcreteOps::make_constant(std::uint32_t module, const llvm::Constant& constant,
                                                   unsigned depth) {
  const TypeShape* shape = this->shape(module, constant.getType());
  if (shape == nullptr || depth > kMaxDepth) {
    return std::nullopt;
  }
  if (llvm::isa<llvm::UndefValue>(constant)) {
    return nothing_known(*shape);
  }
  if (constant.isNullValue()) {
    Concrete zeros;
    for (const Leaf& leaf : shape->leaves) {
      zeros.push_back(Scalar::known(APInt::getZero(leaf.bits)));
    }
    return zeros;
  }
  if (const auto* integer = llvm::dyn_cast<llvm::ConstantInt>(&constant)) {
    return Concrete(shape->leaves.size(), Scalar::known(integer->getValue()));
  }
  if (const auto* number = llvm::dyn_cast<llvm::ConstantFP>(&constant)) {
    return Concrete(shape->leaves.size(), Scalar::known(number->getValueAPF().bitcastToAPInt()));
  }
  if (const auto* global = llvm::dyn_cast<llvm::GlobalValue>(&constant)) {
    const std::optional<std::uint64_t> address = program_.address(module, *global);
    return Concrete(1, address ? Scalar::known(APInt(shape->leaves[0].bits, *address))
                               : Scalar::nothing_known(shape->leaves[0].bits));
  }
  if (llvm::isa<llvm::ConstantExpr>(constant)) {
    return make_expression(module, constant, depth);
  }
  return make_aggregate(module, constant, depth);
}

std::optional<Concrete> ConcreteOps::make_aggregate(std::uint32_t module, const llvm::Constant& constant,
                                                    unsigned depth) {
  Concrete all;
  if (const auto* data = llvm::dyn_cast<llvm::ConstantDataSequential>(&constant)) {
    const bool floats = data->getElementType()->isFloatingPointTy();
    for (unsigned i = 0; i < data->getNumElements(); ++i) {
      all.push_back(Scalar::known(floats ? data->getElementAsAPFloat(i).bitcastToAPInt() : data->getElementAsAPInt(i)));
    }
    return all;
  }
  if (!llvm::isa<llvm::ConstantAggregate>(constant)) {
    return std::nullopt;
  }
  for (const llvm::Use& operand : constant.operands()) {
    const std::optional<Concrete> part = make_constant(module, *llvm::cast<llvm::Constant>(operand.get()), depth + 1);
    if (!part) {
      return std::nullopt;
    }
    all.append(part->begin(), part->end());
  }
  return all;
}

std::optional<Concrete> ConcreteOps::make_expression(std::uint32_t module, const llvm::Constant& constant,
                                                     unsigned depth) {
  std::vector<Concrete> values;
  for (const llvm::Use& operand : constant.operands()) {
    std::optional<Concrete> value = make_constant(module, *llvm::cast<llvm::Constant>(operand.get()), depth + 1);
    if (!value) {
      return std::nullopt;
    }
    values.push_back(std::move(*value));
  }
  llvm::SmallVector<const Concrete*, 4> operands;
  for (const Concrete& value : values) {
    operands.push_back(&value);
  }
  return apply(module, *llvm::cast<llvm::Operator>(&constant), operands);
}

std::optional<Concrete> ConcreteOps::apply(std::uint32_t module, const llvm::Operator& operation, Operands operands) {
  const unsigned opcode = operation.getOpcode();
  if (Instruction::isBinaryOp(opcode) || opcode == Instruction::FNeg) {
    return binary(operation, operands);
  }
  if (Instruction::isCast(opcode)) {
    return cast(module, operation, *operands[0]);
  }
  switch (opcode) {
    case Instruction::ICmp:
    case Instruction::FCmp: {
      const auto* compare = llvm::dyn_cast<llvm::CmpInst>(&operation);
      if (compare == nullptr) {
        return std::nullopt;
      }
      const llvm::Type& type = *compare->getOperand(0)->getType()->getScalarType();
      Concrete result;
      for (std::size_t i = 0; i < operands[0]->size(); ++i) {
        const Scalar& a = (*operands[0])[i];
        const Scalar& b = (*operands[1])[i];
        result.push_back(opcode == Instruction::ICmp ? compare_integers(compare->getPredicate(), a, b)
                                                     : compare_floats(compare->getPredicate(), type, a, b));
      }
      return result;
    }
    case Instruction::Select: {
      const Concrete& choice = *operands[0];
      Concrete result = *operands[1];
      for (std::size_t i = 0; i < result.size(); ++i) {
        const Scalar& chosen = choice[choice.size() == 1 ? 0 : i];
        const Scalar& other = (*operands[2])[i];
        if (!chosen.is_known()) {
          result[i] = result[i] == other ? other : Scalar::nothing_known(other.width());
        } else if (chosen.bits.isZero()) {
          result[i] = other;
        }
      }
      return result;
    }
    // What it makes of unknown bits is the compiler's choice, and the same for all uses: unknown bits stay so.
    case Instruction::Freeze: return *operands[0];
    case Instruction::GetElementPtr: return element_address(module, operation, operands);
    case Instruction::ExtractValue:
    case Instruction::InsertValue: return part(module, operation, operands);
    case Instruction::ExtractElement:
    case Instruction::InsertElement:
    case Instruction::ShuffleVector: return lane(module, operation, operands);
    default: return std::nullopt;
  }
}

std::optional<Concrete> ConcreteOps::binary(const llvm::Operator& operation, Operands operands) {
  const unsigned opcode = operation.getOpcode();
  const llvm::Type& type = *operation.getType()->getScalarType();
  const Concrete& b = *operands[opcode == Instruction::FNeg ? 0 : 1];
  Concrete result;
  for (std::size_t i = 0; i < operands[0]->size(); ++i) {
    std::optional<Scalar> scalar = type.isFloatingPointTy() ? float_operation(opcode, type, (*operands[0])[i], b[i])
                                                            : integer_operation(opcode, (*operands[0])[i], b[i]);
    if (!scalar) {
      return std::nullopt;
    }
    result.push_back(std::move(*scalar));
  }
  return result;
}

std::optional<Concrete> ConcreteOps::cast(std::uint32_t module, const llvm::Operator& operation, const Concrete& from) {
  llvm::Type* source = operation.getOperand(0)->getType();
  const TypeShape* from_shape = shape(module, source);
  const TypeShape* to_shape = shape(module, operation.getType());
  if (from_shape == nullptr || to_shape == nullptr) {
    return std::nullopt;
  }
  const unsigned opcode = operation.getOpcode();
  if (opcode == Instruction::AddrSpaceCast) {
    return std::nullopt;
  }
  if (opcode == Instruction::BitCast) {
    if (from_shape->leaves.size() == 1 && to_shape->leaves.size() == 1) {
      return from;
    }
    if (!from_shape->in_memory || !to_shape->in_memory || from_shape->bytes != to_shape->bytes) {
      return std::nullopt;
    }
    return from_bytes(*to_shape, to_bytes(*from_shape, from));
  }
  Concrete result;
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::optional<Scalar> scalar = cast_scalar(opcode, *source->getScalarType(), *operation.getType()->getScalarType(),
                                               to_shape->leaves[i].bits, from[i]);
    if (!scalar) {
      return std::nullopt;
    }
    result.push_back(std::move(*scalar));
  }
  return result;
}

std::optional<Concrete> ConcreteOps::element_address(std::uint32_t module, const llvm::Operator& operation,
                                                     Operands operands) {
  const auto& gep = llvm::cast<llvm::GEPOperator>(operation);
  if (gep.getType()->isVectorTy()) {
    return std::nullopt;
  }
  const llvm::DataLayout& layout = *layouts_[module];
  Scalar address = (*operands[0])[0];
  const unsigned width = address.width();
  std::size_t at = 1;
  for (auto step = llvm::gep_type_begin(gep); step != llvm::gep_type_end(gep); ++step, ++at) {
    const Scalar& index = (*operands[at])[0];
    Scalar offset = Scalar::nothing_known(width);
    if (llvm::StructType* structure = step.getStructTypeOrNull()) {
      const auto field = static_cast<unsigned>(index.bits.getZExtValue());
      offset = Scalar::known(APInt(width, layout.getStructLayout(structure)->getElementOffset(field).getFixedValue()));
    } else {
      const llvm::TypeSize stride = step.getSequentialElementStride(layout);
      if (stride.isScalable()) {
        return std::nullopt;
      }
      const Scalar wide = Scalar::of(index.known_bits().sextOrTrunc(width));
      offset = *integer_operation(Instruction::Mul, wide, Scalar::known(APInt(width, stride.getFixedValue())));
    }
    address = *integer_operation(Instruction::Add, address, offset);
  }
  return Concrete(1, std::move(address));
}

std::optional<Concrete> ConcreteOps::part(std::uint32_t module, const llvm::Operator& operation, Operands operands) {
  llvm::ArrayRef<unsigned> indices;
  if (const auto* extract = llvm::dyn_cast<llvm::ExtractValueInst>(&operation)) {
    indices = extract->getIndices();
  } else if (const auto* insert = llvm::dyn_cast<llvm::InsertValueInst>(&operation)) {
    indices = insert->getIndices();
  }
  const auto found = leaf_of_part(module, *this, operation.getOperand(0)->getType(), indices);
  const TypeShape* shape = found ? this->shape(module, found->second) : nullptr;
  if (shape == nullptr) {
    return std::nullopt;
  }
  const auto first = static_cast<std::ptrdiff_t>(found->first);
  const auto count = static_cast<std::ptrdiff_t>(shape->leaves.size());
  if (operation.getOpcode() == Instruction::ExtractValue) {
    return Concrete(operands[0]->begin() + first, operands[0]->begin() + first + count);
  }
  Concrete result = *operands[0];
  std::copy(operands[1]->begin(), operands[1]->end(), result.begin() + first);
  return result;
}

std::optional<Concrete> ConcreteOps::lane(std::uint32_t module, const llvm::Operator& operation, Operands operands) {
  const TypeShape* shape = this->shape(module, operation.getType());
  if (shape == nullptr) {
    return std::nullopt;
  }
  const Concrete& vector = *operands[0];
  if (const auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(&operation)) {
    Concrete result;
    for (const int from : shuffle->getShuffleMask()) {
      const auto lane = static_cast<std::size_t>(from);
      result.push_back(from < 0 ? Scalar::nothing_known(shape->leaves[0].bits)
                                : (lane < vector.size() ? vector[lane] : (*operands[1])[lane - vector.size()]));
    }
    return result;
  }
  const bool inserts = operation.getOpcode() == Instruction::InsertElement;
  const Scalar& index = (*operands[inserts ? 2 : 1])[0];
  if (!index.is_known() || index.bits.uge(vector.size())) {
    return nothing_known(*shape);
  }
  const std::uint64_t lane = index.bits.getZExtValue();
  if (!inserts) {
    return Concrete(1, vector[lane]);
  }
  Concrete result = vector;
  result[lane] = (*operands[1])[0];
  return result;
}

std::optional<Concrete> ConcreteOps::intrinsic(std::uint32_t module, const llvm::IntrinsicInst& call,
                                               Operands operands) {
  const llvm::Intrinsic::ID id = call.getIntrinsicID();
  switch (id) {
    case llvm::Intrinsic::lifetime_start:
    case llvm::Intrinsic::lifetime_end:
    case llvm::Intrinsic::invariant_end:
    case llvm::Intrinsic::assume:
    case llvm::Intrinsic::donothing:
    case llvm::Intrinsic::prefetch:
    case llvm::Intrinsic::stackrestore:
    case llvm::Intrinsic::var_annotation:
    case llvm::Intrinsic::experimental_noalias_scope_decl:
    // What they write has no event: reading it is reading what code that is not recorded wrote.
    case llvm::Intrinsic::vastart:
    case llvm::Intrinsic::vacopy:
    case llvm::Intrinsic::vaend: return Concrete();
    case llvm::Intrinsic::expect:
    case llvm::Intrinsic::expect_with_probability:
    case llvm::Intrinsic::launder_invariant_group:
    case llvm::Intrinsic::strip_invariant_group:
    case llvm::Intrinsic::ptr_annotation:
    case llvm::Intrinsic::annotation:
    case llvm::Intrinsic::ssa_copy: return *operands[0];
    default: break;
  }
  if (llvm::isa<llvm::WithOverflowInst>(call) && call.getOperand(0)->getType()->isIntegerTy()) {
    const auto both = overflow_intrinsic(id, (*operands[0])[0], (*operands[1])[0]);
    return both ? std::optional(Concrete{both->first, both->second}) : std::nullopt;
  }
  const TypeShape* shape = this->shape(module, call.getType());
  if (shape == nullptr || call.getType()->isStructTy() || call.getType()->isVoidTy()) {
    return std::nullopt;
  }
  const llvm::Type& type = *call.getType()->getScalarType();
  Concrete result;
  for (std::size_t i = 0; i < shape->leaves.size(); ++i) {
    llvm::SmallVector<const Scalar*, 3> scalars;
    for (const Concrete* operand : operands) {
      if (operand->empty()) {
        return std::nullopt;
      }
      scalars.push_back(&(*operand)[operand->size() == shape->leaves.size() ? i : 0]);
    }
    std::optional<Scalar> scalar = scalars.empty()                                ? std::nullopt
                                   : scalars[0]->width() != shape->leaves[i].bits ? std::nullopt
                                   : type.isFloatingPointTy()                     ? float_intrinsic(id, type, scalars)
                                   : type.isIntegerTy()                           ? integer_intrinsic(id, scalars)
                                                                                  : std::nullopt;
    if (!scalar) {
      return call.doesNotAccessMemory() ? std::optional(nothing_known(*shape)) : std::nullopt;
    }
    result.push_back(std::move(*scalar));
  }
  return result;
}

}  // namespace sooth
