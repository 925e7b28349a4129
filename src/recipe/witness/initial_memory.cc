#include "recipe/witness/initial_memory.h"

#include <llvm/ADT/APInt.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Module.h>

#include <algorithm>

namespace sooth {

// Writes the bytes of one initialiser after the other.
class InitialMemoryBuilder {
 public:
  InitialMemoryBuilder(const DeepProgram& program, std::uint32_t module)
      : program_(program), module_(module), layout_(program.module(module).getDataLayout()) {}

  std::vector<std::int16_t> bytes_of(const llvm::Constant& initialiser) {
    bytes_.assign(layout_.getTypeAllocSize(initialiser.getType()), InitialMemory::kUnknown);
    write(initialiser, 0);
    return std::move(bytes_);
  }

 private:
  void write_number(const llvm::APInt& number, std::uint64_t offset, std::uint64_t size) {
    const llvm::APInt wide = number.zextOrTrunc(static_cast<unsigned>(8 * size));
    for (std::uint64_t i = 0; i < size; ++i) {
      bytes_[offset + i] = static_cast<std::int16_t>(wide.extractBitsAsZExtValue(8, static_cast<unsigned>(8 * i)));
    }
  }

  void write(const llvm::Constant& value, std::uint64_t offset) {
    llvm::Type* const type = value.getType();
    const std::uint64_t size = layout_.getTypeStoreSize(type);
    // Padding as well. Files have zeros where nothing is said.
    if (value.isNullValue() || llvm::isa<llvm::UndefValue>(value)) {
      std::fill_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), layout_.getTypeAllocSize(type),
                  std::int16_t{0});
    } else if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(&value)) {
      write_number(number->getValue(), offset, size);
    } else if (const auto* real = llvm::dyn_cast<llvm::ConstantFP>(&value)) {
      write_number(real->getValueAPF().bitcastToAPInt(), offset, size);
    } else if (const auto* data = llvm::dyn_cast<llvm::ConstantDataSequential>(&value)) {
      for (unsigned i = 0; i < data->getNumElements(); ++i) {
        write(*data->getElementAsConstant(i), offset + i * data->getElementByteSize());
      }
    } else if (const auto* aggregate = llvm::dyn_cast<llvm::ConstantAggregate>(&value)) {
      write_parts(*aggregate, offset);
    } else if (type->isPointerTy()) {
      write_pointer(value, offset, size);
    }
  }

  void write_parts(const llvm::ConstantAggregate& value, std::uint64_t offset) {
    if (const auto* type = llvm::dyn_cast<llvm::StructType>(value.getType())) {
      const llvm::StructLayout* parts = layout_.getStructLayout(const_cast<llvm::StructType*>(type));
      pad(offset, layout_.getTypeAllocSize(value.getType()));
      for (unsigned i = 0; i < value.getNumOperands(); ++i) {
        write_part(*value.getOperand(i), offset + parts->getElementOffset(i));
      }
      return;
    }
    if (!llvm::isa<llvm::ConstantArray>(value)) {
      return;  // elements of vectors need not lie one behind the other
    }
    pad(offset, layout_.getTypeAllocSize(value.getType()));
    for (unsigned i = 0; i < value.getNumOperands(); ++i) {
      write_part(*value.getOperand(i), offset + i * layout_.getTypeAllocSize(value.getOperand(i)->getType()));
    }
  }

  void pad(std::uint64_t offset, std::uint64_t size) {
    std::fill_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), size, std::int16_t{0});
  }

  // Of something that is padded.
  void write_part(const llvm::Constant& value, std::uint64_t offset) {
    std::fill_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), layout_.getTypeStoreSize(value.getType()),
                InitialMemory::kUnknown);
    write(value, offset);
  }

  void write_pointer(const llvm::Constant& value, std::uint64_t offset, std::uint64_t size) {
    llvm::APInt distance(layout_.getIndexTypeSizeInBits(value.getType()), 0);
    const llvm::Value* base = value.stripAndAccumulateConstantOffsets(layout_, distance, true);
    const auto* global = llvm::dyn_cast<llvm::GlobalValue>(base);
    const std::optional<std::uint64_t> address = global == nullptr ? std::nullopt : program_.address(module_, *global);
    if (address) {
      write_number(llvm::APInt(64, *address) + distance.sextOrTrunc(64), offset, size);
    }
  }

  const DeepProgram& program_;
  const std::uint32_t module_;
  const llvm::DataLayout& layout_;
  std::vector<std::int16_t> bytes_;
};

InitialMemory::InitialMemory(const DeepProgram& program) {
  std::uint64_t left = std::uint64_t{1} << 26;  // a few bytes of a recording may stand for as many as they like
  for (std::uint32_t m = 0; m < program.modules(); ++m) {
    InitialMemoryBuilder builder(program, m);
    for (const llvm::GlobalVariable& global : program.module(m).globals()) {
      const std::optional<std::uint64_t> address =
          global.hasDefinitiveInitializer() && !global.isThreadLocal() ? program.address(m, global) : std::nullopt;
      if (!address) {
        continue;
      }
      const llvm::Constant& initialiser = *global.getInitializer();
      const std::uint64_t size = program.module(m).getDataLayout().getTypeAllocSize(initialiser.getType());
      if (initialiser.isNullValue()) {
        globals_.emplace(*address, Global{size, {}});
      } else if (size <= left) {
        left -= size;
        globals_.emplace(*address, Global{size, builder.bytes_of(initialiser)});
      }
    }
  }
}

std::optional<std::uint8_t> InitialMemory::operator()(std::uint64_t address) const {
  auto global = globals_.upper_bound(address);
  if (global == globals_.begin()) {
    return std::nullopt;
  }
  --global;
  const std::uint64_t offset = address - global->first;
  const auto& [size, bytes] = global->second;
  if (offset >= size || (!bytes.empty() && bytes[offset] == kUnknown)) {
    return std::nullopt;
  }
  return bytes.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(bytes[offset]);
}

}  // namespace sooth
