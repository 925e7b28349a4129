// What a call calls, as far as the call itself tells.
#pragma once

#include <string>

#include <llvm/IR/Function.h>
#include <llvm/IR/InstrTypes.h>

namespace sooth {

// nullptr when a pointer decides, or it is inline assembly.
inline const llvm::Function* named_callee(const llvm::CallBase& call) {
  const llvm::Value* callee = call.getCalledOperand()->stripPointerCastsAndAliases();
  return llvm::dyn_cast<llvm::Function>(callee);
}

inline std::string callee_text(const llvm::CallBase& call) {
  if (const llvm::Function* callee = named_callee(call)) {
    return callee->getName().str();
  }
  return call.isInlineAsm() ? "inline assembly" : "a function pointer";
}

}  // namespace sooth
