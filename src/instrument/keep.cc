#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "instrument/pass.h"
#include "trace/recording/deep_format.h"

namespace sooth::deep {
namespace {

// Whether the module may take the address of the global in a table of its own. A local one in a group is gone when the
// linker drops the group of this object file for that of another.
bool can_be_placed(const llvm::GlobalValue& global) {
  if (global.isThreadLocal() || global.getName().starts_with("llvm.") ||
      (global.hasLocalLinkage() && global.hasComdat())) {
    return false;
  }
  // What is only called by name need not have an address: taking it would keep inline functions from being dropped.
  const auto* function = llvm::dyn_cast<llvm::Function>(&global);
  return function == nullptr || (!function->isIntrinsic() && function->hasAddressTaken());
}

std::vector<llvm::GlobalValue*> placed_globals(llvm::Module& module) {
  std::vector<llvm::GlobalValue*> globals;
  for (llvm::GlobalVariable& variable : module.globals()) {
    if (can_be_placed(variable)) {
      globals.push_back(&variable);
    }
  }
  for (llvm::Function& function : module) {
    if (can_be_placed(function)) {
      globals.push_back(&function);
    }
  }
  for (llvm::GlobalAlias& alias : module.aliases()) {
    if (can_be_placed(alias)) {
      globals.push_back(&alias);
    }
  }
  return globals;
}

// Stripping debug information leaves functions one name only: the one that says more.
void keep_linkage_names(llvm::Module& module) {
  llvm::DebugInfoFinder finder;
  finder.processModule(module);
  for (llvm::DISubprogram* subprogram : finder.subprograms()) {
    if (!subprogram->getLinkageName().empty() && subprogram->isDistinct()) {
      constexpr unsigned kName = 2;
      subprogram->replaceOperandWith(kName, llvm::MDString::get(module.getContext(), subprogram->getLinkageName()));
    }
  }
}

// The module as bitcode, with the names of the globals and, of debug information, what tells lines.
std::string bitcode_of(llvm::Module& module, const std::vector<llvm::GlobalValue*>& globals) {
  llvm::NamedMDNode* placed = module.getOrInsertNamedMetadata(kPlacedGlobals);
  for (llvm::GlobalValue* global : globals) {
    placed->addOperand(llvm::MDNode::get(module.getContext(), llvm::ValueAsMetadata::get(global)));
  }
  const std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
  module.eraseNamedMetadata(placed);
  keep_linkage_names(*copy);
  llvm::stripNonLineTableDebugInfo(*copy);
  std::string bytes;
  llvm::raw_string_ostream out(bytes);
  llvm::WriteBitcodeToFile(*copy, out);
  return bytes;
}

llvm::GlobalVariable* make_constant(llvm::Module& module, llvm::Constant* value, const char* name) {
  return new llvm::GlobalVariable(module, value->getType(), true, llvm::GlobalValue::PrivateLinkage, value, name);
}

// A function without hooks of anybody that hands the descriptor to `callee`.
llvm::Function* make_caller(llvm::Module& module, const char* name, const char* callee, llvm::Value* descriptor) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* nothing = llvm::Type::getVoidTy(context);
  llvm::Function* function = llvm::Function::createWithDefaultAttr(
      llvm::FunctionType::get(nothing, false), llvm::GlobalValue::InternalLinkage, 0, name, &module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", function));
  builder.CreateCall(module.getOrInsertFunction(callee, nothing, builder.getPtrTy()), {descriptor});
  builder.CreateRetVoid();
  return function;
}

}  // namespace

Numbering::Numbering(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) {
      continue;
    }
    functions.push_back(&function);
    std::uint32_t next = 0;
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      if (!llvm::isa<llvm::DbgInfoIntrinsic>(instruction)) {
        instructions[&instruction] = next++;
      }
    }
  }
}

llvm::GlobalVariable* keep(llvm::Module& module) {
  llvm::LLVMContext& context = module.getContext();
  const std::vector<llvm::GlobalValue*> globals = placed_globals(module);
  const std::string bytes = bitcode_of(module, globals);
  llvm::GlobalVariable* code =
      make_constant(module, llvm::ConstantDataArray::getString(context, bytes, false), "sooth.deep_code");
  code->setSection(kCodeSection);
  code->setAlignment(llvm::Align(8));

  llvm::Type* pointer = llvm::PointerType::getUnqual(context);
  const std::vector<llvm::Constant*> addresses(globals.begin(), globals.end());
  llvm::GlobalVariable* table =
      make_constant(module, llvm::ConstantArray::get(llvm::ArrayType::get(pointer, addresses.size()), addresses),
                    "sooth.deep_addresses");

  llvm::Type* u32 = llvm::Type::getInt32Ty(context);
  llvm::Type* u64 = llvm::Type::getInt64Ty(context);
  llvm::Constant* descriptor = llvm::ConstantStruct::getAnon(
      {llvm::ConstantInt::get(u32, kSilent), llvm::ConstantInt::get(u32, kVersion),
       llvm::ConstantPointerNull::get(llvm::cast<llvm::PointerType>(pointer)), code,
       llvm::ConstantInt::get(u64, bytes.size()), table, llvm::ConstantInt::get(u64, addresses.size())});
  auto* variable = new llvm::GlobalVariable(module, descriptor->getType(), false, llvm::GlobalValue::InternalLinkage,
                                            descriptor, "sooth.deep_module");
  // First of all: other constructors are recorded.
  llvm::appendToGlobalCtors(module, make_caller(module, "sooth.deep_loaded", "__sooth_deep_loaded", variable), 0);
  llvm::appendToGlobalDtors(module, make_caller(module, "sooth.deep_unloaded", "__sooth_deep_unloaded", variable), 0);
  return variable;
}

}  // namespace sooth::deep
