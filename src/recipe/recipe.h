// RECIPE: races of reorderings in which reads see other values than in the recorded run and the program computes on with them; also with
// accesses that the recorded run never made.
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
#include "recipe/model.h"
#include "recipe/value_witness.h"
#include "smt/expr.h"

namespace sooth {

struct RecipeOptions {
  // Accesses on branches that were not taken, too. Without: "recipe:s", Section III of the paper alone.
  bool detours = true;
  // Events that are reordered at a time, as McmOptions::window.
  std::uint64_t window = 2'000;
  // For each question to the solver. What it cannot answer in that time is unknown.
  std::chrono::milliseconds solver_timeout{10'000};
  // Dynamic pairs that are tried for two places before their answer is "unknown".
  std::uint64_t max_pairs = 100;
  unsigned jobs = 1;  // threads; the answers do not depend on it
  // Called with the number of pairs of places done and in all, from the thread that called find_recipe_races().
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
  // Asked before each question, from several threads; from then on the answers are "unknown".
  std::function<bool()> out_of_time;
};

using ValuePrediction = std::variant<ValueWitness, Infeasible, Unknown>;

// Whether both targets, which conflict, can be next after a reordering of the window, with whatever values its reads see:
// docs/recipe.md. `table` is a copy of the program's expressions, which grows. `by_solver` is told whether the solver was
// asked.
ValuePrediction predict_value_race(const RecipeModel& model, ExprTable& table, const RaceTarget (&targets)[2],
                                   const RecipeOptions& options, const Window* window = nullptr,
                                   bool* by_solver = nullptr);

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
  std::uint64_t before_solver = 0;      // of those: refuted without the solver
  std::uint64_t by_solver = 0;          // ... decided by it
  std::uint64_t unknown = 0;            // ... without an answer
};

struct RecipeResult {
  std::vector<RecipePair>
      pairs;  // executed ones first, by sites; then the others, by instruction. Without those that `skip` named
  std::uint64_t candidates = 0;  // dynamic pairs that were asked about
  std::uint64_t skipped = 0;     // pairs of sites that `skip` named
  std::uint64_t far_pairs = 0;   // pairs of places some of whose accesses no window has together
  std::uint64_t detours = 0;     // that could be taken as far as constants say
};

// Every pair of places with conflicting accesses, made or not, that must-order does not order and no lock protects. `skip`
// names sites of which the answer is known, `skip_places` the same by what the source calls them (site_key()), which also
// counts for accesses that were not executed. Deterministic but for what the solver can do in its time.
RecipeResult find_recipe_races(const RecipeModel& model, const RecipeOptions& options,
                               const std::function<bool(SiteId low, SiteId high)>& skip = {},
                               const std::function<bool(const Site&, const Site&)>& skip_places = {});

}  // namespace sooth
