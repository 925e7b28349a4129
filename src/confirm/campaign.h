// Phase 2 of RaceFuzzer (Sen, PLDI 2008, Algorithm 1): controlled runs of a program towards one finding after the
// other.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "confirm/outcome.h"
#include "confirm/output_harm.h"
#include "confirm/output_mask.h"
#include "confirm/site_code.h"
#include "confirm/target.h"
#include "confirm/witness_schedule.h"
#include "launch/controlled_run.h"

namespace sooth {

// Trials that a finding has had after each of its turns. Nobody has one before all others have had the one before: a
// stubborn finding must not starve those behind it.
inline constexpr std::uint64_t kTurns[] = {1, 3, 10, UINT64_MAX};

struct CampaignOptions {
  std::uint64_t trials = 100;  // controlled runs towards each finding, at most
  bool all_trials = false;     // do them all: for the probability
  std::uint64_t seed = 1;      // of trial 0; trial i has seed + i
  std::uint32_t jobs = 1;
  std::uint64_t baseline_runs = 10;
  // Hook calls of others that a thread in front of its access of a race waits for in every second trial, the first among them; 0: as in the others. Those have
  // a patience that suits threads that do nothing but wait for the one that waits.
  std::uint64_t patience = 0;
  // Results that are compared: files, which takes runs one at a time, or kItsOutput. A race whose order decides about them
  // is harmful. If nothing is asked for: what the program prints, where undirected runs all print the same.
  std::vector<std::string> compared = {};
  OutputMask mask = {};                                    // what of them does not count
  std::function<bool()> cancelled = [] { return false; };  // asked from several threads
  std::function<void()> on_run = [] {};                    // after each run that counts, from the thread of the caller
  // The same, with the run.
  std::function<void(const RunPlan&, const RunOutcome&)> on_outcome = [](const RunPlan&, const RunOutcome&) {};
};

// A run that is worth to be repeated.
struct ReachingRun {
  RunPlan plan;
  RunLog log;
  ProgramEnd end;
  Outcome outcome;
};

struct Confirmation {
  std::uint64_t trials = 0, hits = 0;
  bool witness_followed = false;      // to its end, and it got there
  std::uint64_t witness_repeats = 0;  // further runs along it that got there
  std::string diverged;               // where the run along the witness left it; empty without one
  std::optional<ReachingRun> run;     // the first that did harm, or else the first that got there
  bool along_witness = false;         // that is one along target.witnesses
  bool harmful = false;
  bool order_matters = false;  // the failure depends on which of the two accesses goes first
  std::uint64_t failures = 0;  // runs that got there and ended like `run`, if that failed
  std::uint64_t baseline_runs = 0, baseline_failures = 0, missed_failures = 0;
  bool by_delay = false;   // as ReplaySummary::by_delay
  double chance = 1;       // as ReplaySummary::chance
  bool cancelled = false;  // before it was decided

  // No run was made towards it.
  bool untouched() const { return trials == 0 && !run.has_value() && diverged.empty(); }
};

// Every run is a function of its plan, as far as the program allows, and trials are judged in the order of their seeds,
// so the result does not depend on `jobs`. Not thread safe; `run` is called from several threads.
//
// Trials end when ten have got there without a failure: the random choice between the two accesses has then shown both
// orders but for one time in 500. A failure behind the finding is no harm by itself: it may have nothing to do with it.
// It is harm when it is significantly more frequent than in runs that did not get there, undirected ones and other
// trials. Or when it is with one order of the two accesses than with the other: which goes first was drawn, so nothing
// but the race can explain that. A race that few trials get to is repeated along its witness, if that leads there:
// what is behind it may take the other order. Trials end early when that is clear. The same goes for what runs print that end well:
// if that depends on which of the two goes first, the race decides about the result.
class Campaign {
 public:
  using Run = std::function<Result<RunOutcome>(const RunPlan&)>;
  static constexpr std::uint64_t kHarmlessHits = 10;
  // If they did not all print the same, so many: fewer cannot tell whether the order decides.
  static constexpr std::uint64_t kComparedHits = 20;
  // Of so many trials half must get there, or the witness is repeated.
  static constexpr std::uint64_t kTrialsBeforeRepeats = 10;

  Campaign(Run run, CampaignOptions options) : run_(std::move(run)), options_(std::move(options)) {}

  // What the runs towards one target have come to so far. A campaign may have many of them under way; it must outlive
  // them.
  class Attempt;
  std::shared_ptr<Attempt> begin(Target target) const;
  // Makes runs until so many trials of each were made in all, or `over(attempt)`. Its witnesses are followed before its
  // first trial. Runs towards several targets overlap, too. The error says why the program cannot be run; whatever the
  // program does is no error.
  Status advance(std::span<Attempt* const> attempts, std::uint64_t trials);
  // More runs would tell nothing new, or are not wanted.
  bool over(const Attempt& attempt) const;
  // Other ways there, to be followed before anything else.
  void add_witnesses(Attempt& attempt, Target target) const;
  // Trials that follow, so many at most, have weak memory: atomics may see older values there, as far as their orders
  // allow. Whether they do harm is judged by undirected runs that have it, too. Of attempts that no run has reached.
  void allow_older_values(Attempt& attempt, std::uint64_t trials) const;
  std::uint64_t trials_of(const Attempt& attempt) const;
  bool has_reached(const Attempt& attempt) const;  // a run got there
  // Judges what there is. The attempt is of no use afterwards.
  Result<Confirmation> finish(Attempt& attempt);

  // All of this at once.
  Result<Confirmation> confirm(Target target);

  const Baseline& baseline() const { return baseline_; }

 private:
  // Runs that got there, by how they ended.
  struct Group {
    Outcome outcome;
    std::uint64_t runs = 0;
    std::array<std::uint64_t, 2> with_first{};  // of these, by first_place()
    ReachingRun first;
    bool along_witness = false;
  };
  class Tally;
  struct Made {
    RunPlan plan;
    Result<RunOutcome> run;
  };

  Result<RunOutcome> run(const RunPlan& plan) const;
  const std::vector<std::string>& compared() const;  // also what nobody has asked for
  Status judge_results(const Attempt& attempt, Confirmation& result);
  Status extend_baseline(std::uint64_t runs, bool weak = false);
  RunPlan trial(const Attempt& attempt, std::uint64_t index) const;
  RunPlan along(const WitnessSchedule& witness, const Target& target) const;
  std::vector<Made> follow(const Target& target) const;
  void take_followed(Attempt& attempt, std::vector<Made> made) const;
  Status follow_witnesses(std::span<Attempt* const> attempts);
  Status run_trials(std::span<Attempt* const> attempts, std::uint64_t trials);
  Status repeat_witnesses(std::span<Attempt* const> attempts);

  Run run_;
  CampaignOptions options_;
  Baseline baseline_, weak_baseline_;          // undirected runs; weak: with older values
  std::vector<std::string> baseline_results_;  // of its first runs, if they ended well
};

}  // namespace sooth
