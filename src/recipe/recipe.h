// RECIPE: races of reorderings in which reads see other values than in the recorded run and the program computes on
// with them; also with accesses that the recorded run never made.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "predict/predictor.h"
#include "predict/window.h"
#include "recipe/formula/model.h"
#include "recipe/witness/value_witness.h"
#include "smt/expr.h"

namespace sooth {

struct RecipeOptions {
  // Accesses on branches that were not taken, too. Without: "recipe:s", Section III of the paper alone.
  bool detours = true;
  // Events that are reordered at a time, as McmOptions::window.
  std::uint64_t window = 2'000;
  // Simple orders are tried before the solver is asked. That only saves time: without it the answers are the same.
  bool try_out = true;
  // For a question to the solver; half of it for the next one about the same places when it had no answer, and so on. What
  // it cannot answer in that time is unknown.
  std::chrono::milliseconds solver_timeout{10'000};
  // Dynamic pairs that are tried for two places before their answer is "unknown".
  std::uint64_t max_pairs = 100;
  unsigned jobs = 1;  // threads; the answers do not depend on it
  // Called with the number of pairs of places done and in all, from the thread that called find_recipe_races().
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
  // Asked all the time (StopPoll), from several threads; from then on the answers are "unknown".
  std::function<bool()> out_of_time;
};

using ValuePrediction = std::variant<ValueWitness, Infeasible, Unknown>;

enum class RecipeEffort : std::uint8_t {
  kTries,  // the solver is not asked: Unknown without a reason is what it would have to decide
  kAll,
};

// Whether both targets, which conflict, can be next after a reordering of the window, with whatever values its reads
// see: docs/recipe.md. `table` is a copy of the program's expressions, which grows. `by_solver` is told whether the
// solver was asked.
ValuePrediction predict_value_race(const RecipeModel& model, ExprTable& table, const RaceTarget (&targets)[2],
                                   const RecipeOptions& options, const Window* window = nullptr,
                                   bool* by_solver = nullptr, RecipeEffort effort = RecipeEffort::kAll);

// Where an access stands in the program.
struct RecipePlace {
  std::optional<SiteId> site;                   // of an access of the trace, or
  std::optional<InstructionRef> at;             // of one that never happened
  Site source;                                  // ... which stands there
  MemoryOrder order = MemoryOrder::kNotAtomic;  // ... and has this order

  bool is_executed() const { return site.has_value(); }
  friend bool operator==(const RecipePlace&, const RecipePlace&) = default;
};

// A read that decides whether a thread comes to an access that never happened, and what it sees then.
struct DecidingRead {
  std::optional<EventId> event;      // of the trace, or
  std::optional<InstructionRef> at;  // a step of the branch that was not taken
  std::uint64_t address = 0;
  std::uint32_t size = 0;
  std::uint64_t value = 0;
};

struct RecipePair {
  RecipePlace places[2];
  enum class Answer : std::uint8_t { kRace, kNoRace, kUnknown } answer = Answer::kUnknown;
  std::optional<ValueWitness> witness;  // kRace; its `next` are in the order of `places`
  std::vector<DecidingRead> when[2];    // kRace: of places that were not executed
  std::string why;                      // kUnknown
  std::uint64_t asked = 0;              // dynamic pairs
  std::uint64_t before_solver = 0;      // of those: decided without the solver
  std::uint64_t by_solver = 0;          // ... decided by it
  std::uint64_t unknown = 0;            // ... without an answer
  bool far = false;                     // some of its accesses no window has together
  std::chrono::nanoseconds asking{};    // time for the questions that the solver was asked
};

struct RecipeResult {
  std::vector<RecipePair>
      pairs;  // executed ones first, by sites; then the others, by instruction. Without those that `skip` named
  std::uint64_t candidates = 0;  // dynamic pairs that were asked about
  std::uint64_t skipped = 0;     // pairs of sites that `skip` named
  std::uint64_t locked = 0;      // pairs of sites whose accesses conflict, and a lock protects all of them
  std::uint64_t far_pairs = 0;   // pairs of places some of whose accesses no window has together
  std::uint64_t detours = 0;     // that could be taken as far as constants say
  std::string why_not_all;       // not empty: some pairs of places may not have been found
};

// How the pairs of places with conflicting accesses were decided, each by the last of these that it took.
struct RecipeTally {
  std::uint64_t locked = 0;     // locks protect all of its accesses
  std::uint64_t ordered = 0;    // must-order orders all that locks do not protect
  std::uint64_t known = 0;      // `skip` named it: others have found the race
  std::uint64_t tried = 0;      // a race: a simple order gets there
  std::uint64_t refuted = 0;    // must-order, locks and what they imply keep apart what could be asked about
  std::uint64_t by_solver = 0;  // the solver has answered something
  std::uint64_t unknown = 0;    // there is no answer
  std::uint64_t far = 0;        // no window has two of its accesses together
  std::uint64_t questions = 0;  // to the solver
  double seconds = 0;           // ... and what they took

  std::uint64_t before_solver() const { return locked + ordered + known + tried + refuted; }
  std::uint64_t all() const { return before_solver() + by_solver + unknown + far; }
};
RecipeTally tally(const RecipeResult& result);

// Every pair of places with conflicting accesses, made or not, that must-order does not order and no lock protects.
// `skip` names sites of which the answer is known, `skip_places` the same by what the source calls them (site_key()),
// which also counts for accesses that were not executed. Deterministic but for what the solver can do in its time.
RecipeResult find_recipe_races(const RecipeModel& model, const RecipeOptions& options,
                               const std::function<bool(SiteId low, SiteId high)>& skip = {},
                               const std::function<bool(const Site&, const Site&)>& skip_places = {});

}  // namespace sooth
