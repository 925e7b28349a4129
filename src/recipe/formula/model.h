// All that questions about one deep recording have in common, and the steps that one of them is about.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/flat_map.h"
#include "predict/trace_index.h"
#include "race/witness.h"
#include "recipe/execute/thread_trace.h"
#include "recipe/formula/memory_model.h"

namespace sooth {

// Read-only once made; several questions may share it. All arguments must outlive it. `index` is of `trace`, with the
// order that calls impose and without regard to what reads saw: see free_index().
class RecipeModel {
 public:
  RecipeModel(const TraceIndex& index, const TraceView& trace, const SymbolicProgram& program,
              const InitialBytes& initial);

  const TraceIndex& index() const { return index_; }
  const SymbolicProgram& program() const { return program_; }
  // What the trace knows of a site.
  Site site(SiteId id) const { return tables_ == nullptr ? Site{} : tables_->site(id); }
  const MemoryModel& memory() const { return memory_; }
  const SymbolicThread& thread(std::uint32_t t) const {
    return t < program_.threads.size() ? program_.threads[t] : none_;
  }
  // nullptr: the event is not listed.
  const SymbolicAccess* access(EventIndex e) const {
    const SymbolicAccess* const* found = accesses_.find(e);
    return found == nullptr ? nullptr : *found;
  }
  // The event that reads the variable; kNoEvent when a step of a detour does.
  EventIndex reader(std::uint32_t variable) const { return readers_[variable]; }
  // Whether a read has no recorded value in the trace: it must see the very write that it saw.
  bool must_see_the_same(EventIndex read, PieceIndex p) const { return !memory_.recorded(read, p).has_value(); }
  // Whether it is known what the write leaves in the piece, as a number or an expression. What a thread writes to
  // memory of its own without being listed may be anything.
  bool is_written_value_known(EventIndex write, PieceIndex p) const;
  // Whether nobody knows what some write leaves in the piece.
  bool has_unknown_writes(PieceIndex p) const { return has_unknown_writes_[p]; }
  // Whether the thread may be kept from making the event, which stands behind others of the thread, by what they read.
  bool is_conditional(EventIndex e) const;

 private:
  // Whether the thread writes the recorded value there, whatever it has read.
  bool is_plain(EventIndex write) const;

  const TraceIndex& index_;
  const Tables* const tables_;
  const SymbolicProgram& program_;
  const SymbolicThread none_;
  const MemoryModel memory_;
  FlatMap<const SymbolicAccess*> accesses_;  // by event
  std::vector<EventIndex> readers_;          // by variable
  std::vector<bool> has_unknown_writes_;     // by piece
};

// The trace as the value-independent stages are to see it: no read has to see anything in particular. `trace` with a
// branch that nobody takes, which `branch` must hold for as long as the view is used.
TraceView without_bound_reads(const TraceView& trace, Branch& branch);

// One of the two accesses that are to meet: the thread has executed its events in front of `position`, and next is the
// event there or a step of a detour that begins there, after the steps in front of it.
struct RaceTarget {
  std::uint32_t thread = 0;
  std::uint32_t position = 0;
  EventIndex event = kNoEvent;
  std::uint32_t detour = 0;  // event == kNoEvent: in SymbolicThread::detours
  std::uint32_t step = 0;

  static RaceTarget at(const TraceIndex& index, EventIndex e) { return {index.thread(e), index.position(e), e, 0, 0}; }
  static RaceTarget at(const SymbolicThread& thread, std::uint32_t detour, std::uint32_t step) {
    return {thread.thread, thread.detours[detour].position, kNoEvent, detour, step};
  }
  bool is_event() const { return event != kNoEvent; }
};

// The events of the trace and the steps of the detours of two targets, by one kind of number: events by theirs, then
// the steps of the first target's detour up to the target, then those of the second's.
using StepId = std::uint32_t;

class Steps {
 public:
  Steps(const RecipeModel& model, const RaceTarget (&targets)[2]);

  bool is_event(StepId s) const { return s < events_; }
  // The step that is the target itself, an event or not.
  StepId target(int i) const { return target_[i]; }
  bool is_target(StepId s) const { return s == target_[0] || s == target_[1]; }
  // Steps of detours, targets among them: all numbers from first_step() up to end().
  StepId first_step() const { return static_cast<StepId>(events_); }
  StepId end() const { return static_cast<StepId>(events_ + detours_[0] + detours_[1]); }

  std::uint32_t thread(StepId s) const;
  // Behind the events of the thread.
  std::uint32_t position(StepId s) const;
  Op op(StepId s) const;
  std::uint64_t object(StepId s) const;
  // What it reads and writes; kNoExpr when that is as recorded, or nothing.
  ExprId read(StepId s) const;
  ExprId written(StepId s) const;
  const DetourStep& detour_step(StepId s) const;
  template <typename Visit>
  void for_each_piece(StepId s, Visit&& visit) const {
    if (is_event(s)) {
      model_.memory().for_each_piece(s, [&](PieceIndex p, std::size_t) { visit(p); });
    } else {
      const RaceTarget& target = targets_[of(s)];
      for (const PieceIndex p : *model_.memory().step_pieces(target.thread, target.detour, number(s))) {
        visit(p);
      }
    }
  }
  // False when some step touches memory of which the generation is not known.
  bool are_known() const;

 private:
  int of(StepId s) const { return s < events_ + detours_[0] ? 0 : 1; }
  std::uint32_t number(StepId s) const {
    return static_cast<std::uint32_t>(s - events_ - (of(s) == 0 ? 0 : detours_[0]));
  }

  const RecipeModel& model_;
  const RaceTarget targets_[2];
  const std::size_t events_;
  std::size_t detours_[2] = {};  // how many steps
  StepId target_[2] = {};
};

}  // namespace sooth
