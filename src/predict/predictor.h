// Three answers to the question whether something can happen: running out of time is never a "no".
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>

#include "race/witness.h"

namespace sooth {

struct Infeasible {};  // no correct reordering exists: the search was complete
struct Unknown {
  std::string reason;  // "the search gave up after 100000 states"
};
using Prediction = std::variant<Witness, Infeasible, Unknown>;

// How much a single question may cost.
struct Budget {
  std::uint64_t states = 100'000;  // deterministic: steps, not seconds
  // Asked all the time while the question is looked at, see StopPoll; when it says so the answer is Unknown. Without it
  // there is time.
  std::function<bool()> out_of_time{};
};

inline constexpr char kOutOfTime[] = "the time was over before all of it was asked";

}  // namespace sooth
