#include "recipe/formula/model.h"

#include <algorithm>

namespace sooth {

RecipeModel::RecipeModel(const TraceIndex& index, const TraceView& trace, const SymbolicProgram& program,
                         const InitialBytes& initial)
    : index_(index),
      tables_(trace.tables),
      program_(program),
      memory_(index, trace, program, initial),
      readers_(program.expressions.variable_count(), kNoEvent) {
  for (const SymbolicThread& thread : program.threads) {
    for (const SymbolicAccess& access : thread.accesses) {
      accesses_[access.event] = &access;
      if (access.read != kNoExpr && program.expressions.is_variable(access.read)) {
        readers_[program.expressions.variable_number(access.read)] = access.event;
      }
    }
  }
  for (PieceIndex p = 0; p < memory_.piece_count(); ++p) {
    const std::span<const EventIndex> writes = memory_.writes(p);
    has_unknown_writes_.push_back(
        !std::all_of(writes.begin(), writes.end(), [&](EventIndex w) { return is_written_value_known(w, p); }));
  }
}

bool RecipeModel::is_plain(EventIndex write) const {
  const std::vector<EventIndex>& plain = thread(index_.thread(write)).plain_writes;
  return std::binary_search(plain.begin(), plain.end(), write);
}

bool RecipeModel::is_written_value_known(EventIndex write, PieceIndex p) const {
  const SymbolicAccess* symbolic = access(write);
  return (symbolic != nullptr && symbolic->written != kNoExpr) ||
         ((memory_.piece(p).shared || is_plain(write)) && memory_.left(write, p).has_value());
}

bool RecipeModel::is_conditional(EventIndex e) const {
  const SymbolicThread& own = thread(index_.thread(e));
  const std::uint32_t position = index_.position(e);
  const auto condition = std::lower_bound(own.conditions.begin(), own.conditions.end(), position,
                                          [](const PathCondition& c, std::uint32_t p) { return c.position < p; });
  return position == own.end || (condition != own.conditions.end() && condition->position == position);
}

TraceView without_bound_reads(const TraceView& trace, Branch& branch) {
  branch =
      Branch{.before = EventId{trace.events.size()}, .thread = ThreadId{~std::uint32_t{0}}, .site = {}, .outcome = 0};
  TraceView view = trace;
  view.branches = std::span(&branch, 1);
  return view;
}

Steps::Steps(const RecipeModel& model, const RaceTarget (&targets)[2])
    : model_(model), targets_{targets[0], targets[1]}, events_(model.index().size()) {
  for (int i = 0; i < 2; ++i) {
    detours_[i] = targets[i].is_event() ? 0 : targets[i].step + std::size_t{1};
    target_[i] = targets[i].is_event() ? targets[i].event
                                       : static_cast<StepId>(events_ + (i == 0 ? 0 : detours_[0]) + targets[i].step);
  }
}

std::uint32_t Steps::thread(StepId s) const { return is_event(s) ? model_.index().thread(s) : targets_[of(s)].thread; }

std::uint32_t Steps::position(StepId s) const {
  return is_event(s) ? model_.index().position(s) : targets_[of(s)].position + number(s);
}

const DetourStep& Steps::detour_step(StepId s) const {
  const RaceTarget& target = targets_[of(s)];
  return model_.thread(target.thread).detours[target.detour].steps[number(s)];
}

Op Steps::op(StepId s) const { return is_event(s) ? model_.index().event(s).op : detour_step(s).op; }

std::uint64_t Steps::object(StepId s) const {
  return is_event(s) ? model_.index().event(s).object : detour_step(s).object;
}

ExprId Steps::read(StepId s) const {
  if (!is_event(s)) {
    return detour_step(s).read;
  }
  const SymbolicAccess* access = model_.access(s);
  return access == nullptr ? kNoExpr : access->read;
}

ExprId Steps::written(StepId s) const {
  if (!is_event(s)) {
    return detour_step(s).written;
  }
  const SymbolicAccess* access = model_.access(s);
  return access == nullptr ? kNoExpr : access->written;
}

bool Steps::are_known() const {
  for (const RaceTarget& target : targets_) {
    for (std::uint32_t step = 0; !target.is_event() && step <= target.step; ++step) {
      if (!model_.memory().step_pieces(target.thread, target.detour, step)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace sooth
