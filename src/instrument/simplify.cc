#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Attributes.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <set>

#include "instrument/pass.h"
#include "trace/recording/deep_format.h"

namespace sooth::deep {
namespace {

// Copies and fills of at most so many bytes become loads and stores, so that their values are recorded.
constexpr std::uint64_t kSmallCopy = 128;
// Functions of at most so many instructions become part of their callers, as long as these have no more than the other
// number: entering and leaving `vector::operator[]` would leave three times as many records as what it does.
constexpr unsigned kSmallFunction = 40;
constexpr unsigned kLargeFunction = 3000;

// The pieces of a small copy: 8 bytes as long as there are, then what is left.
std::vector<std::pair<std::uint64_t, unsigned>> pieces_of(std::uint64_t length) {
  std::vector<std::pair<std::uint64_t, unsigned>> pieces;
  for (std::uint64_t at = 0; at < length;) {
    unsigned size = 8;
    while (size > length - at) {
      size /= 2;
    }
    pieces.emplace_back(at, size);
    at += size;
  }
  return pieces;
}

// All loads come first: the two ends of a memmove may overlap.
void expand_copy(llvm::MemTransferInst& copy, std::uint64_t length) {
  llvm::IRBuilder<> builder(&copy);
  std::vector<llvm::Value*> values;
  for (const auto& [at, size] : pieces_of(length)) {
    llvm::Value* from = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), copy.getRawSource(), at);
    const llvm::Align align = llvm::commonAlignment(copy.getSourceAlign().valueOrOne(), at);
    values.push_back(builder.CreateAlignedLoad(builder.getIntNTy(8 * size), from, align));
  }
  std::size_t next = 0;
  for (const auto& [at, size] : pieces_of(length)) {
    llvm::Value* to = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), copy.getRawDest(), at);
    builder.CreateAlignedStore(values[next++], to, llvm::commonAlignment(copy.getDestAlign().valueOrOne(), at));
  }
  copy.eraseFromParent();
}

void expand_fill(llvm::MemSetInst& fill, std::uint64_t length) {
  llvm::IRBuilder<> builder(&fill);
  for (const auto& [at, size] : pieces_of(length)) {
    llvm::Type* type = builder.getIntNTy(8 * size);
    llvm::Value* byte = builder.CreateZExt(fill.getValue(), type);
    const std::uint64_t ones = 0x0101010101010101 >> (64 - 8 * size);
    llvm::Value* to = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), fill.getRawDest(), at);
    builder.CreateAlignedStore(builder.CreateMul(byte, llvm::ConstantInt::get(type, ones)), to,
                               llvm::commonAlignment(fill.getDestAlign().valueOrOne(), at));
  }
  fill.eraseFromParent();
}

bool is_small(const llvm::Function& function, unsigned most) { return function.getInstructionCount() <= most; }

bool same_attribute(const llvm::Function& a, const llvm::Function& b, const char* name) {
  return a.getFnAttribute(name) == b.getFnAttribute(name);
}

bool may_be_inlined(const llvm::Function& caller, const llvm::Function& callee) {
  using llvm::Attribute;
  const bool forbidden = callee.hasFnAttribute(Attribute::NoInline) || callee.hasFnAttribute(Attribute::OptimizeNone) ||
                         callee.hasFnAttribute(Attribute::ReturnsTwice) || callee.hasFnAttribute(Attribute::StrictFP) ||
                         callee.hasFnAttribute(kNotDeep) || callee.isVarArg() || callee.isInterposable();
  return !forbidden && is_instrumented(callee) && is_small(callee, kSmallFunction) &&
         same_attribute(caller, callee, "target-cpu") && same_attribute(caller, callee, "target-features") &&
         llvm::AttributeFuncs::areInlineCompatible(caller, callee);
}

// From the leaves of the call graph upwards.
class Inliner {
 public:
  explicit Inliner(llvm::FunctionAnalysisManager& analyses) : analyses_(analyses) {}

  void visit(llvm::Function& function) {
    if (!visited_.insert(&function).second || !is_instrumented(function)) {
      return;
    }
    std::vector<llvm::CallBase*> calls;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      llvm::Function* callee = call == nullptr ? nullptr : call->getCalledFunction();
      if (callee != nullptr && !callee->isDeclaration() && callee != &function) {
        visit(*callee);
        calls.push_back(call);
      }
    }
    if (function.hasFnAttribute(llvm::Attribute::OptimizeNone) || function.hasFnAttribute(kNotDeep)) {
      return;
    }
    bool changed = false;
    for (llvm::CallBase* call : calls) {
      if (done_.contains(call->getCalledFunction()) && may_be_inlined(function, *call->getCalledFunction()) &&
          is_small(function, kLargeFunction)) {
        llvm::InlineFunctionInfo info;
        changed = llvm::InlineFunction(*call, info).isSuccess() || changed;
      }
    }
    if (changed) {
      expand_small_copies(function);
      promote_variables(function, analyses_);
    }
    done_.insert(&function);
  }

 private:
  llvm::FunctionAnalysisManager& analyses_;
  std::set<const llvm::Function*> visited_;
  std::set<const llvm::Function*> done_;  // not those that a cycle of calls leads back to
};

}  // namespace

void expand_small_copies(llvm::Function& function) {
  std::vector<llvm::MemIntrinsic*> small;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* intrinsic = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction);
    const auto* length = intrinsic == nullptr ? nullptr : llvm::dyn_cast<llvm::ConstantInt>(intrinsic->getLength());
    const bool plain = length != nullptr && length->getValue().ule(kSmallCopy) && !intrinsic->isVolatile() &&
                       intrinsic->getDestAddressSpace() == 0;
    const auto* transfer = plain ? llvm::dyn_cast<llvm::MemTransferInst>(intrinsic) : nullptr;
    if (plain && (transfer == nullptr || transfer->getSourceAddressSpace() == 0)) {
      small.push_back(intrinsic);
    }
  }
  for (llvm::MemIntrinsic* intrinsic : small) {
    const std::uint64_t length = llvm::cast<llvm::ConstantInt>(intrinsic->getLength())->getZExtValue();
    if (auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(intrinsic)) {
      expand_copy(*copy, length);
    } else {
      expand_fill(*llvm::cast<llvm::MemSetInst>(intrinsic), length);
    }
  }
}

// SROA deletes loads whose result only went into a part of a variable that nobody looks at. A load of memory that
// others can see must stay: it counts as volatile meanwhile.
void promote_variables(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  std::vector<llvm::LoadInst*> kept;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    if (load != nullptr && !load->isVolatile() &&
        !llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(load->getPointerOperand(), 0))) {
      load->setVolatile(true);
      kept.push_back(load);
    }
  }
  analyses.invalidate(function, llvm::PreservedAnalyses::none());
  llvm::SROAPass(llvm::SROAOptions::PreserveCFG).run(function, analyses);
  analyses.invalidate(function, llvm::PreservedAnalyses::none());
  for (llvm::LoadInst* load : kept) {
    load->setVolatile(false);
  }
}

void inline_small_functions(llvm::Module& module, llvm::FunctionAnalysisManager& analyses) {
  Inliner inliner(analyses);
  for (llvm::Function& function : module) {
    inliner.visit(function);
  }
}

}  // namespace sooth::deep
