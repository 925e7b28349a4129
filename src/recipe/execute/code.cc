#include "recipe/execute/code.h"

#include <algorithm>
#include <utility>

#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>

namespace sooth {

namespace {

constexpr std::uint32_t kMostCells = 1u << 16;  // of one value: a larger one is a mistake or an attack

std::uint64_t cut(std::uint64_t value, std::uint64_t bits) {
  return bits >= 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
}

void append_words(const llvm::APInt& value, std::vector<Cell>& cells) {
  for (unsigned at = 0; at < value.getBitWidth(); at += 64) {
    cells.push_back({value.extractBitsAsZExtValue(std::min(64u, value.getBitWidth() - at), at), kNoExpr});
  }
}

}  // namespace

void CodeTable::add_leaves(const llvm::DataLayout& data, llvm::Type* type, std::uint64_t offset, Layout& layout) {
  if (layout.leaves.size() > kMostCells) {
    return;
  }
  if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) {
    const llvm::StructLayout* places = data.getStructLayout(structure);
    for (unsigned i = 0; i < structure->getNumElements(); ++i) {
      add_leaves(data, structure->getElementType(i), offset + places->getElementOffset(i).getFixedValue(), layout);
    }
  } else if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) {
    const std::uint64_t stride = data.getTypeAllocSize(array->getElementType()).getFixedValue();
    for (std::uint64_t i = 0; i < array->getNumElements() && layout.leaves.size() <= kMostCells; ++i) {
      add_leaves(data, array->getElementType(), offset + i * stride, layout);
    }
  } else if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) {
    const std::uint64_t bits = data.getTypeSizeInBits(vector->getElementType()).getFixedValue();
    layout.is_in_bytes = layout.is_in_bytes && bits % 8 == 0;
    for (std::uint64_t i = 0; i < vector->getNumElements(); ++i) {
      add_leaves(data, vector->getElementType(), offset + i * bits / 8, layout);
    }
  } else if (type->isSized() && !type->isScalableTy()) {
    const std::uint64_t bits = data.getTypeSizeInBits(type).getFixedValue();
    for (std::uint64_t at = 0; at < bits; at += 64) {
      layout.leaves.push_back({static_cast<std::uint32_t>(offset + at / 8),
                               static_cast<std::uint32_t>(std::min<std::uint64_t>(64, bits - at))});
    }
  }
}

const Layout& CodeTable::layout(const llvm::Module& module, llvm::Type* type) {
  std::unique_ptr<Layout>& known = layouts_[type];
  if (known == nullptr) {
    auto made = std::make_unique<Layout>();
    if (type->isSized() && !type->isScalableTy()) {
      add_leaves(module.getDataLayout(), type, 0, *made);
      made->bytes = module.getDataLayout().getTypeStoreSize(type).getFixedValue();
    }
    known = std::move(made);
  }
  return *known;
}

std::uint32_t CodeTable::cells_before(const llvm::Module& module, llvm::Type* type, std::span<const unsigned> path) {
  std::uint32_t before = 0;
  for (const unsigned index : path) {
    if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) {
      for (unsigned i = 0; i < index; ++i) {
        before += static_cast<std::uint32_t>(layout(module, structure->getElementType(i)).leaves.size());
      }
      type = structure->getElementType(index);
    } else {
      type = type->getContainedType(0);
      before += index * static_cast<std::uint32_t>(layout(module, type).leaves.size());
    }
  }
  return before;
}

void CodeTable::constant_expression(std::uint32_t module, const llvm::ConstantExpr& expression,
                                    std::vector<Cell>& cells) {
  const llvm::DataLayout& data = program_.module(module).getDataLayout();
  const Layout& result = layout(program_.module(module), expression.getType());
  std::vector<Cell> operands;
  for (const llvm::Use& operand : expression.operands()) {
    constant(module, *llvm::cast<llvm::Constant>(operand.get()), operands);
  }
  const auto unknown = [&] { cells.resize(cells.size() + result.leaves.size(), Cell{0, kUnknownExpr}); };
  if (result.leaves.size() != 1 || operands.empty() || !std::all_of(operands.begin(), operands.end(), is_known)) {
    return unknown();
  }
  const std::uint64_t first = operands[0].bits;
  const std::uint64_t second = operands.size() > 1 ? operands[1].bits : 0;
  std::uint64_t value = 0;
  switch (expression.getOpcode()) {
    case llvm::Instruction::GetElementPtr: {
      llvm::APInt offset(64, 0);
      if (!llvm::cast<llvm::GEPOperator>(&expression)->accumulateConstantOffset(data, offset)) {
        return unknown();
      }
      value = first + offset.getZExtValue();
      break;
    }
    case llvm::Instruction::PtrToInt:
    case llvm::Instruction::IntToPtr:
    case llvm::Instruction::BitCast:
    case llvm::Instruction::AddrSpaceCast:
    case llvm::Instruction::Trunc: value = first; break;
    case llvm::Instruction::Add: value = first + second; break;
    case llvm::Instruction::Sub: value = first - second; break;
    case llvm::Instruction::Mul: value = first * second; break;
    case llvm::Instruction::Xor: value = first ^ second; break;
    default: return unknown();
  }
  cells.push_back({cut(value, result.leaves[0].bits), kNoExpr});
}

void CodeTable::constant(std::uint32_t module, const llvm::Constant& constant, std::vector<Cell>& cells) {
  const std::size_t leaves = layout(program_.module(module), constant.getType()).leaves.size();
  if (const auto* integer = llvm::dyn_cast<llvm::ConstantInt>(&constant);
      integer != nullptr && !integer->getType()->isVectorTy()) {
    append_words(integer->getValue(), cells);
  } else if (const auto* real = llvm::dyn_cast<llvm::ConstantFP>(&constant);
             real != nullptr && !real->getType()->isVectorTy()) {
    append_words(real->getValueAPF().bitcastToAPInt(), cells);
  } else if (constant.isNullValue()) {
    cells.resize(cells.size() + leaves);
  } else if (const auto* global = llvm::dyn_cast<llvm::GlobalValue>(&constant)) {
    const std::optional<std::uint64_t> address = program_.address(module, *global);
    cells.push_back({address.value_or(0), address ? kNoExpr : kUnknownExpr});
  } else if (const auto* expression = llvm::dyn_cast<llvm::ConstantExpr>(&constant)) {
    constant_expression(module, *expression, cells);
  } else if (const auto* data = llvm::dyn_cast<llvm::ConstantDataSequential>(&constant)) {
    for (unsigned i = 0; i < data->getNumElements(); ++i) {
      this->constant(module, *data->getElementAsConstant(i), cells);
    }
  } else if (llvm::isa<llvm::ConstantAggregate>(constant)) {
    for (const llvm::Use& element : constant.operands()) {
      this->constant(module, *llvm::cast<llvm::Constant>(element.get()), cells);
    }
  } else {  // undefined values, addresses of blocks
    cells.resize(cells.size() + leaves, Cell{0, kUnknownExpr});
  }
}

void CodeTable::number_values(const llvm::Function& function, FunctionCode& code,
                              llvm::DenseMap<const llvm::Value*, std::uint32_t>& places) {
  const llvm::Module& module = *function.getParent();
  for (const llvm::Argument& argument : function.args()) {
    code.arguments.push_back(code.cells);
    places[&argument] = code.cells;
    code.cells += static_cast<std::uint32_t>(layout(module, argument.getType()).leaves.size());
  }
  for (const llvm::BasicBlock& block : function) {
    code.blocks[&block] = static_cast<std::uint32_t>(code.steps.size());
    for (const llvm::Instruction& instruction : block) {
      if (llvm::isa<llvm::DbgInfoIntrinsic>(instruction)) {
        continue;
      }
      code.steps.push_back({&instruction, code.cells, 0});
      places[&instruction] = code.cells;
      code.cells += static_cast<std::uint32_t>(layout(module, instruction.getType()).leaves.size());
    }
  }
}

const FunctionCode& CodeTable::function(const llvm::Function& function) {
  std::unique_ptr<FunctionCode>& known = functions_[&function];
  if (known != nullptr) {
    return *known;
  }
  auto code = std::make_unique<FunctionCode>();
  code->module = program_.place(function).module;
  code->number = program_.function_number(function);
  code->function = &function;
  llvm::DenseMap<const llvm::Value*, std::uint32_t> places;
  number_values(function, *code, places);
  llvm::DenseMap<const llvm::Constant*, Slot> constants;
  for (Step& step : code->steps) {
    step.operands = static_cast<std::uint32_t>(code->slots.size());
    for (const llvm::Use& operand : step.instruction->operands()) {
      Slot slot = 0;
      if (const auto* constant = llvm::dyn_cast<llvm::Constant>(operand.get())) {
        const auto [at, is_new] = constants.try_emplace(constant, ~static_cast<Slot>(code->constants.size()));
        if (is_new) {
          this->constant(code->module, *constant, code->constants);
        }
        slot = at->second;
      } else if (const auto place = places.find(operand.get()); place != places.end()) {
        slot = static_cast<Slot>(place->second);
      }
      code->slots.push_back(slot);
    }
  }
  known = std::move(code);
  return *known;
}

const FunctionCode* CodeTable::function(std::uint32_t module, std::uint32_t number) {
  const llvm::Function* found = program_.function(module, number);
  return found == nullptr ? nullptr : &function(*found);
}

}  // namespace sooth
