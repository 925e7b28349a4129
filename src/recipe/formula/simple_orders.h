// Orders that are worth a try before a solver looks for one.
#pragma once

#include <vector>

#include "predict/window.h"
#include "recipe/formula/model.h"
#include "recipe/formula/scope.h"

namespace sooth {

// Reorderings of the window with the targets next that keep program order, must-order and locks, whatever the values:
// what the targets need, or all that is allowed, each in the recorded order and with either target's thread as early as
// possible; and that of a detour's cut. At most eight, all different; of those in which locks leave nobody to go on, none. The scope must be
// possible.
std::vector<std::vector<StepId>> simple_orders(const RecipeModel& model, const Window& window,
                                               const RaceTarget (&targets)[2], const Steps& steps, const Scope& scope);

}  // namespace sooth
