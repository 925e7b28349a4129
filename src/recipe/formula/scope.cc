#include "recipe/formula/scope.h"

#include <algorithm>

namespace sooth {

Scope::Scope(const RecipeModel& model, const Window& window, const RaceTarget (&targets)[2], const Steps& steps,
             StopPoll* poll)
    : model_(model),
      window_(window),
      targets_{targets[0], targets[1]},
      steps_(steps),
      poll_(poll),
      limit_(window.limit),
      need_(window.floor),
      followed_(window.floor),
      conditions_followed_(window.floor.size()) {
  possible_ = find_limits() && find_need() && saturate_need();
  if (possible_) {
    find_allowed();
  }
}

const RaceTarget* Scope::target_of(std::uint32_t thread) const {
  for (const RaceTarget& target : targets_) {
    if (target.thread == thread) {
      return &target;
    }
  }
  return nullptr;
}

// What a thread cannot execute without a target it cannot get behind.
bool Scope::find_limits() {
  const TraceIndex& index = model_.index();
  EventIndex end = window_.begin;
  for (std::uint32_t t = 0; t < limit_.size(); ++t) {
    if (limit_[t] > 0) {
      end = std::max(end, index.events_of(t)[limit_[t] - 1] + 1);
    }
  }
  for (const RaceTarget& target : targets_) {
    if (target.position < window_.floor[target.thread] || target.position > limit_[target.thread]) {
      return false;
    }
    limit_[target.thread] = target.position;
  }
  for (EventIndex e = window_.begin; e < end; ++e) {
    std::uint32_t& limit = limit_[index.thread(e)];
    if (index.position(e) >= limit) {
      continue;
    }
    for (const EventIndex p : index.predecessors(e)) {
      if (index.position(p) >= limit_[index.thread(p)]) {
        limit = index.position(e);
        break;
      }
    }
  }
  return std::all_of(std::begin(targets_), std::end(targets_),
                     [this](const RaceTarget& target) { return limit_[target.thread] == target.position; });
}

// Must-order; steps of detours come on top.
bool Scope::find_need() {
  const TraceIndex& index = model_.index();
  std::vector<std::uint32_t> visited = need_;
  std::vector<std::uint32_t> work;
  const auto want = [&](std::uint32_t thread, std::uint32_t length) {
    if (length > need_[thread]) {
      need_[thread] = length;
      work.push_back(thread);
    }
  };
  for (const RaceTarget& target : targets_) {
    want(target.thread, target.position);
    for (const EventIndex p : target.is_event() ? index.predecessors(target.event) : std::span<const EventIndex>{}) {
      want(index.thread(p), index.position(p) + 1);
    }
  }
  while (!work.empty()) {
    const std::uint32_t t = work.back();
    work.pop_back();
    if (need_[t] > limit_[t]) {
      return false;
    }
    for (; visited[t] < need_[t]; ++visited[t]) {
      for (const EventIndex p : index.predecessors(index.events_of(t)[visited[t]])) {
        want(index.thread(p), index.position(p) + 1);
      }
    }
  }
  return true;
}

// What follows for locks. A detour is represented by the event that its thread would come to otherwise: that is not
// executed either, and the same has happened before it, unless it waits for something or the detour gives locks back.
bool Scope::saturate_need() {
  const TraceIndex& index = model_.index();
  EventIndex events[2];
  for (int i = 0; i < 2; ++i) {
    const RaceTarget& target = targets_[i];
    const std::span<const EventIndex> own = index.events_of(target.thread);
    if (target.position >= own.size() || target.position >= window_.limit[target.thread]) {
      return true;
    }
    events[i] = own[target.position];
    if (!target.is_event()) {
      const std::vector<DetourStep>& detour = model_.thread(target.thread).detours[target.detour].steps;
      const bool releases = std::any_of(detour.begin(), detour.begin() + target.step,
                                        [](const DetourStep& step) { return step.op == Op::kRelease; });
      if (releases || !index.predecessors(events[i]).empty()) {
        return true;
      }
    }
  }
  bounds_ = saturate(index, window_, events, {.reads = ReadRule::kAdmissible, .poll = poll_});
  if (!bounds_) {
    return false;
  }
  for (std::uint32_t t = 0; t < need_.size(); ++t) {
    need_[t] = std::max(need_[t], bounds_->need[t]);
  }
  return true;
}

bool Scope::is_implied(StepId a, StepId b) const {
  if (steps_.thread(a) == steps_.thread(b)) {
    return steps_.position(a) < steps_.position(b);
  }
  if (!steps_.is_event(a) || !steps_.is_event(b) || !bounds_ || bounds_->order == nullptr) {
    return false;
  }
  const auto known = [this](StepId s) { return model_.index().position(s) < bounds_->need[model_.index().thread(s)]; };
  return known(a) && known(b) && bounds_->order->before(a, b);
}

bool Scope::comes_to(std::uint32_t thread, std::uint32_t position) const {
  const RaceTarget* target = target_of(thread);
  return position < need_[thread] || (target != nullptr && position <= target->position);
}

bool Scope::may_pass_end(std::uint32_t thread) const {
  return model_.thread(thread).end < length_[thread] || passes_end(thread);
}

bool Scope::passes_end(std::uint32_t thread) const {
  const std::uint32_t end = model_.thread(thread).end;
  const RaceTarget* target = target_of(thread);
  return end < need_[thread] || (target != nullptr && target->is_event() && end <= target->position);
}

std::uint32_t Scope::first_condition(std::uint32_t thread) const {
  const std::vector<PathCondition>& all = model_.thread(thread).conditions;
  return static_cast<std::uint32_t>(
      std::lower_bound(all.begin(), all.end(), window_.floor[thread],
                       [](const PathCondition& c, std::uint32_t p) { return c.position < p; }) -
      all.begin());
}

std::uint32_t Scope::end_condition(std::uint32_t thread) const {
  const std::vector<PathCondition>& all = model_.thread(thread).conditions;
  const RaceTarget* target = target_of(thread);
  if (target != nullptr && !target->is_event()) {
    return model_.thread(thread).detours[target->detour].conditions;
  }
  const std::uint32_t end = target != nullptr ? target->position + 1 : length_[thread];
  return static_cast<std::uint32_t>(
      std::lower_bound(all.begin(), all.end(), end,
                       [](const PathCondition& c, std::uint32_t p) { return c.position < p; }) -
      all.begin());
}

void Scope::find_allowed() {
  length_ = need_;
  for (std::uint32_t t = 0; t < length_.size(); ++t) {
    conditions_followed_[t] = first_condition(t);
  }
  for (const RaceTarget& target : targets_) {
    if (!target.is_event()) {
      const Detour& detour = model_.thread(target.thread).detours[target.detour];
      mark(detour.taken);
      for (std::uint32_t i = 0; i <= target.step; ++i) {
        for (const ExprId condition : detour.steps[i].conditions) {
          mark(condition);
        }
      }
    }
  }
  for (StepId s = steps_.first_step(); s < steps_.end(); ++s) {
    if (is_read(steps_.op(s)) && !steps_.is_target(s)) {
      reads_.push_back(s);
    }
  }
  do {
    changed_ = false;
    for (std::uint32_t t = 0; t < length_.size(); ++t) {
      follow_events(t);
      follow_conditions(t);
    }
    while (!reads_.empty()) {
      const StepId read = reads_.back();
      reads_.pop_back();
      follow_read(read);
    }
    end_sections();
  } while (changed_);
}

void Scope::grow(std::uint32_t thread, std::uint32_t length) {
  if (length > length_[thread] && length <= limit_[thread]) {
    length_[thread] = length;
    changed_ = true;
  }
}

// What has to be there for the events, and reads that cannot see whatever they like.
void Scope::follow_events(std::uint32_t thread) {
  const TraceIndex& index = model_.index();
  for (; followed_[thread] < length_[thread]; ++followed_[thread]) {
    const EventIndex e = index.events_of(thread)[followed_[thread]];
    for (const EventIndex p : index.predecessors(e)) {
      grow(index.thread(p), index.position(p) + 1);
    }
    if (const SectionIndex holder = index.taken_by(e); holder != kNoSection) {
      for (const SectionIndex s : index.sections_of_lock(index.section(holder).lock)) {
        const EventIndex acquire = index.section(s).acquire;
        grow(index.thread(acquire), index.position(acquire) + 1);
      }
    }
    if (const ConditionIndex::Wait* wait = was_woken(index.event(e)) ? index.conditions().wait(e) : nullptr) {
      for (const ConditionNotify& notify :
           index.conditions().notifies(index.conditions().vigil(wait->vigil).condition)) {
        grow(index.thread(notify.event), index.position(notify.event) + 1);
      }
    }
    bool follow = is_read(index.event(e).op) && steps_.read(e) == kNoExpr;
    if (is_read(index.event(e).op) && !follow) {
      steps_.for_each_piece(e, [&](PieceIndex p) {
        follow = follow || !content_before(p) || model_.has_unknown_writes(p) || model_.must_see_the_same(e, p);
      });
    }
    if (follow) {
      reads_.push_back(e);
    }
  }
}

void Scope::follow_conditions(std::uint32_t thread) {
  for (const std::uint32_t end = end_condition(thread); conditions_followed_[thread] < end;) {
    mark(model_.thread(thread).conditions[conditions_followed_[thread]++].holds);
  }
  const SymbolicThread& own = model_.thread(thread);
  if (may_pass_end(thread)) {
    for (const SymbolicAccess& access : own.accesses) {
      if (access.read != kNoExpr && !window_.is_past(model_.index(), access.event)) {
        mark(access.read);
      }
    }
  }
}

// The variables in the expression matter.
void Scope::mark(ExprId root) {
  const ExprTable& table = model_.program().expressions;
  std::vector<ExprId> stack{root};
  while (!stack.empty()) {
    const ExprId e = stack.back();
    stack.pop_back();
    if (e == kNoExpr || marked_.contains(static_cast<std::uint64_t>(e))) {
      continue;
    }
    marked_[static_cast<std::uint64_t>(e)] = true;
    if (table.is_variable(e)) {
      const std::uint32_t variable = table.variable_number(e);
      matters_[variable] = true;
      mattering_.push_back(variable);
      const EventIndex reader = model_.reader(variable);
      if (reader != kNoEvent) {
        reads_.push_back(reader);
      }
      for (StepId s = steps_.first_step(); s < steps_.end() && reader == kNoEvent; ++s) {
        if (steps_.read(s) == e) {
          reads_.push_back(s);
        }
      }
      changed_ = true;
      continue;
    }
    for (unsigned i = 0; i < 3 && !table.is_constant(e); ++i) {
      stack.push_back(table.operand(e, i));
    }
  }
}

// The writes that the read may see may come, and what they write matters if the read does.
void Scope::follow_read(StepId read) {
  if (is_past(read)) {
    return;
  }
  const ExprTable& table = model_.program().expressions;
  const ExprId found = steps_.read(read);
  const bool value_matters = found == kNoExpr || !table.is_variable(found) || matters(table.variable_number(found));
  const TraceIndex& index = model_.index();
  steps_.for_each_piece(read, [&](PieceIndex p) {
    if (found == kNoExpr && !model_.memory().piece(p).shared) {
      return;
    }
    const bool matter = value_matters || (steps_.is_event(read) && model_.must_see_the_same(read, p));
    for (const EventIndex w : model_.memory().writes(p)) {
      const std::uint32_t t = index.thread(w);
      const bool later = t == steps_.thread(read) && index.position(w) >= steps_.position(read);
      if (!window_.is_past(index, w) && !later && index.position(w) < limit_[t]) {
        grow(t, index.position(w) + 1);
        mark(matter ? steps_.written(w) : kNoExpr);
      }
    }
    for (StepId s = steps_.first_step(); s < steps_.end(); ++s) {
      steps_.for_each_piece(s, [&](PieceIndex own) {
        if (own == p && is_write(steps_.op(s)) && !steps_.is_target(s)) {
          mark(matter ? steps_.written(s) : kNoExpr);
        }
      });
    }
  });
}

// Those that somebody may wait for.
void Scope::end_sections() {
  const TraceIndex& index = model_.index();
  FlatMap<std::uint32_t> users;  // of a lock: thread + 1, or all ones for several
  const auto use = [&](std::uint32_t lock, std::uint32_t thread) {
    std::uint32_t& user = users[lock];
    user = user == 0 || user == thread + 1 ? thread + 1 : ~std::uint32_t{0};
  };
  bool detour_locks = false;
  for (StepId s = steps_.first_step(); s < steps_.end(); ++s) {
    detour_locks = detour_locks || steps_.op(s) == Op::kAcquire;
  }
  for (std::uint32_t t = 0; t < length_.size(); ++t) {
    for (const SectionIndex s : index.held_after(t, window_.floor[t])) {
      use(index.section(s).lock, t);
    }
    for (std::uint32_t i = window_.floor[t]; i < length_[t]; ++i) {
      if (const SectionIndex s = index.section_of(index.events_of(t)[i]); s != kNoSection) {
        use(index.section(s).lock, t);
      }
    }
  }
  for (std::uint32_t t = 0; t < length_.size(); ++t) {
    for (const SectionIndex s : index.held_after(t, length_[t])) {
      const LockSection& section = index.section(s);
      if (section.release != kNoEvent && (detour_locks || users[section.lock] == ~std::uint32_t{0})) {
        grow(t, index.position(section.release) + 1);
      }
    }
  }
}

std::vector<StepId> Scope::writes(PieceIndex p) const {
  std::vector<StepId> all;
  const std::span<const EventIndex> events = model_.memory().writes(p);
  for (auto w = std::lower_bound(events.begin(), events.end(), window_.begin); w != events.end(); ++w) {
    if (is_in(*w)) {
      all.push_back(*w);
    }
  }
  for (StepId s = steps_.first_step(); s < steps_.end(); ++s) {
    if (!steps_.is_target(s) && is_write(steps_.op(s))) {
      steps_.for_each_piece(s, [&](PieceIndex own) {
        if (own == p) {
          all.push_back(s);
        }
      });
    }
  }
  return all;
}

EventIndex Scope::write_before(PieceIndex p) const {
  const std::span<const EventIndex> events = model_.memory().writes(p);
  const auto next = std::lower_bound(events.begin(), events.end(), window_.begin);
  return next == events.begin() ? kNoEvent : *std::prev(next);
}

std::optional<std::uint64_t> Scope::content_before(PieceIndex p) const {
  const EventIndex write = write_before(p);
  return write == kNoEvent ? model_.memory().piece(p).initial : model_.memory().left(write, p);
}

}  // namespace sooth
