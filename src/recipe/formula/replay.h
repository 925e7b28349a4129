// From an order of steps to a witness: what its reads see.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "predict/window.h"
#include "recipe/formula/model.h"
#include "recipe/witness/value_witness.h"

namespace sooth {

// `order` is a reordering of the window after which the targets are next; before it stands what happened before the
// window. Executes it on the memory of the model.
ValueWitness replay(const RecipeModel& model, const Steps& steps, const Window& window, const RaceTarget (&targets)[2],
                    std::span<const StepId> order);

// What every variable of the program is then: of those that nothing in `order` reads, as recorded. Targets that read
// have read.
std::vector<std::uint64_t> replay_values(const RecipeModel& model, const Steps& steps, const Window& window,
                                         std::span<const StepId> order);

}  // namespace sooth
