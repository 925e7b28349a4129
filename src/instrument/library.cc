#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/Module.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/MemoryBuffer.h>

#include <algorithm>
#include <memory>

#include "instrument/pass.h"

// The compiled standard_library.cc.
__asm__(
    ".pushsection .rodata\n"
    ".hidden sooth_deep_library_begin\n"
    ".hidden sooth_deep_library_end\n"
    ".globl sooth_deep_library_begin\n"
    ".globl sooth_deep_library_end\n"
    ".balign 16\n"
    "sooth_deep_library_begin:\n"
    ".incbin \"" SOOTH_DEEP_LIBRARY
    "\"\n"
    "sooth_deep_library_end:\n"
    ".byte 0\n"
    ".popsection\n");
extern "C" const char sooth_deep_library_begin[], sooth_deep_library_end[];

namespace sooth::deep {
namespace {

// Several object files of a program may have it, and libraries keep their own.
void share(llvm::Function& function) {
  function.setLinkage(llvm::GlobalValue::LinkOnceODRLinkage);
  function.setVisibility(llvm::GlobalValue::HiddenVisibility);
  function.setComdat(function.getParent()->getOrInsertComdat(function.getName()));
}

}  // namespace

void link_library(llvm::Module& module) {
  const llvm::StringRef bitcode(sooth_deep_library_begin,
                                static_cast<std::size_t>(sooth_deep_library_end - sooth_deep_library_begin));
  llvm::Expected<std::unique_ptr<llvm::Module>> parsed =
      llvm::parseBitcodeFile(llvm::MemoryBufferRef(bitcode, "sooth"), module.getContext());
  if (!parsed) {
    llvm::report_fatal_error(parsed.takeError());
  }
  std::unique_ptr<llvm::Module> library = std::move(*parsed);
  const auto is_called = [&](const llvm::Function& function) {
    const llvm::Function* own = function.isDeclaration() ? nullptr : module.getFunction(function.getName());
    return own != nullptr && own->isDeclaration() && !function.hasLocalLinkage();
  };
  if (library->getTargetTriple() != module.getTargetTriple() ||
      std::none_of(library->begin(), library->end(), is_called)) {
    return;
  }
  for (llvm::Function& function : *library) {
    if (!function.isDeclaration() && !function.hasLocalLinkage()) {
      share(function);
    }
  }
  // How the program is compiled is said by its own module.
  for (const char* name : {"llvm.module.flags", "llvm.ident"}) {
    if (llvm::NamedMDNode* said = library->getNamedMetadata(name)) {
      library->eraseNamedMetadata(said);
    }
  }
  if (module.getNamedMetadata("llvm.dbg.cu") == nullptr) {
    llvm::StripDebugInfo(*library);
  }
  library->setDataLayout(module.getDataLayout());
  if (llvm::Linker::linkModules(module, std::move(library), llvm::Linker::LinkOnlyNeeded)) {
    llvm::report_fatal_error("sooth: its code of the standard library does not fit the program");
  }
}

}  // namespace sooth::deep
