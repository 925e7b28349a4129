// The part of a recording that matters for a question.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/flat_map.h"
#include "predict/saturation.h"
#include "predict/window.h"
#include "recipe/formula/model.h"

namespace sooth {

// If some reordering of the window brings the targets together, then one does that executes at least `need` and at most
// `allowed` of each thread, whatever values there are. Beyond what the targets need, a thread goes on to end a section
// that others wait for, or to write what a read that matters may see. Steps of detours are all needed, up to the
// target.
//
// A variable *matters* when some condition, or something written that a read that matters may see, depends on it. What
// other reads see makes no difference, as long as somebody knows what it is.
class Scope {
 public:
  // Everything must outlive it.
  // When `poll` has stopped, nothing that it says counts.
  Scope(const RecipeModel& model, const Window& window, const RaceTarget (&targets)[2], const Steps& steps,
        StopPoll* poll = nullptr);

  // False: no reordering has the targets next, whatever the values.
  bool is_possible() const { return possible_; }
  const std::vector<std::uint32_t>& need() const { return need_; }
  const std::vector<std::uint32_t>& allowed() const { return length_; }
  // What was inferred about the order of needed events; may be empty.
  const std::optional<Bounds>& bounds() const { return bounds_; }

  bool is_past(StepId s) const { return steps_.is_event(s) && window_.is_past(model_.index(), s); }
  bool is_needed(StepId s) const { return is_among(s, need_); }
  bool is_in(StepId s) const { return is_among(s, length_); }
  // `a` comes before `b` in every reordering that has `b`.
  bool is_implied(StepId a, StepId b) const;
  bool matters(std::uint32_t variable) const { return matters_.contains(variable); }
  // Those that do.
  const std::vector<std::uint32_t>& mattering() const { return mattering_; }

  // Calls visit(step) for the events and steps of a thread that may be executed, in program order.
  template <typename Visit>
  void for_each_step(std::uint32_t thread, Visit&& visit) const {
    const auto events = model_.index().events_of(thread);
    for (std::uint32_t i = window_.floor[thread]; i < length_[thread]; ++i) {
      visit(events[i]);
    }
    for (StepId s = steps_.first_step(); s < steps_.end(); ++s) {
      if (steps_.thread(s) == thread && !steps_.is_target(s)) {
        visit(s);
      }
    }
  }
  // Calls visit(condition) for the conditions of the trace that the thread must fulfil if it executes up to `allowed`,
  // from the beginning of the window on; for targets, if it comes to what is next.
  template <typename Visit>
  void for_each_condition(std::uint32_t thread, Visit&& visit) const {
    for (std::uint32_t i = first_condition(thread); i < end_condition(thread); ++i) {
      visit(model_.thread(thread).conditions[i]);
    }
  }
  // Whether the thread comes to its event at `position` in every reordering: a target is next there, or it is executed.
  bool comes_to(std::uint32_t thread, std::uint32_t position) const;
  // Whether the thread may execute events of which nothing is known but that they happen if all it read is as recorded;
  // the first of them stands at SymbolicThread::end. And whether it does in every reordering, or is about to.
  bool may_pass_end(std::uint32_t thread) const;
  bool passes_end(std::uint32_t thread) const;
  // The writes of the piece that may be executed in the window, in trace order, then steps.
  std::vector<StepId> writes(PieceIndex p) const;
  // The last one before the window, which all see that see none of those; kNoEvent: none.
  EventIndex write_before(PieceIndex p) const;

  // What is there before the window begins; nullopt: nobody knows.
  std::optional<std::uint64_t> content_before(PieceIndex p) const;

 private:
  bool is_among(StepId s, const std::vector<std::uint32_t>& lengths) const {
    return !steps_.is_target(s) && (!steps_.is_event(s) || steps_.position(s) < lengths[steps_.thread(s)]);
  }
  const RaceTarget* target_of(std::uint32_t thread) const;
  bool find_limits();
  bool find_need();
  bool saturate_need();
  void find_allowed();
  std::uint32_t first_condition(std::uint32_t thread) const;
  std::uint32_t end_condition(std::uint32_t thread) const;

  // The thread may execute so many events.
  void grow(std::uint32_t thread, std::uint32_t length);
  void follow_events(std::uint32_t thread);
  void follow_conditions(std::uint32_t thread);
  void mark(ExprId e);
  void follow_read(StepId read);
  void end_sections();

  const RecipeModel& model_;
  const Window& window_;
  const RaceTarget targets_[2];
  const Steps& steps_;
  StopPoll* const poll_;
  bool possible_ = false;
  std::optional<Bounds> bounds_;
  std::vector<std::uint32_t> limit_;  // by thread: events that may be executed without a target
  std::vector<std::uint32_t> need_, length_;
  std::vector<std::uint32_t> followed_, conditions_followed_;  // by thread: how far length_ is taken into account
  bool changed_ = false;
  FlatMap<bool> matters_;  // by variable
  std::vector<std::uint32_t> mattering_;
  FlatMap<bool> marked_;       // by expression
  std::vector<StepId> reads_;  // to be followed
};

}  // namespace sooth
