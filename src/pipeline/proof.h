// From pairs that an analysis believes in to findings with a witness, or without one and why.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/trace_capture.h"
#include "predict/predictor.h"
#include "race/deadlock.h"
#include "race/finding.h"
#include "race/pair_table.h"
#include "race/witness.h"
#include "trace/batch.h"

namespace sooth {

struct ProofOptions {
  // Witnesses are looked for in so many events from the beginning of the trace; 0: not at all.
  std::uint64_t max_events = 2'000'000;
  // ... but only in so many when no finding needs a witness to be believed: happens-before already proves its own.
  std::uint64_t max_events_if_observed = 200'000;
  // Reorderings that reverse critical sections are searched in so many events: that takes seconds for a pair behind a
  // million events, where those that keep their order take milliseconds.
  std::uint64_t max_events_for_search = 250'000;
  // Reports have witnesses as they were found, with all threads and steps, not made small.
  bool whole_witnesses = false;
  // In traces up to this length also pairs of heuristic analyses are tried, of which there may be thousands, and where
  // the examples of the analyses fail, all pairs of accesses with their sites.
  std::uint64_t max_events_for_heuristics = 50'000;
  // Pairs of accesses tried for one pair of sites before giving up.
  std::size_t max_pairs = 256;
  Budget budget;
  VariableClasses* variables = nullptr;  // by which claims at the same sites are told apart
  // Called before each claim with the number of claims done and in all.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
  // Asked all the time (StopPoll); from then on the others stay open, and say so. Without it there is time for all.
  std::function<bool()> out_of_time;
};

// A finding on its way, with what is needed to prove it.
struct Claim {
  Finding finding;
  bool heuristic = false;  // only analyses that guess have named it
  SiteId low_site{};       // of a race
  SiteId high_site{};
  std::uint32_t variable = VariableClasses::kOne;  // ... and what they touch
  bool one_of_several = false;                     // ... as other claims at the same sites do not
  std::vector<Candidate> candidates;               // ... the examples of the analyses
  std::vector<RacePlan> plans;                     // ... ways there that some of them have found
  bool data_abstraction = false;                   // ... an analysis has shown that locks and must-order let it happen
  std::vector<std::vector<EventId>> acquires;      // of a deadlock: the examples of the analyses
  std::optional<Witness> given;                    // for prove_given()
};

struct ProofCount {
  std::uint64_t checked = 0;                             // findings with a checked witness
  std::uint64_t refuted = 0;                             // no correct reordering makes any of their pairs meet
  std::uint64_t open = 0;                                // neither
  std::uint64_t rejected = 0;                            // witnesses that the checker did not accept: a fault of ours
  std::vector<std::pair<SiteId, SiteId>> refuted_sites;  // of the races among the refuted
};

// Tries to find a witness for every claim and gives it to the independent checker. A claim with a checked witness
// becomes `predicted`, with the accesses of the witness; the others keep their rung and say why there is no witness. One
// that is refuted completely stays, too: the proof is about reorderings of this run in which reads keep their values, and
// the program may have other runs.
ProofCount prove(std::vector<Claim>& claims, const TraceCapture& capture, const Tables& tables,
                 const ProofOptions& options);

// No reordering proves it, and it says so: where `prove()` or a later stage has looked at all of them.
void say_refuted(Claim& claim);

// The same for claims that come with a witness, which nobody has checked yet; adds to `count`.
void prove_given(std::vector<Claim>& claims, const TraceCapture& capture, const Tables& tables, ProofCount& count);

}  // namespace sooth
