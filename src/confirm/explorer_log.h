// From the log of a controlled run to what the search wants to know of it.
#pragma once

#include "base/status.h"
#include "confirm/explorer_steps.h"
#include "schedule/run_log.h"

namespace sooth {

// Points of a run that are looked at: runs worth exploring are shorter.
inline constexpr std::size_t kMaxExploredPoints = 5000;

// Of the first process of a run with control::kLogPoints. The error says what in the log cannot be.
Result<Execution> execution_of(const RunLog& log);

}  // namespace sooth
