#include "recipe/judge/concrete_value.h"

#include <algorithm>

#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DerivedTypes.h>

namespace sooth {
namespace {

bool is_scalar(const llvm::Type* type) {
  return type->isIntegerTy() || type->isPointerTy() || (type->isFloatingPointTy() && !type->isPPC_FP128Ty());
}

struct Part {
  llvm::Type* type;
  std::uint64_t offset;
};

// The parts of an aggregate or vector, last one first; false when it has too many or is not modelled.
bool split(const Part& part, const llvm::DataLayout& layout, std::vector<Part>& out, bool& in_memory) {
  if (auto* array = llvm::dyn_cast<llvm::ArrayType>(part.type)) {
    if (array->getNumElements() > TypeShapes::kMaxLeaves) {
      return false;
    }
    const std::uint64_t stride = layout.getTypeAllocSize(array->getElementType()).getFixedValue();
    for (std::uint64_t i = array->getNumElements(); i-- > 0;) {
      out.push_back({array->getElementType(), part.offset + i * stride});
    }
    return true;
  }
  if (auto* structure = llvm::dyn_cast<llvm::StructType>(part.type)) {
    if (structure->isOpaque() || structure->isScalableTy() || structure->getNumElements() > TypeShapes::kMaxLeaves) {
      return false;
    }
    const llvm::StructLayout* fields = layout.getStructLayout(structure);
    for (unsigned i = structure->getNumElements(); i-- > 0;) {
      out.push_back({structure->getElementType(i), part.offset + fields->getElementOffset(i).getFixedValue()});
    }
    return true;
  }
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(part.type)) {
    const std::uint64_t bits = layout.getTypeSizeInBits(vector->getElementType()).getFixedValue();
    in_memory = in_memory && bits % 8 == 0;
    if (vector->getNumElements() > TypeShapes::kMaxLeaves) {
      return false;
    }
    for (unsigned i = vector->getNumElements(); i-- > 0;) {
      out.push_back({vector->getElementType(), part.offset + i * bits / 8});
    }
    return true;
  }
  return false;
}

std::unique_ptr<TypeShape> make_shape(llvm::Type* type, const llvm::DataLayout& layout) {
  auto shape = std::make_unique<TypeShape>();
  if (type->isVoidTy()) {
    return shape;
  }
  std::vector<Part> parts = {{type, 0}};
  while (!parts.empty()) {
    const Part part = parts.back();
    parts.pop_back();
    if (is_scalar(part.type)) {
      if (shape->leaves.size() == TypeShapes::kMaxLeaves) {
        return nullptr;
      }
      const auto bits = static_cast<unsigned>(layout.getTypeSizeInBits(part.type).getFixedValue());
      shape->leaves.push_back({part.type, part.offset, bits, (bits + 7) / 8});
    } else if (!split(part, layout, parts, shape->in_memory) || parts.size() > 2 * TypeShapes::kMaxLeaves) {
      return nullptr;
    }
  }
  shape->bytes = layout.getTypeStoreSize(type).getFixedValue();
  return shape;
}

}  // namespace

Scalar Scalar::truth(bool value) { return known(llvm::APInt(1, value ? 1 : 0)); }

const TypeShape* TypeShapes::shape(llvm::Type* type, const llvm::DataLayout& layout) {
  const auto [found, is_new] = shapes_.try_emplace(type, nullptr);
  if (is_new && (type->isVoidTy() || (type->isSized() && !type->isScalableTy()))) {
    found->second = make_shape(type, layout);
  }
  return found->second.get();
}

Concrete nothing_known(const TypeShape& shape) {
  Concrete value;
  for (const Leaf& leaf : shape.leaves) {
    value.push_back(Scalar::nothing_known(leaf.bits));
  }
  return value;
}

ConcreteBytes to_bytes(const TypeShape& shape, const Concrete& value) {
  ConcreteBytes bytes(shape.bytes, ConcreteByte{0, 0xff});
  for (std::size_t i = 0; i < shape.leaves.size(); ++i) {
    const Leaf& leaf = shape.leaves[i];
    // What is no whole number of bytes is extended with zeros.
    const llvm::APInt bits = value[i].bits.zext(leaf.bytes * 8);
    const llvm::APInt unknown = value[i].unknown.zext(leaf.bytes * 8);
    for (unsigned b = 0; b < leaf.bytes; ++b) {
      bytes[leaf.offset + b] = {static_cast<std::uint8_t>(bits.extractBitsAsZExtValue(8, b * 8)),
                                static_cast<std::uint8_t>(unknown.extractBitsAsZExtValue(8, b * 8))};
    }
  }
  return bytes;
}

Concrete from_bytes(const TypeShape& shape, std::span<const ConcreteByte> bytes) {
  Concrete value;
  for (const Leaf& leaf : shape.leaves) {
    llvm::APInt bits(leaf.bytes * 8, 0);
    llvm::APInt unknown(leaf.bytes * 8, 0);
    for (unsigned b = 0; b < leaf.bytes; ++b) {
      const ConcreteByte& byte = bytes[leaf.offset + b];
      bits.insertBits(byte.value, b * 8, 8);
      unknown.insertBits(byte.unknown, b * 8, 8);
    }
    value.push_back({bits.trunc(leaf.bits), unknown.trunc(leaf.bits)});
  }
  return value;
}

ConcreteBytes from_words(std::span<const std::uint64_t> words, std::uint64_t bytes) {
  ConcreteBytes result(bytes, ConcreteByte{0, 0xff});
  for (std::uint64_t i = 0; i < bytes && i / 8 < words.size(); ++i) {
    result[i] = {static_cast<std::uint8_t>(words[i / 8] >> (i % 8 * 8)), 0};
  }
  return result;
}

}  // namespace sooth
