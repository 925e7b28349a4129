// The strategy `auto`: strategies share the runs (portfolio.h); or, if that is what TestOptions::strategy says, `rff` has
// them all.
#pragma once

#include <functional>

#include "base/status.h"
#include "confirm/directed_tests.h"
#include "confirm/portfolio.h"
#include "confirm/test_campaign.h"

namespace sooth {

// As run_tests(). Where it is worth it, with kWorthRecording runs or more, another run comes first and is recorded, for pairs
// that may race; that it cannot be is no error. It is not judged and does not count.
Result<TestResult> run_auto_tests(const std::function<Result<RunOutcome>(const RunPlan&)>& run,
                                  const FindPairs& find_pairs, TestTally& tally, const TestOptions& options);

inline constexpr std::uint64_t kWorthRecording = 10;
inline constexpr char kRffStrategy[] = "rff";

}  // namespace sooth
