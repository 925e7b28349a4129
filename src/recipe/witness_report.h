// Value witnesses as they stand in reports, there and back.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "deep/program.h"
#include "race/finding.h"
#include "race/witness.h"
#include "recipe/recipe.h"
#include "recipe/witness/value_witness.h"

namespace sooth {

// Of a witness that the judge has accepted: the summary says that it was checked.
WitnessSummary summarise(const ValueWitness& witness, const DeepProgram& program, const TraceView& trace);

// What a summary with values stands for; `order` is expand() of it. The summary may come from anywhere: an error says
// what is wrong with it. Whether it is a witness is for the judge to say.
Result<ValueWitness> restore(const WitnessSummary& summary, std::vector<EventId> order);

// "y == 0 (read at a.cc:12)" of the reads that lead to an access that was not executed.
std::vector<std::string> describe(const std::vector<DecidingRead>& reads, const DeepProgram& program,
                                  const TraceView& trace);

}  // namespace sooth
