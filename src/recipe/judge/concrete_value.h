// Values of LLVM's first-class types, as the judge of value witnesses computes with them. Apart from src/recipe/execute
// on purpose: nothing here is symbolic, and the arithmetic is that of llvm::APInt and llvm::APFloat.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <llvm/ADT/APInt.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Support/KnownBits.h>

namespace llvm {
class DataLayout;
class Type;
}  // namespace llvm

namespace sooth {

// An integer, a pointer or the bits of a float. Some bits may be unknown: padding that is copied around, memory of
// which nobody has told what was in it at first. They become a problem only when something depends on them.
struct Scalar {
  llvm::APInt bits;     // 0 where unknown
  llvm::APInt unknown;  // 1 where unknown

  static Scalar known(llvm::APInt bits) {
    const unsigned width = bits.getBitWidth();
    return {std::move(bits), llvm::APInt::getZero(width)};
  }
  static Scalar nothing_known(unsigned width) { return {llvm::APInt::getZero(width), llvm::APInt::getAllOnes(width)}; }
  static Scalar truth(bool value);
  static Scalar of(const llvm::KnownBits& known) { return {known.One, ~(known.Zero | known.One)}; }

  unsigned width() const { return bits.getBitWidth(); }
  bool is_known() const { return unknown.isZero(); }
  llvm::KnownBits known_bits() const {
    llvm::KnownBits known(width());
    known.One = bits;
    known.Zero = ~(bits | unknown);
    return known;
  }
  friend bool operator==(const Scalar& a, const Scalar& b) {
    return a.width() == b.width() && a.bits == b.bits && a.unknown == b.unknown;
  }
};

// The scalars of a value, those of arrays, structures and vectors one after the other.
using Concrete = llvm::SmallVector<Scalar, 1>;

// A byte of memory.
struct ConcreteByte {
  std::uint8_t value = 0;  // 0 in the bits that are unknown
  std::uint8_t unknown = 0;

  friend bool operator==(const ConcreteByte&, const ConcreteByte&) = default;
};
using ConcreteBytes = llvm::SmallVector<ConcreteByte, 16>;

// A scalar of a type and where it lies in memory.
struct Leaf {
  llvm::Type* type = nullptr;
  std::uint64_t offset = 0;
  unsigned bits = 0;
  unsigned bytes = 0;
};

// How the values of a type consist of scalars.
struct TypeShape {
  std::vector<Leaf> leaves;
  std::uint64_t bytes = 0;  // size of a load or store of it
  bool in_memory = true;    // false: vectors of elements that are no whole bytes, which have no byte for each
};

// Shapes of types, each computed once. Not thread safe.
class TypeShapes {
 public:
  // nullptr for what is not modelled: scalable vectors, labels, values of more than kMaxLeaves scalars. The pointer
  // stays valid.
  const TypeShape* shape(llvm::Type* type, const llvm::DataLayout& layout);

  static constexpr std::size_t kMaxLeaves = 4096;

 private:
  llvm::DenseMap<llvm::Type*, std::unique_ptr<TypeShape>> shapes_;  // nullptr: not modelled
};

Concrete nothing_known(const TypeShape& shape);
// What a store of the value leaves; padding is unknown. Only of shapes that are in memory.
ConcreteBytes to_bytes(const TypeShape& shape, const Concrete& value);
// Of at least shape.bytes bytes.
Concrete from_bytes(const TypeShape& shape, std::span<const ConcreteByte> bytes);
// The bytes of a value that a recording has cut into 64-bit words, low word first.
ConcreteBytes from_words(std::span<const std::uint64_t> words, std::uint64_t bytes);

}  // namespace sooth
