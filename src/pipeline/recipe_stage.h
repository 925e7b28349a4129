// RECIPE over the part of a deep recording that was kept, once all other analyses are done.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "deep/program.h"
#include "pipeline/proof.h"
#include "pipeline/registry.h"
#include "predict/mcm.h"
#include "race/finding.h"
#include "race/gap.h"
#include "recipe/recipe.h"
#include "symbol/stateless_libraries.h"
#include "trace/tables.h"

namespace sooth {

struct RecipeStageResult {
  AnalysisStats stats;
  ProofCount proven;      // of the witnesses found here
  std::vector<Gap> gaps;  // what was not looked at, and what has no answer
};

// What is asked before the code of the program is looked at: the paper's own advice.
struct RecipeStageOptions {
  RecipeOptions recipe;
  McmOptions mcm;  // ... without its solver, when neither mcm nor rdit has run
  bool mcm_ran = false;
  FunctionNames stateless;  // opaque_calls.h
};

// Asks about every pair of places that `claims` leave open, also about those that reorderings with recorded values
// refute. What has a checked witness is a race of recipe, too. A witness of this stage is given to the judge that
// executes the program's code along it. Claims get the name of the analysis and a witness; what nobody has claimed is
// added, with accesses that were not executed last.
Result<RecipeStageResult> run_recipe_stage(const DetectorInfo& info, std::vector<Claim>& claims,
                                           const ProofCount& so_far, const TraceCapture& capture, const Tables& tables,
                                           const DeepProgram& program, const RecipeStageOptions& options);

}  // namespace sooth
