#include "recipe/judge/concrete_memory.h"

#include <algorithm>

#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Module.h>

namespace sooth {
namespace {

// A byte of the bits of a number; what is no whole number of bytes is extended with zeros.
std::uint8_t byte_of(const llvm::APInt& bits, std::uint64_t offset) {
  const std::uint64_t low = offset * 8;
  if (low >= bits.getBitWidth()) {
    return 0;
  }
  const unsigned count = std::min<unsigned>(8, bits.getBitWidth() - static_cast<unsigned>(low));
  return static_cast<std::uint8_t>(bits.extractBitsAsZExtValue(count, static_cast<unsigned>(low)));
}

// The address of a global of the module, or of a place in one.
std::optional<std::uint64_t> address_of(const llvm::Constant& pointer, const llvm::DataLayout& layout,
                                        const DeepProgram& program, std::uint32_t module) {
  llvm::APInt distance(layout.getIndexTypeSizeInBits(pointer.getType()), 0);
  const auto* global =
      llvm::dyn_cast<llvm::GlobalValue>(pointer.stripAndAccumulateConstantOffsets(layout, distance, true));
  const std::optional<std::uint64_t> begin = global != nullptr ? program.address(module, *global) : std::nullopt;
  return begin ? std::optional(*begin + static_cast<std::uint64_t>(distance.getSExtValue())) : std::nullopt;
}

// The byte `offset` of a constant of the module as it lies in memory.
std::optional<std::uint8_t> byte_of(const llvm::Constant* constant, const llvm::DataLayout& layout,
                                    std::uint64_t offset, const DeepProgram& program, std::uint32_t module) {
  for (;;) {
    // Files have zeros where nothing is said.
    if (constant->isNullValue() || llvm::isa<llvm::UndefValue>(constant)) {
      return std::uint8_t{0};
    }
    if (const auto* integer = llvm::dyn_cast<llvm::ConstantInt>(constant)) {
      return byte_of(integer->getValue(), offset);
    }
    if (const auto* number = llvm::dyn_cast<llvm::ConstantFP>(constant)) {
      return byte_of(number->getValueAPF().bitcastToAPInt(), offset);
    }
    if (const auto* data = llvm::dyn_cast<llvm::ConstantDataSequential>(constant)) {
      const std::uint64_t size = data->getElementByteSize();
      const auto index = static_cast<unsigned>(offset / size);
      if (index >= data->getNumElements()) {
        return std::nullopt;
      }
      return byte_of(data->getElementType()->isFloatingPointTy() ? data->getElementAsAPFloat(index).bitcastToAPInt()
                                                                 : data->getElementAsAPInt(index),
                     offset % size);
    }
    if (const auto* structure = llvm::dyn_cast<llvm::ConstantStruct>(constant)) {
      const llvm::StructLayout* fields = layout.getStructLayout(structure->getType());
      const unsigned field = fields->getElementContainingOffset(offset);
      offset -= fields->getElementOffset(field).getFixedValue();
      constant = structure->getOperand(field);
      if (offset >= layout.getTypeStoreSize(constant->getType()).getFixedValue()) {
        return std::uint8_t{0};  // padding, which files fill with zeros
      }
    } else if (const auto* array = llvm::dyn_cast<llvm::ConstantArray>(constant)) {
      const std::uint64_t size = layout.getTypeAllocSize(array->getType()->getElementType()).getFixedValue();
      if (offset / size >= array->getNumOperands()) {
        return std::nullopt;
      }
      constant = array->getOperand(static_cast<unsigned>(offset / size));
      offset %= size;
    } else if (constant->getType()->isPointerTy()) {
      const std::optional<std::uint64_t> address = address_of(*constant, layout, program, module);
      return address ? std::optional(byte_of(llvm::APInt(64, *address), offset)) : std::nullopt;
    } else {
      return std::nullopt;
    }
  }
}

}  // namespace

GlobalContents::GlobalContents(const DeepProgram& program) : program_(&program) {
  for (std::uint32_t m = 0; m < program.modules(); ++m) {
    layouts_.push_back(std::make_unique<llvm::DataLayout>(program.module(m).getDataLayout()));
    for (const llvm::GlobalVariable& global : program.module(m).globals()) {
      if (!global.hasDefinitiveInitializer() || global.isThreadLocal() || !global.getValueType()->isSized()) {
        continue;
      }
      const std::optional<std::uint64_t> address = program.address(m, global);
      const std::uint64_t size = layouts_[m]->getTypeAllocSize(global.getValueType()).getFixedValue();
      if (address && size != 0) {
        variables_.push_back({*address, size, m, &global});
      }
    }
  }
  std::stable_sort(variables_.begin(), variables_.end(),
                   [](const Variable& a, const Variable& b) { return a.address < b.address; });
}

const GlobalContents::Variable* GlobalContents::find(std::uint64_t address) const {
  auto after = std::upper_bound(variables_.begin(), variables_.end(), address,
                                [](std::uint64_t a, const Variable& v) { return a < v.address; });
  if (after == variables_.begin()) {
    return nullptr;
  }
  const Variable& variable = *--after;
  return address - variable.address < variable.size ? &variable : nullptr;
}

std::optional<std::pair<std::uint64_t, std::uint64_t>> GlobalContents::variable_around(std::uint64_t address) const {
  const Variable* variable = find(address);
  return variable != nullptr ? std::optional(std::pair(variable->address, variable->size)) : std::nullopt;
}

std::optional<std::uint8_t> GlobalContents::byte(std::uint64_t address) const {
  const Variable* variable = find(address);
  if (variable == nullptr) {
    return std::nullopt;
  }
  return byte_of(variable->global->getInitializer(), *layouts_[variable->module], address - variable->address,
                 *program_, variable->module);
}

ConcreteByte FirstContents::byte(bool allocated, std::uint64_t address) const {
  if (const auto* granule = learnt_[allocated ? 1 : 0].find(address / 8);
      granule != nullptr && ((*granule)[address % 8] & kKnown) != 0) {
    return {static_cast<std::uint8_t>((*granule)[address % 8]), 0};
  }
  const std::optional<std::uint8_t> value = allocated ? std::nullopt : globals_.byte(address);
  return value ? ConcreteByte{*value, 0} : ConcreteByte{0, 0xff};
}

void FirstContents::learn(bool allocated, std::uint64_t address, std::uint8_t value) {
  learnt_[allocated ? 1 : 0][address / 8][address % 8] = kKnown | value;
}

MemoryCell ConcreteMemory::read(bool allocated, std::uint64_t address) const {
  const Space& space = spaces_[allocated ? 1 : 0];
  const auto* granule = space.granules.find(address / 8);
  MemoryCell cell = granule != nullptr ? (*granule)[address % 8] : MemoryCell{};
  if (const std::uint32_t* covered = space.covered.empty() ? nullptr : space.covered.find(address);
      covered != nullptr && *covered > cell.when) {
    return {{0, 0xff}, false, true, *covered};
  }
  if (!cell.seen) {
    cell.content = first_.byte(allocated, address);
  }
  return cell;
}

void ConcreteMemory::write(bool allocated, std::uint64_t address, const MemoryCell& cell) {
  spaces_[allocated ? 1 : 0].granules[address / 8][address % 8] = cell;
}

void ConcreteMemory::cover(const Stretch& stretch, std::uint32_t when) {
  spaces_[stretch.allocated ? 1 : 0].covered.assign(stretch.begin, stretch.begin + (stretch.size - 1), when);
}

}  // namespace sooth
