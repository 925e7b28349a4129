#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include <algorithm>
#include <optional>

#include "base/glob.h"
#include "instrument/pass.h"
#include "trace/deep_format.h"

namespace sooth::deep {
namespace {

// Copies and fills of at most so many bytes become loads and stores, so that their values are recorded.
constexpr std::uint64_t kSmallCopy = 128;

std::string source_file(const llvm::Function& function) {
  if (const llvm::DISubprogram* subprogram = function.getSubprogram()) {
    const std::string name = subprogram->getFilename().str();
    const std::string folder = subprogram->getDirectory().str();
    return name.empty() || name.front() == '/' || folder.empty() ? name : folder + "/" + name;
  }
  return function.getParent()->getSourceFileName();
}

bool is_excluded(const llvm::Function& function, const std::vector<std::string>& patterns) {
  if (patterns.empty()) {
    return false;
  }
  const std::string linkage = function.getName().str();
  const std::string names[] = {linkage, llvm::demangle(linkage), source_file(function)};
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return std::any_of(std::begin(names), std::end(names), [&](const std::string& name) { return glob_match(pattern, name); });
  });
}

// Whether hooks could not tell all that happens in it.
bool cannot_be_followed(const llvm::Function& function) {
  if (function.hasFnAttribute(llvm::Attribute::Naked) || function.hasFnAttribute(llvm::Attribute::PresplitCoroutine)) {
    return true;
  }
  return std::any_of(llvm::inst_begin(function), llvm::inst_end(function), [](const llvm::Instruction& instruction) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    return llvm::isa<llvm::IndirectBrInst, llvm::CallBrInst, llvm::FuncletPadInst, llvm::CatchSwitchInst>(instruction) ||
           (call != nullptr && call->isMustTailCall());
  });
}

void promote_variables(llvm::Function& function) {
  llvm::DominatorTree dominators(function);
  llvm::AssumptionCache assumptions(function);
  for (;;) {
    std::vector<llvm::AllocaInst*> variables;
    for (llvm::Instruction& instruction : function.getEntryBlock()) {
      auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
      if (variable != nullptr && llvm::isAllocaPromotable(variable)) {
        variables.push_back(variable);
      }
    }
    if (variables.empty()) {
      return;
    }
    llvm::PromoteMemToReg(variables, dominators, &assumptions);
  }
}

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

}  // namespace

bool is_instrumented(const llvm::Function& function) {
  return !function.isDeclaration() && function.hasFnAttribute(llvm::Attribute::SanitizeThread) &&
         !function.hasFnAttribute(llvm::Attribute::DisableSanitizerInstrumentation) &&
         !function.hasFnAttribute(llvm::Attribute::Naked);
}

void prepare(llvm::Module& module, const std::vector<std::string>& excluded) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) {
      continue;
    }
    if (!is_instrumented(function) || is_excluded(function, excluded) || cannot_be_followed(function)) {
      function.addFnAttr(kNotDeep);
    }
    if (is_instrumented(function)) {
      expand_small_copies(function);
      promote_variables(function);
    }
  }
}

}  // namespace sooth::deep
