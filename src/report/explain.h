// Why a finding can happen, for somebody who has never heard of happens-before.
#pragma once

#include <string>

#include "race/finding.h"

namespace sooth {

// Some sentences of printable text: who does what, why nothing keeps them apart, which other order leads there, and
// what became of it when it was tried. Claims no more than the rung does.
std::string explanation(const Finding& finding);

// The same in one clause, for the terminal: what is missing, or what order kept it from happening. May be empty.
std::string why_it_can_happen(const Finding& finding);

}  // namespace sooth
