// In place of recipe_stage.cc when Sooth is built without LLVM (SOOTH_WITH_DEEP=OFF).
#include "pipeline/recipe_stage.h"

namespace sooth {

Result<RecipeStageResult> run_recipe_stage(const DetectorInfo& info, std::vector<Claim>&, const ProofCount&,
                                           const TraceCapture&, const Tables&, const DeepProgram&,
                                           const RecipeStageOptions&) {
  return Status::usage(
      std::string(info.name) +
      " executes the code of the program, and this sooth was built without that (SOOTH_WITH_DEEP=OFF)");
}

}  // namespace sooth
