// Three answers to the question whether something can happen: running out of time is never a "no".
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "race/witness.h"

namespace sooth {

struct Infeasible {};  // no correct reordering exists: the search was complete
struct Unknown {
  std::string reason;  // "the search gave up after 100000 states"
};
using Prediction = std::variant<Witness, Infeasible, Unknown>;

// How much a single question may cost. Deterministic: steps, not seconds.
struct Budget {
  std::uint64_t states = 100'000;
};

}  // namespace sooth
