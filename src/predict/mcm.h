// Maximal causality: which conflicting accesses some correct reordering of a trace brings together. All of them, with a
// witness for each, and a proof for every "no". The same questions about deadlocks.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "predict/predictor.h"
#include "predict/search.h"
#include "predict/trace_index.h"
#include "predict/window.h"
#include "race/pair_table.h"

namespace sooth {

// The stages before the solver only save time: without them the answers are the same. Tests and measurements use that.
struct McmStages {
  bool closure = true;     // the sync-preserving closure, as a witness
  bool saturation = true;  // contradictions, and what the solver need not be asked
  bool search = true;      // trying out, with every read seeing the write that it saw
  bool solver = true;
};

struct McmOptions {
  // Events that are reordered at a time; what comes before them happens as recorded. Windows overlap by half, so that
  // all pairs up to half a window apart are looked at. 0: the whole trace at once.
  std::uint64_t window = 20'000;
  // For each question to the solver. What it cannot answer in that time is unknown. 0: the solver is not asked.
  std::chrono::milliseconds solver_timeout{10'000};
  // What is tried out before the solver is asked.
  Budget search{.states = 1'000};
  // Dynamic pairs that are tried for two sites before their answer is "unknown".
  std::uint64_t max_pairs = 1'000;
  unsigned jobs = 1;  // threads; the answers do not depend on it
  McmStages stages;
  // Called with the number of site pairs done and in all, from the thread that called find_mcm_races().
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
  // Asked all the time (StopPoll), from several threads; from then on the answers are "unknown". Without it there is
  // time for all.
  std::function<bool()> out_of_time;
};

// Whether a correct reordering (docs/semantics.md section 7) of the window has both accesses, which conflict, next:
//   Witness     such a reordering of the trace. What comes before the window stands in it as recorded.
//   Infeasible  there is none: a proof, as far as reorderings of this window go; without one, of any
//   Unknown     time or a bound ran out
// Values and branches count where the trace of the index has them. Order that a caller knows of beyond
// docs/semantics.md section 3 is given to the index (ExtraOrder) and kept by every stage. Safe to call from several
// threads.
Prediction predict_race(const TraceIndex& index, Candidate pair, const McmOptions& options,
                        const Window* window = nullptr, Effort* effort = nullptr);

// The same for acquires that wait for each other, as find_deadlock() (predict/search.h): whether all can be next, while
// reads may see other writes where branches or values allow it.
Prediction predict_deadlock(const TraceIndex& index, std::span<const EventId> acquires, const McmOptions& options,
                            const Window* window = nullptr, Effort* effort = nullptr);

// Two sites that some pair of accesses may bring together.
struct McmSitePair {
  SiteId low_site{};
  SiteId high_site{};
  enum class Answer : std::uint8_t { kRace, kNoRace, kUnknown } answer = Answer::kUnknown;
  std::optional<Witness> witness;  // kRace
  std::string why;                 // kUnknown
  bool complete = true;            // kNoRace: no reordering of the whole trace makes any of its pairs meet
  std::uint64_t asked = 0;         // dynamic pairs
  std::uint64_t decided_by[kDecidedByCount] = {};  // of those, by DecidedBy
  std::uint64_t unknown = 0;                       // of those, without an answer
};

struct McmResult {
  std::vector<McmSitePair> pairs;  // by low_site, then high_site; without those that `skip` named
  std::uint64_t candidates = 0;    // dynamic pairs that were asked about
  std::uint64_t skipped = 0;       // site pairs that `skip` named
  std::string why_not_all;         // not empty: some site pairs may not have been found
  std::uint64_t far_pairs =
      0;  // site pairs some of whose accesses no window has together: their "no" is one of the windows
};

// Every pair of sites with conflicting accesses that must-order does not order and no lock protects. It is a race as
// soon as one of its dynamic pairs is, and none when all of them are refuted. `skip` names site pairs of which the
// answer is known. Deterministic but for what the solver can do in its time.
McmResult find_mcm_races(const TraceIndex& index, const McmOptions& options,
                         const std::function<bool(SiteId low, SiteId high)>& skip = {});

}  // namespace sooth
