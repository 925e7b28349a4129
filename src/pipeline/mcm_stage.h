// Maximal causality over the part of a trace that was kept, once all detectors are done.
#pragma once

#include <string>
#include <vector>

#include "pipeline/proof.h"
#include "pipeline/registry.h"
#include "predict/mcm.h"
#include "race/finding.h"
#include "trace/tables.h"

namespace sooth {

struct McmStageResult {
  AnalysisStats stats;
  ProofCount proven;      // of the witnesses found here, and claims that were refuted
  std::vector<Gap> gaps;  // what was not looked at, and what has no answer
};

// Asks about every pair of sites that `claims`, which prove() has been through, leave open: neither a checked witness
// nor a complete refutation. What has a checked witness is a race by maximal causality, too. Claims get the name
// of the analysis and a witness, or say that they are refuted; what nobody has claimed is added. Deadlocks that have no
// witness are asked about, too. The claims stay sorted by sites, deadlocks last.
McmStageResult run_mcm_stage(const DetectorInfo& info, std::vector<Claim>& claims, const ProofCount& so_far,
                             const TraceCapture& capture, const Tables& tables, bool exact, const McmOptions& options);

}  // namespace sooth
