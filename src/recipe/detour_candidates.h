// The pairs of accesses worth a question of which at least one never happened.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "predict/past_clocks.h"
#include "recipe/formula/model.h"
#include "recipe/recipe.h"

namespace sooth {

// Each step of a detour that is an access with every access of the trace, and every step of another thread's detour,
// that it conflicts with: but for pairs of which one has happened whenever the other is next, that a lock protects, or
// whose detour no values take.
class DetourCandidates {
 public:
  // Accesses that are further apart than `max_distance` events are left out. `skip` names places that are not wanted.
  DetourCandidates(const RecipeModel& model, std::uint64_t max_distance,
                   const std::function<bool(const Site&, const Site&)>& skip);

  struct Pair {
    RaceTarget targets[2];
    std::uint64_t promise = 0;  // less is better: few steps of detours, then accesses that are close
  };
  struct Places {
    RecipePlace places[2];    // the first was not executed
    std::vector<Pair> pairs;  // the most promising first
    bool left_out = false;    // some were
  };
  // Sorted by instruction, then by instruction or site of the second.
  const std::vector<Places>& all() const { return all_; }
  std::uint64_t detours() const { return detours_; }
  // The event that the thread would come to, or its last one: where the target stands in the trace.
  EventIndex place(const RaceTarget& target) const;

 private:
  struct Lock {
    std::uint64_t object;
    bool shared;
  };
  // An access of the trace or of a detour.
  struct Access {
    RaceTarget target;
    bool writes = false, atomic = false;
    std::vector<Lock> locks;
  };
  using Key = std::pair<InstructionRef, std::pair<bool, std::pair<InstructionRef, std::uint32_t>>>;

  void collect_steps(std::map<PieceIndex, std::vector<Access>>& steps);
  void collect_events(const std::map<PieceIndex, std::vector<Access>>& steps,
                      std::map<PieceIndex, std::vector<Access>>& events) const;
  std::vector<Lock> held_at(std::uint32_t thread, std::uint32_t position) const;
  bool can_meet(const Access& a, const Access& b) const;
  void add(const Access& step, const Access& other);

  const RecipeModel& model_;
  const std::uint64_t max_distance_;
  const std::function<bool(const Site&, const Site&)>& skip_;
  const PastClocks past_;
  std::map<Key, Places> found_;
  std::map<Key, bool> skipped_;
  std::vector<Places> all_;
  std::uint64_t detours_ = 0;
};

}  // namespace sooth
