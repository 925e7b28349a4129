// Operations on single scalars.
#pragma once

#include <optional>

#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Intrinsics.h>

#include "recipe/judge/concrete_value.h"

namespace sooth {

// All return nothing for what is not modelled. `opcode` is that of the instruction; operands have equal widths.
std::optional<Scalar> integer_operation(unsigned opcode, const Scalar& a, const Scalar& b);
std::optional<Scalar> float_operation(unsigned opcode, const llvm::Type& type, const Scalar& a, const Scalar& b);
Scalar compare_integers(llvm::CmpInst::Predicate predicate, const Scalar& a, const Scalar& b);
Scalar compare_floats(llvm::CmpInst::Predicate predicate, const llvm::Type& type, const Scalar& a, const Scalar& b);
// Casts of integers, pointers and floats to `to`, `width` bits wide; not bitcasts.
std::optional<Scalar> cast_scalar(unsigned opcode, const llvm::Type& from, const llvm::Type& to, unsigned width,
                                  const Scalar& value);
// Intrinsics with one to three operands of the same scalar type, or whose last operand is a flag.
std::optional<Scalar> integer_intrinsic(llvm::Intrinsic::ID id, llvm::ArrayRef<const Scalar*> operands);
std::optional<Scalar> float_intrinsic(llvm::Intrinsic::ID id, const llvm::Type& type,
                                      llvm::ArrayRef<const Scalar*> operands);
// The two results of llvm.*.with.overflow.
std::optional<std::pair<Scalar, Scalar>> overflow_intrinsic(llvm::Intrinsic::ID id, const Scalar& a, const Scalar& b);

}  // namespace sooth
