// Goals of a run about who reads from whom, and what threads that are about to do something are to do about them: held
// back, put first, or neither. Freestanding like strategy.h, which asks.
//
// Wolff, Shi, Duck, Mathur, Roychoudhury: Greybox Fuzzing for Concurrency Testing, ASPLOS 2024, calls a set of such goals an
// abstract schedule (section 3). Events are named by where they are in the code, so a goal means the same in every run.
// Here the order of any two dependent events counts, not that of a write and a read alone: then the order in which threads take a lock, and
// that of a read and the write that comes too late for it, are goals like any other.
#pragma once

#include <cstdint>

namespace sooth {

// What is at `second` comes right behind what is at `first`, at the same object and in another thread, and nothing is
// written there in between; or that does not happen.
struct ReadsFromGoal {
  std::uint64_t first = 0, second = 0;  // offsets in their modules
  bool is_wanted = true;

  friend constexpr bool operator==(const ReadsFromGoal&, const ReadsFromGoal&) = default;
};

inline constexpr std::uint32_t kMaxGoals = 16;

// Something that a thread does, or is about to do.
struct GuidedEvent {
  std::uint32_t thread = 0;  // any number of it
  std::uint64_t place = 0;   // offset in its module; 0: nobody knows
  std::uint64_t object = 0;  // 0: none
  bool writes = false;
};

enum class Guidance : std::uint8_t { kHoldBack, kNeither, kPutFirst };

// The goals of one run, and how far they have come. Not thread safe.
class ReadsFromGuide {
 public:
  // How many times a goal holds somebody back before it is given up: who polls for what that one does must end.
  static constexpr std::uint32_t kPatience = 1024;

  constexpr void add(const ReadsFromGoal& goal) {
    if (count_ < kMaxGoals) {
      states_[count_++].goal = goal;
    }
  }
  constexpr bool is_empty() const { return count_ == 0; }

  // It happened.
  constexpr void observe(const GuidedEvent& event) {
    for (std::uint32_t i = 0; i < count_; ++i) {
      State& state = states_[i];
      if (event.place == state.goal.second && follows(state, event)) {
        state.is_met = true;
      }
      if (event.place == state.goal.first) {
        state.object = event.object;
        state.thread = event.thread;
      } else if (event.writes && event.object == state.object) {
        state.object = 0;
      }
    }
  }

  // It is about to happen. What a goal puts first goes before what another holds back.
  constexpr Guidance ask(const GuidedEvent& event) {
    Guidance result = Guidance::kNeither;
    for (std::uint32_t i = 0; i < count_; ++i) {
      State& state = states_[i];
      const Guidance one = state.held_back < kPatience && event.object != 0 ? ask(state, event) : Guidance::kNeither;
      if (one == Guidance::kPutFirst) {
        return one;
      }
      if (one == Guidance::kHoldBack) {
        ++state.held_back;
        result = one;
      }
    }
    return result;
  }

  // Goals that came about: wanted ones that were met, others that were not.
  constexpr std::uint32_t reached() const {
    std::uint32_t reached = 0;
    for (std::uint32_t i = 0; i < count_; ++i) {
      reached += states_[i].is_met == states_[i].goal.is_wanted ? 1 : 0;
    }
    return reached;
  }

 private:
  struct State {
    ReadsFromGoal goal;
    std::uint64_t object = 0;  // where `first` happened last, and nothing was written since; 0: nowhere
    std::uint32_t thread = 0;  // who did
    std::uint32_t held_back = 0;
    bool is_met = false;
  };

  static constexpr bool follows(const State& state, const GuidedEvent& event) {
    return state.object != 0 && state.object == event.object && state.thread != event.thread;
  }

  static constexpr Guidance ask(const State& state, const GuidedEvent& event) {
    const bool is_second = event.place == state.goal.second;
    if (!state.goal.is_wanted) {
      return is_second && follows(state, event) ? Guidance::kHoldBack : Guidance::kNeither;
    }
    if (state.is_met) {
      return Guidance::kNeither;
    }
    if (is_second) {
      // Somebody has to begin where both are at the same place.
      const bool begins = state.goal.first == state.goal.second && state.object != event.object;
      return follows(state, event) ? Guidance::kPutFirst : begins ? Guidance::kNeither : Guidance::kHoldBack;
    }
    const bool hides = event.writes && event.object == state.object && event.place != state.goal.first;
    return hides ? Guidance::kHoldBack : Guidance::kNeither;
  }

  State states_[kMaxGoals] = {};
  std::uint32_t count_ = 0;
};

}  // namespace sooth
