#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <algorithm>

#include "base/glob.h"
#include "instrument/pass.h"
#include "trace/recording/deep_format.h"

namespace sooth::deep {
namespace {

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
    return std::any_of(std::begin(names), std::end(names),
                       [&](const std::string& name) { return glob_match(pattern, name); });
  });
}

// Whether hooks could not tell all that happens in it.
bool cannot_be_followed(const llvm::Function& function) {
  if (function.hasFnAttribute(llvm::Attribute::Naked) || function.hasFnAttribute(llvm::Attribute::PresplitCoroutine)) {
    return true;
  }
  return std::any_of(llvm::inst_begin(function), llvm::inst_end(function), [](const llvm::Instruction& instruction) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    return llvm::isa<llvm::IndirectBrInst, llvm::CallBrInst, llvm::FuncletPadInst, llvm::CatchSwitchInst>(
               instruction) ||
           (call != nullptr && call->isMustTailCall());
  });
}

}  // namespace

bool is_instrumented(const llvm::Function& function) {
  return !function.isDeclaration() && function.hasFnAttribute(llvm::Attribute::SanitizeThread) &&
         !function.hasFnAttribute(llvm::Attribute::DisableSanitizerInstrumentation) &&
         !function.hasFnAttribute(llvm::Attribute::Naked);
}

void prepare(llvm::Module& module, llvm::FunctionAnalysisManager& analyses, const std::vector<std::string>& excluded) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) {
      continue;
    }
    if (!is_instrumented(function) || is_excluded(function, excluded) || cannot_be_followed(function)) {
      function.addFnAttr(kNotDeep);
    }
    if (is_instrumented(function)) {
      expand_small_copies(function);
      promote_variables(function, analyses);
    }
  }
  inline_small_functions(module, analyses);
}

}  // namespace sooth::deep
