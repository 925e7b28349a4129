// What instructions without effects compute, on concrete values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/IR/DataLayout.h>

#include "deep/program.h"
#include "recipe/judge/concrete_value.h"
#include "recipe/witness/exception_types.h"

namespace llvm {
class Constant;
class IntrinsicInst;
class Operator;
class Value;
}  // namespace llvm

namespace sooth {

// Computes as the machine does: integers wrap around, and what LLVM calls poison (a shift by too much) is unknown.
// Nothing is created in the program's LLVM context, so several judges may work at the same time; one object is for one
// thread. All functions return nothing for what is not modelled.
class ConcreteOps {
 public:
  using Operands = llvm::ArrayRef<const Concrete*>;

  explicit ConcreteOps(const DeepProgram& program);

  // A copy of the module's own: layouts of structures are cached in it.
  const llvm::DataLayout& layout(std::uint32_t module) const { return *layouts_[module]; }
  const TypeShape* shape(std::uint32_t module, llvm::Type* type) { return shapes_.shape(type, *layouts_[module]); }

  // The definition that other modules mean by a name; nothing when no module of the program has one, or it may be
  // replaced.
  std::optional<DeepProgram::Place> definition(llvm::StringRef name);
  // Whether std::cout, std::cerr or std::clog is there: what is written to these does not come back.
  bool is_standard_stream(std::uint64_t address) const;

  const ExceptionTypes& exception_types();

  // Addresses of globals are those of the recorded run. Undefined values are unknown.
  const Concrete* constant(std::uint32_t module, const llvm::Constant& constant);
  // Arithmetic, comparisons, casts, selections, addresses, parts of aggregates and vectors. A division by zero is not
  // modelled.
  std::optional<Concrete> apply(std::uint32_t module, const llvm::Operator& operation, Operands operands);
  // Intrinsics that only compute, or do nothing that matters here (then the value is empty). Not those that touch
  // memory.
  std::optional<Concrete> intrinsic(std::uint32_t module, const llvm::IntrinsicInst& call, Operands operands);

 private:
  std::optional<Concrete> make_constant(std::uint32_t module, const llvm::Constant& constant, unsigned depth);
  std::optional<Concrete> make_aggregate(std::uint32_t module, const llvm::Constant& constant, unsigned depth);
  std::optional<Concrete> make_expression(std::uint32_t module, const llvm::Constant& constant, unsigned depth);
  std::optional<Concrete> binary(const llvm::Operator& operation, Operands operands);
  std::optional<Concrete> cast(std::uint32_t module, const llvm::Operator& operation, const Concrete& from);
  std::optional<Concrete> element_address(std::uint32_t module, const llvm::Operator& operation, Operands operands);
  std::optional<Concrete> part(std::uint32_t module, const llvm::Operator& operation, Operands operands);
  std::optional<Concrete> lane(std::uint32_t module, const llvm::Operator& operation, Operands operands);

  const DeepProgram& program_;
  llvm::StringMap<DeepProgram::Place> definitions_;         // filled when it is first asked for
  std::unique_ptr<const ExceptionTypes> exception_types_;   // made when it is first asked for
  std::vector<std::unique_ptr<llvm::DataLayout>> layouts_;  // by module
  TypeShapes shapes_;
  llvm::DenseMap<const llvm::Constant*, std::unique_ptr<Concrete>> constants_;  // nullptr: not modelled
};

}  // namespace sooth
