// RaceFuzzer without a report: finds pairs that may race in recorded runs, and steers runs into them, in turn.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "confirm/site_code.h"
#include "confirm/test_campaign.h"

namespace sooth {

// Two places that an analysis believes can meet.
struct DirectedPair {
  std::string id;             // the same in every recording
  std::string first, second;  // the places, for people
  PairCode code;
  // No race, but the second of two critical sections of a thread, and one that is to come between them
  // (run/split_sections.h). Of no use to run_directed_tests().
  bool is_split = false;
};

// Phase 1 of the paper: the pairs of a run with a random schedule of this seed. The error says why the program cannot
// be recorded.
using FindPairs = std::function<Result<std::vector<DirectedPair>>(std::uint64_t seed)>;

// Runs in rounds: one recorded run of a new seed, and then kTrialsPerRound directed runs towards each pair that is
// known by then, until it was created kEnoughHits times or tried kMaxTrials times; if there is none such, one with a
// random schedule. All count as runs. The recorded ones are only looked at for pairs; the others are judged in the
// order of their seeds. A shard takes a part of the seeds of its own. Otherwise as run_tests().
Result<TestResult> run_directed_tests(const std::function<Result<RunOutcome>(const RunPlan&)>& run,
                                      const FindPairs& find_pairs, TestTally& tally, const TestOptions& options);

inline constexpr std::uint64_t kTrialsPerRound = 10;
inline constexpr std::uint64_t kEnoughHits = 10;
inline constexpr std::uint64_t kMaxTrials = 50;

}  // namespace sooth
