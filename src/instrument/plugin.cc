// What clang loads with -fpass-plugin.
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/Support/CommandLine.h>

#include "instrument/pass.h"

namespace sooth::deep {
namespace {

llvm::cl::list<std::string> excluded("sooth-exclude",
                                     llvm::cl::desc("Functions and source files without deep hooks (patterns)"));

class DeepPass : public llvm::PassInfoMixin<DeepPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses) {
    link_library(module);
    prepare(module, analyses.getResult<llvm::FunctionAnalysisManagerModuleProxy>(module).getManager(),
            {excluded.begin(), excluded.end()});
    const Numbering numbering(module);
    llvm::GlobalVariable* descriptor = keep(module);
    add_hooks(numbering, *descriptor);
    return llvm::PreservedAnalyses::none();
  }
  // Also in functions that are not to be optimised: all of them at -O0.
  static bool isRequired() { return true; }
};

void register_callbacks(llvm::PassBuilder& builder) {
  builder.registerPipelineStartEPCallback(
      [](llvm::ModulePassManager& passes, llvm::OptimizationLevel) { passes.addPass(DeepPass()); });
}

}  // namespace
}  // namespace sooth::deep

extern "C" __attribute__((visibility("default"))) llvm::PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "sooth-deep", "1", &sooth::deep::register_callbacks};
}
