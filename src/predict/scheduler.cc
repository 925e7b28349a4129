#include "predict/scheduler.h"

#include <algorithm>

namespace sooth {
namespace {

// The finalizer of SplitMix64.
std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

constexpr std::uint64_t kVariableBit = std::uint64_t{1} << 63;  // tells variables from threads in keys
constexpr std::uint64_t kVigilBit = std::uint64_t{1} << 62;     // ... and vigils

}  // namespace

Scheduler::Scheduler(const TraceIndex& index, const Window& window, const Bounds& bounds, StopPoll* poll)
    : index_(index),
      window_(window),
      need_(bounds.need),
      allowed_(bounds.allowed),
      bounds_(bounds),
      done_(window.floor),
      poll_(poll) {
  for (const SemaphoreIndex::Semaphore& semaphore : index.semaphores().semaphores()) {
    const auto past = [&](const std::vector<EventIndex>& all) {
      return static_cast<std::uint32_t>(std::lower_bound(all.begin(), all.end(), window.begin) - all.begin());
    };
    semaphores_.push_back({semaphore.first + past(semaphore.posts) - past(semaphore.waits), 0});
  }
  for (std::uint32_t t = 0; t < allowed_.size(); ++t) {
    missing_ += need_[t] - window.floor[t];
    for (const SectionIndex s : index.held_after(t, window.floor[t])) {
      Lock& lock = locks_[index.section(s).lock];
      ++(index.section(s).shared ? lock.held_shared : lock.held_exclusive);
    }
    for (const EventIndex e : index.events_of(t).first(allowed_[t]).subspan(window.floor[t])) {
      if (stops(poll_, 1 + index.variables(e).size())) {
        return;
      }
      count(e);
    }
  }
  begin_vigils();
  variables_.for_each([this](std::uint64_t v, Variable& variable) {
    if (const Readers* initial = readers(kNoEvent, static_cast<VariableIndex>(v))) {
      variable.waiting = *initial;
    }
  });
}

void Scheduler::count(EventIndex e) {
  const std::span<const VariableIndex> variables = index_.variables(e);
  const std::span<const EventIndex> seen = index_.seen(e);
  const bool needed = is_needed(e);
  for (std::size_t i = 0; i < variables.size(); ++i) {
    Variable& variable = variables_[variables[i]];
    if (is_write(index_.event(e).op)) {
      ++variable.writes;
      variable.optional_writes = variable.optional_writes || !needed;
    }
    if (!seen.empty()) {
      variable.in_key = variable.in_key || !needed;
      Readers& all = readers_[reader_key(in_window(seen[i]), variables[i])];
      ++(needed ? all.needed : all.optional);
    }
  }
  if (index_.event(e).op == Op::kAcquire && index_.section_of(e) != kNoSection) {
    const LockSection& section = index_.section(index_.section_of(e));
    Lock& lock = locks_[section.lock];
    ++(section.shared ? lock.coming_shared : lock.coming_exclusive);
    (section.shared ? lock.needed_shared : lock.needed_exclusive) += needed ? 1 : 0;
  }
  if (const SectionIndex holder = index_.taken_by(e); holder != kNoSection) {
    ++locks_[index_.section(holder).lock].coming_failed;
  }
  if (const ConditionIndex::Wait* wait = was_woken(index_.event(e)) ? index_.conditions().wait(e) : nullptr) {
    count_wait(*wait);
  }
  if (const SemaphoreIndex::Operation* wait =
          index_.event(e).op == Op::kSemWait ? index_.semaphores().operation(e) : nullptr) {
    ++semaphores_[wait->semaphore].coming;
  }
}

void Scheduler::count_wait(const ConditionIndex::Wait& wait) {
  conditions_.resize(index_.conditions().condition_count());
  Condition& condition = conditions_[index_.conditions().vigil(wait.vigil).condition];
  VigilState& vigil = vigils_[wait.vigil];
  if (vigil.coming++ == 0) {
    condition.vigils.push_back(wait.vigil);
  }
  ++condition.coming;
}

// Those that began before the window have met what was notified there and taken by nobody.
void Scheduler::begin_vigils() {
  const auto is_past = [this](EventIndex e) { return e != kNoEvent && window_.is_past(index_, e); };
  for (std::uint32_t c = 0; c < conditions_.size(); ++c) {
    for (const VigilIndex v : conditions_[c].vigils) {
      const EventIndex begin = index_.conditions().vigil(v).begin;
      if (begin != kNoEvent && !is_past(begin)) {
        ++conditions_[c].not_begun;
        continue;
      }
      VigilState& vigil = *vigils_.find(v);
      vigil.is_on = true;
      for (const ConditionNotify& notify : index_.conditions().notifies(c)) {
        if (is_past(notify.event) && (begin == kNoEvent || notify.event > begin) && !is_past(notify.taker)) {
          vigil.all = vigil.all || notify.everybody;
          vigil.ones += notify.everybody ? 0 : 1;
        }
      }
    }
  }
}

Scheduler::Step Scheduler::next_step(std::uint32_t thread) const {
  if (done_[thread] == allowed_[thread]) {
    return Step::kBlocked;
  }
  const EventIndex e = next_event(thread);
  if (!may_execute(e)) {
    return Step::kBlocked;
  }
  if (index_.event(e).op == Op::kAcquire && index_.section_of(e) != kNoSection) {
    return acquire_step(index_.section(index_.section_of(e)));
  }
  if (index_.taken_by(e) != kNoSection) {
    return finds_taken(e) ? Step::kSafe : Step::kBlocked;
  }
  if (was_woken(index_.event(e)) && !conditions_.empty()) {
    const ConditionIndex::Wait* wait = index_.conditions().wait(e);
    return wait == nullptr ? Step::kSafe : wait_step(*wait);
  }
  if (index_.event(e).op == Op::kCondNotify && is_about_condition(e)) {
    return conditions_[index_.conditions().condition(index_.event(e))].not_begun > 0 ? Step::kChoice : Step::kSafe;
  }
  if (index_.event(e).op == Op::kSemWait) {
    return semaphore_step(e);
  }
  if (index_.section_of(e) != kNoSection) {
    return locks_.find(index_.section(index_.section_of(e)).lock)->coming_failed > 0 ? Step::kChoice : Step::kSafe;
  }
  return access_step(e);
}

// Whether the failed acquire can fail now.
bool Scheduler::finds_taken(EventIndex failed) const {
  const Lock& lock = *locks_.find(index_.section(index_.taken_by(failed)).lock);
  return lock.held_exclusive > 0 || (lock.held_shared > 0 && !is_shared(index_.event(failed)));
}

Scheduler::Step Scheduler::wait_step(const ConditionIndex::Wait& wait) const {
  const VigilState& vigil = *vigils_.find(wait.vigil);
  if (vigil.all) {
    return Step::kSafe;
  }
  const bool alone = conditions_[index_.conditions().vigil(wait.vigil).condition].coming == 1;
  return vigil.ones == 0 ? Step::kBlocked : alone ? Step::kSafe : Step::kChoice;
}

Scheduler::Step Scheduler::semaphore_step(EventIndex e) const {
  const SemaphoreIndex::Operation* const wait = index_.semaphores().operation(e);
  if (wait == nullptr) {
    return Step::kSafe;
  }
  const Semaphore& semaphore = semaphores_[wait->semaphore];
  return semaphore.count == 0 ? Step::kBlocked : semaphore.count >= semaphore.coming ? Step::kSafe : Step::kChoice;
}

void Scheduler::change_semaphore(EventIndex e, bool forward) {
  const SemaphoreIndex::Operation* const operation = index_.semaphores().operation(e);
  if (operation == nullptr) {
    return;
  }
  Semaphore& semaphore = semaphores_[operation->semaphore];
  const std::uint32_t one = forward ? 1u : ~0u;  // modulo 2^32: -1
  if (index_.event(e).op == Op::kSemPost) {
    semaphore.count += one;
  } else {
    semaphore.count -= one;
    semaphore.coming -= one;
  }
}

// All that comes before it by must-order or inference is executed.
bool Scheduler::may_execute(EventIndex e) const {
  const auto executed = [this](EventIndex before) { return is_executed(before); };
  const std::span<const EventIndex> must = index_.predecessors(e);
  if (!std::all_of(must.begin(), must.end(), executed)) {
    return false;
  }
  const Op op = index_.event(e).op;
  if (op != Op::kAcquire && !is_write(op)) {
    return true;
  }
  const std::vector<EventIndex>* inferred = bounds_.before.find(e);
  return inferred == nullptr || std::all_of(inferred->begin(), inferred->end(), executed);
}

Scheduler::Step Scheduler::access_step(EventIndex e) const {
  const std::span<const VariableIndex> variables = index_.variables(e);
  const std::span<const EventIndex> seen = index_.seen(e);
  const bool writes = is_write(index_.event(e).op);
  Step step = Step::kSafe;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const Variable& variable = *variables_.find(variables[i]);
    if (!seen.empty() && in_window(seen[i]) != variable.last_write) {
      return Step::kBlocked;
    }
    if (!writes) {
      continue;
    }
    // Whoever else waits for what would be overwritten.
    Readers others = variable.waiting;
    if (!seen.empty()) {
      --(is_needed(e) ? others.needed : others.optional);
    }
    if (others.needed > 0) {
      return Step::kBlocked;
    }
    const bool competes = variable.writes > 1 && readers(e, variables[i]) != nullptr &&
                          (variable.optional_writes || !bounds_.settled.contains(e));
    if (others.optional > 0 || competes) {
      step = Step::kChoice;
    }
  }
  return step;
}

Scheduler::Step Scheduler::acquire_step(const LockSection& section) const {
  const Lock& lock = *locks_.find(section.lock);
  if (lock.held_exclusive > 0 || (!section.shared && lock.held_shared > 0)) {
    return Step::kBlocked;
  }
  // The section itself is among those to come.
  const auto excluded = [&](std::uint32_t exclusive, std::uint32_t shared, std::uint32_t self) {
    return section.shared ? exclusive > 0 : exclusive + shared > self;
  };
  if (is_final(section) && excluded(lock.needed_exclusive, lock.needed_shared, is_needed(section.acquire) ? 1 : 0)) {
    return Step::kBlocked;  // for ever: somebody could never get the lock
  }
  const bool settled = bounds_.settled.contains(section.acquire) && lock.coming_exclusive == lock.needed_exclusive &&
                       lock.coming_shared == lock.needed_shared;
  return !settled && excluded(lock.coming_exclusive, lock.coming_shared, 1) ? Step::kChoice : Step::kSafe;
}

void Scheduler::advance() {
  for (bool progress = true; progress && !reached();) {
    progress = false;
    for (std::uint32_t t = 0; t < done_.size(); ++t) {
      while (!stops(poll_, cost_of_next(t)) && run(t)) {
        progress = true;
      }
      if (stopped(poll_)) {
        return;
      }
    }
  }
}

bool Scheduler::run(std::uint32_t thread) {
  switch (next_step(thread)) {
    case Step::kBlocked: return false;
    case Step::kSafe: execute(thread); return true;
    case Step::kChoice: return run_section(thread);
  }
  return false;
}

// From an acquire to where all that was acquired on the way is released, or not at all.
bool Scheduler::run_section(std::uint32_t thread) {
  const std::size_t mark = order_.size();
  const std::uint32_t start = done_[thread];
  std::uint32_t open = 0;
  do {
    if (stops(poll_, cost_of_next(thread))) {
      return false;
    }
    const Step step = next_step(thread);
    const EventIndex e = step == Step::kBlocked ? kNoEvent : next_event(thread);
    const SectionIndex s = e == kNoEvent ? kNoSection : index_.section_of(e);
    const bool enters = s != kNoSection && index_.section(s).acquire == e;
    const bool stuck =
        step == Step::kBlocked || (step == Step::kChoice && !enters) || (enters && is_final(index_.section(s)));
    if (stuck) {
      undo_to(mark);
      return false;
    }
    if (enters) {
      ++open;
    } else if (s != kNoSection && index_.position(index_.section(s).acquire) >= start) {
      --open;
    }
    execute(thread);
  } while (open > 0);
  return true;
}

std::vector<std::uint32_t> Scheduler::choices() const {
  struct Choice {
    bool final;
    EventIndex event;
  };
  std::vector<Choice> found;
  for (std::uint32_t t = 0; t < done_.size(); ++t) {
    if (stops(poll_, cost_of_next(t))) {
      return {};
    }
    if (next_step(t) == Step::kChoice) {
      const EventIndex e = next_event(t);
      const SectionIndex s = index_.section_of(e);
      found.push_back({s != kNoSection && is_final(index_.section(s)), e});
    }
  }
  std::sort(found.begin(), found.end(),
            [](const Choice& a, const Choice& b) { return a.final != b.final ? b.final : a.event < b.event; });
  std::vector<std::uint32_t> threads;
  for (const Choice& choice : found) {
    threads.push_back(index_.thread(choice.event));
  }
  return threads;
}

void Scheduler::execute(std::uint32_t thread) {
  const EventIndex e = next_event(thread);
  execute_access(e);
  change_lock(e, true);
  if (!semaphores_.empty()) {
    change_semaphore(e, true);
  }
  if (is_about_condition(e)) {
    execute_condition(e);
  }
  missing_ -= is_needed(e) ? 1 : 0;
  toggle_key(thread, done_[thread]);
  toggle_key(thread, ++done_[thread]);
  order_.push_back(e);
  ++steps_;
}

void Scheduler::undo_to(std::size_t count) {
  while (order_.size() > count) {
    const EventIndex e = order_.back();
    const std::uint32_t thread = index_.thread(e);
    order_.pop_back();
    toggle_key(thread, done_[thread]);
    toggle_key(thread, --done_[thread]);
    missing_ += is_needed(e) ? 1 : 0;
    if (is_about_condition(e)) {
      undo_condition(e);
    }
    if (!semaphores_.empty()) {
      change_semaphore(e, false);
    }
    change_lock(e, false);
    undo_access(e);
  }
}

void Scheduler::execute_access(EventIndex e) {
  const bool reads = !index_.seen(e).empty();
  const bool writes = is_write(index_.event(e).op);
  for (const VariableIndex v : index_.variables(e)) {
    Variable& variable = *variables_.find(v);
    saved_.push_back({variable.last_write, variable.waiting});
    if (reads) {
      --(is_needed(e) ? variable.waiting.needed : variable.waiting.optional);
    }
    if (writes) {
      if (variable.in_key) {
        toggle_key(v | kVariableBit, variable.last_write);
        toggle_key(v | kVariableBit, e);
      }
      const Readers* own = readers(e, v);
      variable.last_write = e;
      variable.waiting = own != nullptr ? *own : Readers{};
      --variable.writes;
    }
  }
}

void Scheduler::undo_access(EventIndex e) {
  const std::span<const VariableIndex> variables = index_.variables(e);
  for (std::size_t i = variables.size(); i-- > 0;) {
    Variable& variable = *variables_.find(variables[i]);
    const Saved& before = saved_.back();
    if (is_write(index_.event(e).op)) {
      if (variable.in_key) {
        toggle_key(variables[i] | kVariableBit, variable.last_write);
        toggle_key(variables[i] | kVariableBit, before.last_write);
      }
      ++variable.writes;
    }
    variable.last_write = before.last_write;
    variable.waiting = before.waiting;
    saved_.pop_back();
  }
}

void Scheduler::change_lock(EventIndex e, bool forward) {
  if (const SectionIndex holder = index_.taken_by(e); holder != kNoSection) {
    locks_.find(index_.section(holder).lock)->coming_failed += forward ? ~0u : 1u;
  }
  const SectionIndex s = index_.section_of(e);
  if (s == kNoSection) {
    return;
  }
  const LockSection& section = index_.section(s);
  Lock& lock = *locks_.find(section.lock);
  const std::uint32_t one = forward ? 1u : ~0u;  // modulo 2^32: -1
  const bool enters = section.acquire == e;
  (section.shared ? lock.held_shared : lock.held_exclusive) += enters ? one : 0 - one;
  if (enters) {
    (section.shared ? lock.coming_shared : lock.coming_exclusive) -= one;
    (section.shared ? lock.needed_shared : lock.needed_exclusive) -= is_needed(e) ? one : 0;
  }
}

// Whether it changes what may wake whom.
bool Scheduler::is_about_condition(EventIndex e) const {
  if (conditions_.empty()) {
    return false;
  }
  const Event& event = index_.event(e);
  switch (event.op) {
    case Op::kCondNotify: return index_.conditions().condition(event) < conditions_.size();
    case Op::kCondWait: return index_.conditions().wait(e) != nullptr;
    case Op::kRelease: return !index_.conditions().begun_by(e).empty();
    default: return false;
  }
}

void Scheduler::execute_condition(EventIndex e) {
  const ConditionIndex& index = index_.conditions();
  condition_marks_.push_back(saved_vigils_.size());
  for (const VigilIndex v : index.begun_by(e)) {
    if (vigils_.find(v) != nullptr) {
      VigilState begun = *vigils_.find(v);
      begun.is_on = true;
      change_vigil(v, begun);
      --conditions_[index.vigil(v).condition].not_begun;
    }
  }
  if (index_.event(e).op == Op::kCondNotify) {
    for (const VigilIndex v : conditions_[index.condition(index_.event(e))].vigils) {
      VigilState met = *vigils_.find(v);
      if (met.is_on) {
        met.all = met.all || notifies_everybody(index_.event(e));
        met.ones += notifies_everybody(index_.event(e)) ? 0 : 1;
        change_vigil(v, met);
      }
    }
  } else if (const ConditionIndex::Wait* wait = index.wait(e)) {
    Condition& condition = conditions_[index.vigil(wait->vigil).condition];
    const VigilState own = *vigils_.find(wait->vigil);
    for (const VigilIndex v : own.all ? std::span<const VigilIndex>{} : std::span<const VigilIndex>(condition.vigils)) {
      VigilState other = *vigils_.find(v);
      if (other.is_on && other.ones >= own.ones) {
        --other.ones;
        change_vigil(v, other);
      }
    }
    VigilState over = *vigils_.find(wait->vigil);
    over = --over.coming == 0 ? VigilState{} : over;
    change_vigil(wait->vigil, over);
    --condition.coming;
  }
}

void Scheduler::undo_condition(EventIndex e) {
  const ConditionIndex& index = index_.conditions();
  for (; saved_vigils_.size() > condition_marks_.back(); saved_vigils_.pop_back()) {
    const SavedVigil saved = saved_vigils_.back();
    toggle_key(kVigilBit | saved.vigil, hash_of(*vigils_.find(saved.vigil)));
    *vigils_.find(saved.vigil) = saved.before;
    toggle_key(kVigilBit | saved.vigil, hash_of(saved.before));
  }
  condition_marks_.pop_back();
  for (const VigilIndex v : index.begun_by(e)) {
    conditions_[index.vigil(v).condition].not_begun += vigils_.find(v) != nullptr ? 1 : 0;
  }
  if (const ConditionIndex::Wait* wait = index_.event(e).op == Op::kCondWait ? index.wait(e) : nullptr) {
    ++conditions_[index.vigil(wait->vigil).condition].coming;
  }
}

void Scheduler::change_vigil(VigilIndex vigil, const VigilState& to) {
  VigilState& state = *vigils_.find(vigil);
  saved_vigils_.push_back({vigil, state});
  toggle_key(kVigilBit | vigil, hash_of(state));
  state = to;
  toggle_key(kVigilBit | vigil, hash_of(state));
}

std::uint64_t Scheduler::hash_of(const VigilState& state) {
  return std::uint64_t{state.ones} << 2 | (state.all ? 2u : 0u) | (state.is_on ? 1u : 0u);
}

void Scheduler::toggle_key(std::uint64_t what, std::uint64_t value) {
  key_.low ^= mix(what * 0x9e3779b97f4a7c15 + mix(value));
  key_.high ^= mix(what + mix(value * 0xd1342543de82ef95 + 1));
}

}  // namespace sooth
