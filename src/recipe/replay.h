// From an order of steps to a witness: what its reads see.
#pragma once

#include <span>

#include "predict/window.h"
#include "recipe/model.h"
#include "recipe/value_witness.h"

namespace sooth {

// `order` is a reordering of the window after which the targets are next; before it stands what happened before the window.
// Executes it on the memory of the model.
ValueWitness replay(const RecipeModel& model, const Steps& steps, const Window& window, const RaceTarget (&targets)[2],
                    std::span<const StepId> order);

}  // namespace sooth
