// Reads-from fuzzing: which goals (schedule/reads_from.h) the next run has, from what the runs before it showed.
//
// Wolff, Shi, Duck, Mathur, Roychoudhury: Greybox Fuzzing for Concurrency Testing, ASPLOS 2024, Algorithm 1. Goals of runs that
// showed something new are kept, and changed a little for the next ones: one is added, mostly a pair of places that no
// run has shown, one is left out, exchanged or turned into its opposite. Whose run is like many others gets no more of
// them; others get the more the longer they stay rare (the cut-off exponential schedule of section 4.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "schedule/random.h"
#include "schedule/reads_from.h"
#include "schedule/run_log.h"

namespace sooth {

// "rff", "rff:1a40>1a58,1b00!1c00", as parse_strategy() takes it.
std::string rff_of(const std::vector<ReadsFromGoal>& goals);

// Deterministic: a function of the seed and of what it was told.
class ReadsFromFuzzer {
 public:
  static constexpr std::size_t kMostGoals = 6;     // of a run that is planned here
  static constexpr std::size_t kMostKept = 2'000;  // runs whose goals are kept
  static_assert(kMostGoals <= kMaxGoals);

  explicit ReadsFromFuzzer(std::uint64_t seed = 1) : random_(seed) {}

  // The strategy of the next run. It may be asked for several before the first of them is made.
  std::string next();
  // A run of any strategy, and what was seen in it. False: nothing about it was new.
  bool take(const std::string& strategy, const ProcessLog& process);

  std::size_t kept() const { return kept_.size(); }

 private:
  using Pair = std::pair<std::uint64_t, std::uint64_t>;
  struct Kept {
    std::vector<ReadsFromGoal> goals;
    std::uint64_t signature = 0;  // of the run that they are kept for
    std::uint32_t chosen = 0;
  };
  struct Place {
    std::uint64_t group = 0;   // a place of it
    std::uint32_t thread = 0;  // who met it first
    bool is_of_many = false;   // others did, too
    bool writes = false;
  };
  // Places at which the same object was met.
  struct Group {
    std::vector<std::uint64_t> places;
    bool is_shared = false;  // by different threads
  };

  void add_place(std::uint64_t place, std::uint32_t thread, bool writes);
  void meet(const OrderOfThreads& order);
  ReadsFromGoal draw_goal();
  void mutate(std::vector<ReadsFromGoal>& goals);
  void choose_kept();

  SeededRandom random_;
  std::map<Pair, std::uint64_t> seen_;                 // runs in which a pair was seen
  std::map<Pair, std::uint64_t> asked_;                // ... for which it was a goal
  std::map<std::uint64_t, std::uint64_t> signatures_;  // runs that showed the same pairs
  std::map<std::uint64_t, Place> places_;              // by offset
  std::vector<std::uint64_t> in_order_;                // places, as they were met
  std::map<std::uint64_t, Group> groups_;              // by Place::group
  std::uint64_t runs_ = 0;
  std::vector<Kept> kept_;
  std::size_t at_ = 0;        // of kept_: whose goals are changed now
  std::uint64_t energy_ = 0;  // for how many runs more
};

}  // namespace sooth
