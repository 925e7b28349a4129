// Waits for a condition that end although nobody notifies: allowed, rare, and so what takes one is told last.
#pragma once

#include <string_view>

#include "race/finding.h"

namespace sooth {

// What ReplaySummary::strategy ends with when the run of the schedule had one. Such findings are `by_delay`, too.
inline constexpr std::string_view kWithSpuriousWakes = " with spurious wake-ups";

// The same when atomics of that run saw something else than the newest.
inline constexpr std::string_view kWithWeakMemory = " with weak memory";

// Only such runs have got there.
inline bool takes_spurious_wake(const Finding& finding) {
  return is_by_delay(finding) && finding.replay.has_value() && finding.replay->strategy.ends_with(kWithSpuriousWakes);
}

}  // namespace sooth
