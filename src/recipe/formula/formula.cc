#include "recipe/formula/formula.h"

#include <algorithm>
#include <map>

#include "recipe/formula/replay.h"
#include "recipe/formula/simple_orders.h"

namespace sooth {

RecipeFormula::RecipeFormula(const RecipeModel& model, ExprTable& table, const Window& window,
                             const RaceTarget (&targets)[2], const SolverLimit& limit, StopPoll* poll)
    : model_(model),
      table_(table),
      window_(window),
      targets_{targets[0], targets[1]},
      poll_(poll),
      steps_(model, targets),
      scope_(model, window, targets, steps_, poll),
      possible_(steps_.are_known() && targets[0].thread != targets[1].thread),
      solver_(table, limit),
      end_(solver_.add_node()),
      mentioned_(model.index().thread_count()) {
  if (!is_possible() || stopped(poll_)) {
    return;
  }
  order_must();
  collect_sections();
  order_sections();
  order_failed_acquires();
  order_waits();
  fulfil_conditions();
  for (const RaceTarget& target : targets_) {
    take_detour(target);
  }
  fix_past();
  order_reads();
  chain_threads();
}

ValueSolver::Node RecipeFormula::node(StepId s) {
  Mentioned& mentioned = nodes_[s];
  if (!mentioned.is) {
    mentioned = {solver_.add_node(), true};
    mentioned_[steps_.thread(s)].push_back(s);
  }
  return mentioned.node;
}

RecipeFormula::Clause RecipeFormula::unless_left_out(StepId s) {
  return scope_.is_needed(s) ? Clause{} : Clause{left_out(s)};
}

void RecipeFormula::require_value(Clause clause, ExprId condition) {
  if (condition == table_.yes()) {
    return;
  }
  if (condition != table_.no()) {
    clause.push_back(Literal::holds(condition));
  }
  solver_.require(clause);
}

void RecipeFormula::order_must() {
  const TraceIndex& index = model_.index();
  for (std::uint32_t t = 0; t < index.thread_count(); ++t) {
    scope_.for_each_step(t, [&](StepId s) {
      for (const EventIndex p : steps_.is_event(s) ? index.predecessors(s) : std::span<const EventIndex>{}) {
        if (!scope_.is_past(p)) {
          solver_.require({before(p, s)});
        }
      }
    });
  }
  if (scope_.bounds()) {
    scope_.bounds()->before.for_each([this](std::uint64_t to, const std::vector<EventIndex>& all) {
      for (const EventIndex from : all) {
        if (!scope_.is_past(from)) {
          solver_.require({before(from, static_cast<EventIndex>(to))});
        }
      }
    });
  }
}

void RecipeFormula::collect_sections() {
  const TraceIndex& index = model_.index();
  const auto add = [&](SectionIndex s) {
    const LockSection& section = index.section(s);
    const bool ends = section.release != kNoEvent && scope_.is_in(section.release);
    sections_[index.event(section.acquire).object].push_back(
        {section.acquire, ends ? section.release : kNoEvent, section.shared});
  };
  for (std::uint32_t t = 0; t < index.thread_count(); ++t) {
    for (const SectionIndex s : index.held_after(t, window_.floor[t])) {
      add(s);
    }
    scope_.for_each_step(t, [&](StepId s) {
      const SectionIndex section = steps_.is_event(s) ? index.section_of(s) : kNoSection;
      if (section != kNoSection && index.section(section).acquire == s) {
        add(section);
      }
    });
  }
  for (const RaceTarget& target : targets_) {
    if (!target.is_event()) {
      collect_detour_sections(target);
    }
  }
}

// A detour may end sections that the thread is in and begin others. What it does against the rules of locks it does not
// do.
void RecipeFormula::collect_detour_sections(const RaceTarget& target) {
  const TraceIndex& index = model_.index();
  std::map<std::uint64_t, std::uint32_t> depth;  // of the locks in question
  for (StepId s = steps_.first_step(); s < steps_.end(); ++s) {
    if (steps_.thread(s) == target.thread && (steps_.op(s) == Op::kAcquire || steps_.op(s) == Op::kRelease)) {
      depth[steps_.object(s)] = 0;
    }
  }
  for (std::uint32_t i = 0; i < target.position && !depth.empty(); ++i) {
    const Event& event = index.event(index.events_of(target.thread)[i]);
    if (const auto lock = depth.find(event.object); lock != depth.end()) {
      lock->second += event.op == Op::kAcquire ? 1 : 0;
      lock->second -= event.op == Op::kRelease && lock->second > 0 ? 1 : 0;
    }
  }
  for (StepId s = steps_.first_step(); s < steps_.end(); ++s) {
    if (steps_.thread(s) != target.thread || steps_.is_target(s)) {
      continue;
    }
    std::vector<Section>* own = nullptr;
    if (steps_.op(s) == Op::kAcquire && depth[steps_.object(s)]++ == 0) {
      sections_[steps_.object(s)].push_back({s, kNoEvent, false});
    } else if (steps_.op(s) == Op::kRelease) {
      possible_ = possible_ && depth[steps_.object(s)] > 0;
      own = possible_ && --depth[steps_.object(s)] == 0 ? &sections_[steps_.object(s)] : nullptr;
    }
    for (std::size_t i = own == nullptr ? 0 : own->size(); i-- > 0;) {
      if (steps_.thread((*own)[i].acquire) == target.thread && (*own)[i].release == kNoEvent) {
        (*own)[i].release = s;
        break;
      }
    }
  }
}

void RecipeFormula::order_sections() {
  sections_.for_each([this](std::uint64_t, const std::vector<Section>& sections) {
    for (std::size_t i = 0; i < sections.size(); ++i) {
      for (std::size_t j = 0; j < i && !stops(poll_); ++j) {
        const bool both_shared = sections[i].shared && sections[j].shared;
        if (!both_shared && steps_.thread(sections[i].acquire) != steps_.thread(sections[j].acquire)) {
          exclude(sections[i], sections[j]);
        }
      }
    }
  });
}

void RecipeFormula::exclude(const Section& a, const Section& b) {
  Clause clause;
  for (const auto& [first, second] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    if (first->release != kNoEvent && !scope_.is_past(second->acquire)) {
      if (scope_.is_implied(first->release, second->acquire)) {
        return;
      }
      clause.push_back(before(first->release, second->acquire));
    }
    if (!scope_.is_past(first->acquire) && !scope_.is_needed(first->acquire)) {
      clause.push_back(left_out(first->acquire));
    }
  }
  solver_.require(clause);
}

// A failed acquire stands in some section of its lock.
void RecipeFormula::order_failed_acquires() {
  const TraceIndex& index = model_.index();
  for (const EventIndex failed : index.failed_acquires()) {
    if (scope_.is_past(failed) || !scope_.is_in(failed)) {
      continue;
    }
    Clause some = unless_left_out(failed);
    const std::vector<Section>* sections = sections_.find(index.event(failed).object);
    for (std::size_t i = 0; i < (sections == nullptr ? 0 : sections->size()); ++i) {
      const Section& section = (*sections)[i];
      if ((section.shared && is_shared(index.event(failed))) ||
          steps_.thread(section.acquire) == index.thread(failed)) {
        continue;
      }
      const auto taken = solver_.add_flag();
      some.push_back(Literal::is(taken));
      if (!scope_.is_past(section.acquire)) {
        solver_.require({Literal::is_not(taken), before(section.acquire, failed)});
      }
      if (section.release != kNoEvent) {
        solver_.require({Literal::is_not(taken), before(failed, section.release)});
      }
    }
    node(failed);
    solver_.require(some);
  }
}

// A condition wait takes some notify behind its begin; one that wakes one wakes no other.
void RecipeFormula::order_waits() {
  const TraceIndex& index = model_.index();
  const ConditionIndex& conditions = index.conditions();
  FlatMap<std::vector<decltype(solver_.add_flag())>> taken;  // by notify that wakes one
  for (const ConditionIndex::Wait& wait : conditions.waits()) {
    if (scope_.is_past(wait.event) || !scope_.is_in(wait.event)) {
      continue;
    }
    const EventIndex begin = conditions.vigil(wait.vigil).begin;
    const bool past_begin = begin == kNoEvent || scope_.is_past(begin);
    Clause some = unless_left_out(wait.event);
    for (const ConditionNotify& notify : conditions.notifies(conditions.vigil(wait.vigil).condition)) {
      const bool past = scope_.is_past(notify.event);
      const bool too_early = past && (!past_begin || (begin != kNoEvent && notify.event < begin));
      const bool is_taken = notify.taker != kNoEvent && scope_.is_past(notify.taker);
      if (too_early || is_taken || (!past && !scope_.is_in(notify.event)) || !conditions.may_wake(notify, wait)) {
        continue;
      }
      const auto wakes = solver_.add_flag();
      some.push_back(Literal::is(wakes));
      if (!past_begin) {
        solver_.require({Literal::is_not(wakes), before(begin, notify.event)});
      }
      if (!past) {
        solver_.require({Literal::is_not(wakes), before(notify.event, wait.event)});
      }
      for (std::size_t i = 0; !notify.everybody && i < taken[notify.event].size(); ++i) {
        solver_.require({Literal::is_not(wakes), Literal::is_not(taken[notify.event][i])});
      }
      taken[notify.event].push_back(wakes);
    }
    node(wait.event);
    solver_.require(some);
  }
}

void RecipeFormula::fulfil_conditions() {
  const TraceIndex& index = model_.index();
  for (std::uint32_t t = 0; t < index.thread_count(); ++t) {
    scope_.for_each_condition(t, [&](const PathCondition& condition) {
      const bool certain = scope_.comes_to(t, condition.position);
      require_value(certain ? Clause{} : Clause{left_out(index.events_of(t)[condition.position])}, condition.holds);
    });
    if (scope_.may_pass_end(t)) {
      keep_recorded_behind_end(t);
    }
  }
}

void RecipeFormula::keep_recorded_behind_end(std::uint32_t thread) {
  const SymbolicThread& own = model_.thread(thread);
  for (const SymbolicAccess& access : own.accesses) {
    if (access.read == kNoExpr || scope_.is_past(access.event) || model_.index().position(access.event) >= own.end) {
      continue;
    }
    const std::uint64_t recorded = model_.program().recorded[table_.variable_number(access.read)];
    require_value(scope_.passes_end(thread) ? Clause{} : Clause{left_out(model_.index().events_of(thread)[own.end])},
                  equal(access.read, table_.constant(table_.width(access.read), recorded)));
  }
}

void RecipeFormula::take_detour(const RaceTarget& target) {
  if (target.is_event()) {
    return;
  }
  const Detour& detour = model_.thread(target.thread).detours[target.detour];
  require_value({}, detour.taken);
  for (std::uint32_t i = 0; i <= target.step; ++i) {
    for (const ExprId condition : detour.steps[i].conditions) {
      require_value({}, condition);
    }
  }
}

// What happened before the window happened as recorded.
void RecipeFormula::fix_past() {
  for (const std::uint32_t v : scope_.mattering()) {
    const EventIndex reader = model_.reader(v);
    if (reader != kNoEvent && scope_.is_past(reader)) {
      const ExprId variable = table_.variable_at(v);
      require_value({}, equal(variable, table_.constant(table_.width(variable), model_.program().recorded[v])));
    }
  }
}

void RecipeFormula::order_reads() {
  for (std::uint32_t t = 0; t < model_.index().thread_count(); ++t) {
    scope_.for_each_step(t, [&](StepId s) {
      if (is_read(steps_.op(s))) {
        order_read(s);
      }
    });
  }
  for (const int i : {0, 1}) {  // an access that is next, where its own outcome decides whether it is one
    const ExprId found = steps_.read(steps_.target(i));
    if (found != kNoExpr && table_.is_variable(found) && scope_.matters(table_.variable_number(found))) {
      order_read(steps_.target(i));
    }
  }
}

void RecipeFormula::order_read(StepId read) {
  if (stops(poll_)) {
    return;
  }
  const Clause unless = steps_.is_target(read) ? Clause{} : unless_left_out(read);
  if (!steps_.is_event(read)) {
    steps_.for_each_piece(read, [&](PieceIndex p) { order_read(read, p, kNoEvent, unless); });
    return;
  }
  model_.memory().for_each_piece(read, [&](PieceIndex p, std::size_t i) {
    if (steps_.read(read) != kNoExpr || model_.memory().piece(p).shared) {
      order_read(read, p, model_.index().seen(read)[i], unless);
    } else {
      keep_private(read, p, unless);
    }
  });
}

void RecipeFormula::order_read(StepId read, PieceIndex piece, EventIndex saw, const Clause& unless) {
  const std::vector<StepId> writes = scope_.writes(piece);
  const ExprId whole = steps_.read(read);
  const bool same = steps_.is_event(read) && model_.must_see_the_same(read, piece);
  const bool matters = whole == kNoExpr || !table_.is_variable(whole) || scope_.matters(table_.variable_number(whole));
  const ExprId found = same ? kNoExpr : value_read(read, piece);
  if (same && whole != kNoExpr) {
    const ExprId recorded =
        table_.constant(table_.width(whole), model_.program().recorded[table_.variable_number(whole)]);
    require_value(unless, equal(part(whole, read, piece), part(recorded, read, piece)));
  }
  std::vector<std::pair<Source, ExprId>> possible;  // with the condition that it has the value
  bool all = true;
  for (const Source& source : sources(read, piece, writes)) {
    ExprId condition = table_.no();
    if (source.value == kNoExpr && follows(read, source)) {
      condition = table_.yes();
    } else if (is_seen(read, source, piece, saw) && (same || source.value == kNoExpr)) {
      condition = keeps_recorded(source, piece);
    } else if (!same && source.value != kNoExpr) {
      condition = matters ? equal(found, source.value) : table_.yes();
    }
    if (is_seen(read, source, piece, saw) && !same && source.value == kNoExpr && condition == table_.yes()) {
      // What it found is what the write left, then as now.
      condition = equal(found, table_.constant(table_.width(found), *model_.memory().recorded(read, piece)));
    }
    all = all && condition == table_.yes();
    if (condition != table_.no()) {
      possible.emplace_back(source, condition);
    }
  }
  if (!matters && !same && all) {
    return;  // whatever it sees
  }
  Clause some = unless;
  for (const auto& [source, condition] : possible) {
    if (possible.size() == 1) {
      see(read, source.write, writes, unless);
      require_value(unless, condition);
      return;
    }
    const ValueSolver::Flag sees = solver_.add_flag();
    some.push_back(Literal::is(sees));
    see(read, source.write, writes, {Literal::is_not(sees)});
    require_value({Literal::is_not(sees)}, condition);
  }
  solver_.require(some);
}

// Whether the read saw that in the recorded run.
bool RecipeFormula::is_seen(StepId read, const Source& source, PieceIndex piece, EventIndex saw) const {
  if (source.write == kNoEvent) {
    return steps_.is_event(read) && saw == scope_.write_before(piece);
  }
  return source.write == saw;
}

// Whether what a step of a detour reads there follows from what its thread did before, which the expression says.
bool RecipeFormula::follows(StepId read, const Source& source) const {
  const ExprId found = steps_.read(read);
  return !steps_.is_event(read) && found != kNoExpr && !table_.is_variable(found) &&
         (source.write == kNoEvent || steps_.thread(source.write) == steps_.thread(read));
}

// When the source leaves what it left in the recorded run. What is written to memory that no other thread touches may
// be anything unless it is listed.
ExprId RecipeFormula::keeps_recorded(const Source& source, PieceIndex piece) {
  if (source.write == kNoEvent) {
    return table_.yes();
  }
  if (source.value == kNoExpr) {
    return model_.memory().piece(piece).shared ? table_.yes() : table_.no();
  }
  const std::optional<std::uint64_t> left = model_.memory().left(source.write, piece);
  return left ? equal(source.value, table_.constant(table_.width(source.value), *left)) : table_.no();
}

// What a thread does with memory of its own is not listed, so nobody else may change it before.
void RecipeFormula::keep_private(StepId read, PieceIndex piece, const Clause& unless) {
  for (const StepId w : scope_.writes(piece)) {
    if (!steps_.is_event(w) && steps_.thread(w) != steps_.thread(read)) {
      Clause clause = unless;
      clause.push_back(before(read, w));
      solver_.require(clause);
    }
  }
}

std::vector<RecipeFormula::Source> RecipeFormula::sources(StepId read, PieceIndex piece,
                                                          const std::vector<StepId>& writes) {
  const auto later = [&](StepId w) { return w == read || scope_.is_implied(read, w); };
  const auto hidden = [&](StepId w) {  // kNoEvent: what was there before the window
    return std::any_of(writes.begin(), writes.end(), [&](StepId other) {
      return other != w && other != read && scope_.is_implied(other, read) &&
             (w == kNoEvent || scope_.is_implied(w, other));
    });
  };
  std::vector<Source> found;
  if (!hidden(kNoEvent)) {
    const std::optional<std::uint64_t> content = scope_.content_before(piece);
    found.push_back({kNoEvent, content ? table_.constant(8 * model_.memory().piece(piece).size, *content) : kNoExpr});
  }
  for (const StepId w : writes) {
    if (!later(w) && !hidden(w)) {
      found.push_back({w, value_written(w, piece)});
    }
  }
  return found;
}

ExprId RecipeFormula::part(ExprId whole, StepId step, PieceIndex piece) {
  const MemoryModel::Piece& bytes = model_.memory().piece(piece);
  return table_.extract(whole, static_cast<unsigned>(8 * (bytes.address - steps_.object(step))), 8 * bytes.size);
}

ExprId RecipeFormula::value_read(StepId read, PieceIndex piece) {
  const ExprId whole = steps_.read(read);
  return whole != kNoExpr ? part(whole, read, piece)
                          : table_.constant(8 * model_.memory().piece(piece).size,
                                            model_.memory().recorded(read, piece).value_or(0));
}

ExprId RecipeFormula::value_written(StepId write, PieceIndex piece) {
  if (const ExprId whole = steps_.written(write); whole != kNoExpr) {
    return part(whole, write, piece);
  }
  if (!steps_.is_event(write) || !model_.is_written_value_known(write, piece)) {
    return kNoExpr;
  }
  return table_.constant(8 * model_.memory().piece(piece).size, *model_.memory().left(write, piece));
}

void RecipeFormula::see(StepId read, StepId write, const std::vector<StepId>& writes, const Clause& unless) {
  const bool at_end = steps_.is_target(read);
  const ValueSolver::Node here = at_end ? end_ : node(read);
  const auto require = [&](std::initializer_list<Literal> literals) {
    Clause clause = unless;
    clause.insert(clause.end(), literals);
    solver_.require(clause);
  };
  if (write != kNoEvent && !(at_end && scope_.is_needed(write))) {
    require({Literal::before(node(write), here)});
  }
  for (const StepId other : writes) {
    if (stops(poll_, 4)) {  // each makes a clause
      return;
    }
    if (other == write || other == read || (!at_end && scope_.is_implied(read, other))) {
      continue;
    }
    if (write == kNoEvent) {
      require({Literal::before(here, node(other))});
    } else if (!scope_.is_implied(other, write)) {
      require({before(other, write), Literal::before(here, node(other))});
    }
  }
}

// Program order between the steps that clauses mention, and how far threads must get.
void RecipeFormula::chain_threads() {
  for (std::vector<StepId>& own : mentioned_) {
    std::sort(own.begin(), own.end(), [this](StepId a, StepId b) { return steps_.position(a) < steps_.position(b); });
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (i > 0) {
        solver_.require({before(own[i - 1], own[i])});
      }
      if (scope_.is_needed(own[i]) && (i + 1 == own.size() || !scope_.is_needed(own[i + 1]))) {
        solver_.require({Literal::before(node(own[i]), end_)});
      }
    }
  }
}

bool RecipeFormula::try_out() {
  for (const std::vector<StepId>& order : simple_orders(model_, window_, targets_, steps_, scope_)) {
    if (stops(poll_, order.size())) {
      return false;
    }
    FlatMap<std::int64_t> places;  // from 1
    for (const StepId s : order) {
      places[s] = static_cast<std::int64_t>(places.size()) + 1;
    }
    const auto end = static_cast<std::int64_t>(order.size()) + 1;
    std::vector<std::int64_t> positions(1, end);  // by node; the first is the end
    for (const std::vector<StepId>& own : mentioned_) {
      for (const StepId s : own) {
        const auto number = static_cast<std::size_t>(nodes_.find(s)->node);
        positions.resize(std::max(positions.size(), number + 1));
        const std::int64_t* place = places.find(s);
        // What is left out is in the recorded order.
        positions[number] = place != nullptr ? *place : end + 1 + std::int64_t{s};
      }
    }
    if (solver_.accepts(positions, replay_values(model_, steps_, window_, order))) {
      return true;
    }
  }
  return false;
}

std::vector<StepId> RecipeFormula::order() const {
  std::vector<std::pair<std::int64_t, StepId>> placed;
  for (const std::vector<StepId>& own : mentioned_) {
    for (const StepId s : own) {
      const std::int64_t place = solver_.position(nodes_.find(s)->node);
      if (place < solver_.position(end_)) {
        placed.emplace_back(place, s);
      }
    }
  }
  std::sort(placed.begin(), placed.end());
  std::vector<std::vector<StepId>> all(mentioned_.size());
  for (std::uint32_t t = 0; t < all.size(); ++t) {
    scope_.for_each_step(t, [&](StepId s) { all[t].push_back(s); });
  }
  std::vector<StepId> order;
  std::vector<std::size_t> done(all.size());
  // What no clause mentions happens as late as its thread allows.
  for (const auto& [place, s] : placed) {
    const std::uint32_t t = steps_.thread(s);
    while (done[t] < all[t].size() && steps_.position(all[t][done[t]]) <= steps_.position(s)) {
      order.push_back(all[t][done[t]++]);
    }
  }
  for (std::uint32_t t = 0; t < all.size(); ++t) {
    while (done[t] < all[t].size() && scope_.is_needed(all[t][done[t]])) {
      order.push_back(all[t][done[t]++]);
    }
  }
  return order;
}

ValueWitness RecipeFormula::witness() const { return replay(model_, steps_, window_, targets_, order()); }

}  // namespace sooth
