// Why a finding can happen, for somebody who has never heard of happens-before.
#pragma once

#include <string>

#include "race/finding.h"

namespace sooth {

// Some sentences of printable text: who does what, why nothing keeps them apart, which other order leads there, and
// what became of it when it was tried. Claims no more than the rung does.
std::string explanation(const Finding& finding);

}  // namespace sooth
