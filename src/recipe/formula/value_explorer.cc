#include "recipe/formula/value_explorer.h"

#include <algorithm>

namespace sooth {
namespace {

bool is_store(Op op) { return op == Op::kWrite || op == Op::kAtomicStore; }

bool touches(Op op) { return is_access(op) || op == Op::kFree; }

}  // namespace

ValueExplorer::ValueExplorer(const ExplorerInput& input) : input_(input) {
  threads_.resize(input.program->threads.size());
  for (std::size_t e = 0; e < input.events.size(); ++e) {
    std::vector<std::size_t>& own = threads_[raw(input.events[e].thread)];
    position_.push_back(own.size());
    own.push_back(e);
  }
  State state;
  state.vigils.resize(threads_.size());
  woken_.resize(input.events.size());
  for (std::size_t e = 0; e < input.events.size(); ++e) {
    const Event& event = input.events[e];
    woken_[e] = was_woken(event);
    woken_[e] = pass_condition(state, e) && was_woken(event);
    found_taken_.push_back(event.op == Op::kAcquireFailed && is_taken(state, event));
    lock(state, raw(event.thread), event.op, event.object, is_shared(event), false);
  }
  record();
}

std::size_t ValueExplorer::cell(const Byte& byte) {
  const auto [it, added] = cells_.try_emplace(byte, cells_.size());
  if (added) {
    const auto known = input_.initial.find(byte.first);
    first_.push_back({-1, known == input_.initial.end() ? -1 : known->second, 0});
    shared_.push_back(false);
  }
  return it->second;
}

std::vector<std::size_t> ValueExplorer::cells_of(std::size_t event) {
  std::vector<std::size_t> cells;
  const Event& e = input_.events[event];
  for (std::uint64_t byte = e.object; touches(e.op) && byte - e.object < e.size; ++byte) {
    cells.push_back(cell({byte, input_.generation(event, byte)}));
  }
  return cells;
}

std::vector<std::size_t> ValueExplorer::cells_of(const DetourStep& step) {
  std::vector<std::size_t> cells;
  for (std::uint64_t byte = step.object; is_access(step.op) && byte - step.object < step.size; ++byte) {
    const auto known = some_generation_.find(byte);
    cells.push_back(cell({byte, known == some_generation_.end() ? 0 : known->second}));
  }
  return cells;
}

// What the recorded run tells: who saw whom, what is shared, which contents are known.
void ValueExplorer::record() {
  const std::size_t n = input_.events.size();
  const std::vector<std::uint64_t> expressions = input_.program->expressions.evaluate_all(input_.program->recorded);
  std::map<std::size_t, std::set<std::uint32_t>> users;
  std::set<std::size_t> written;
  std::map<std::size_t, int> last;
  saw_.resize(n);
  left_.resize(n);
  for (std::size_t e = 0; e < n; ++e) {
    const Op op = input_.events[e].op;
    const std::vector<std::size_t> cells = cells_of(e);
    const SymbolicAccess* access = listed(e);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::uint64_t byte = input_.events[e].object + i;
      some_generation_[byte] = input_.generation(e, byte);
      users[cells[i]].insert(raw(input_.events[e].thread));
      const int writer = last.contains(cells[i]) ? last[cells[i]] : -1;
      saw_[e].push_back(is_read(op) ? writer : -1);
      const int found = is_read(op) ? recorded(e, i) : -1;
      if (found >= 0 && writer < 0) {
        first_[cells[i]].value = found;
      } else if (found >= 0 && input_.events[static_cast<std::size_t>(writer)].op != Op::kFree) {
        const std::size_t w = static_cast<std::size_t>(writer);
        int& left = left_[w][byte - input_.events[w].object];
        left = left < 0 ? found : left;
      }
      int left = is_store(op) ? recorded(e, i) : -1;
      if (left < 0 && access != nullptr && access->written != kNoExpr) {
        left = static_cast<int>(expressions[static_cast<std::size_t>(access->written)] >> (8 * i) & 0xff);
      }
      left_[e].push_back(left);
      if (is_write(op)) {
        written.insert(cells[i]);
        last[cells[i]] = static_cast<int>(e);
      }
    }
  }
  for (const auto& [c, who] : users) {
    shared_[c] = who.size() > 1 && written.contains(c);
  }
}

int ValueExplorer::recorded(std::size_t event, std::size_t i) const {
  if (input_.values.empty() || i >= input_.values[event].size) {
    return -1;
  }
  const std::uint64_t half = i < 8 ? input_.values[event].low : input_.values[event].high;
  return static_cast<int>(half >> (8 * (i % 8)) & 0xff);
}

const SymbolicAccess* ValueExplorer::listed(std::size_t event) const {
  const std::vector<SymbolicAccess>& all = symbolic(raw(input_.events[event].thread)).accesses;
  const auto found = std::find_if(all.begin(), all.end(), [&](const SymbolicAccess& a) { return a.event == event; });
  return found == all.end() ? nullptr : &*found;
}

ValueExplorer::State ValueExplorer::start() const {
  State state{std::vector<std::size_t>(threads_.size()),
              first_,
              input_.program->recorded,
              {},
              std::vector<std::vector<std::size_t>>(threads_.size())};
  auto* self = const_cast<ValueExplorer*>(this);
  for (std::size_t e = 0; e < input_.past; ++e) {
    const Event& event = input_.events[e];
    ++state.done[raw(event.thread)];
    lock(state, raw(event.thread), event.op, event.object, is_shared(event), false);
    pass_condition(state, e);
    const std::vector<std::size_t> cells = self->cells_of(e);
    for (std::size_t i = 0; i < cells.size() && is_write(event.op); ++i) {
      state.cells[cells[i]] = {static_cast<int>(e), left_[e][i], 0};
    }
  }
  return state;
}

const Detour* ValueExplorer::detour(std::size_t thread) const {
  return detours_[thread] ? &symbolic(thread).detours[*detours_[thread]] : nullptr;
}

std::size_t ValueExplorer::event_count(std::size_t thread) const {
  return detour(thread) != nullptr ? detour(thread)->position : threads_[thread].size();
}

bool ValueExplorer::holds(const State& state, ExprId condition) const {
  return input_.program->expressions.evaluate(condition, state.variables) == 1;
}

bool ValueExplorer::keeps_conditions(const State& state, std::size_t thread, std::size_t position) const {
  const std::vector<PathCondition>& all = symbolic(thread).conditions;
  return std::all_of(all.begin(), all.end(), [&](const PathCondition& condition) {
    return condition.position != position || holds(state, condition.holds);
  });
}

bool ValueExplorer::keeps_end(const State& state, std::size_t thread, std::size_t position) const {
  const SymbolicThread& own = symbolic(thread);
  return position < own.end || std::all_of(own.accesses.begin(), own.accesses.end(), [&](const SymbolicAccess& access) {
           const ExprTable& table = input_.program->expressions;
           return access.read == kNoExpr || state.variables[table.variable_number(access.read)] ==
                                                input_.program->recorded[table.variable_number(access.read)];
         });
}

bool ValueExplorer::lock(State& state, std::size_t thread, Op op, std::uint64_t object, bool shared,
                         bool strict) const {
  const auto mine = std::find_if(state.locks.begin(), state.locks.end(),
                                 [&](const Lock& l) { return l.thread == thread && l.object == object; });
  if (op == Op::kAcquire) {
    if (mine != state.locks.end()) {
      ++mine->depth;
      return true;
    }
    const bool taken = std::any_of(state.locks.begin(), state.locks.end(), [&](const Lock& l) {
      return l.object == object && l.thread != thread && !(l.shared && shared);
    });
    state.locks.push_back({thread, object, shared, 1});
    return !taken;
  }
  if (op == Op::kRelease) {
    if (mine == state.locks.end()) {
      return !strict;
    }
    if (--mine->depth == 0) {
      state.locks.erase(mine);
    }
  }
  return true;
}

bool ValueExplorer::is_taken(const State& state, const Event& failed) {
  return std::any_of(state.locks.begin(), state.locks.end(),
                     [&](const Lock& l) { return l.object == failed.object && !(l.shared && is_shared(failed)); });
}

bool ValueExplorer::pass_condition(State& state, std::size_t event) const {
  const Event& e = input_.events[event];
  std::vector<std::size_t>& own = state.vigils[raw(e.thread)];
  if (e.op == Op::kRelease) {
    own.clear();
  } else if (e.op == Op::kCondNotify) {
    for (std::vector<std::size_t>& vigil : state.vigils) {
      vigil.push_back(event);
    }
  } else if (woken_[event]) {
    std::optional<std::size_t> taken;
    for (const std::size_t notify : own) {
      if (input_.events[notify].object == e.object && notifies_everybody(input_.events[notify])) {
        return true;
      }
      taken = !taken && input_.events[notify].object == e.object ? notify : taken;
    }
    for (std::vector<std::size_t>& vigil : state.vigils) {
      std::erase_if(vigil, [&](std::size_t notify) { return taken && notify == *taken; });
    }
    return taken.has_value();
  }
  return true;
}

int ValueExplorer::left_before(int writer, std::uint64_t byte) const {
  const auto w = static_cast<std::size_t>(writer);
  return w < input_.events.size() ? left_[w][byte - input_.events[w].object] : -1;
}

bool ValueExplorer::read_event(State& state, std::size_t event) {
  const Event& e = input_.events[event];
  const SymbolicAccess* access = listed(event);
  const bool symbolic = access != nullptr && access->read != kNoExpr;
  const std::vector<std::size_t> cells = cells_of(event);
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Cell& now = state.cells[cells[i]];
    const int then = recorded(event, i);
    const bool same = now.writer == saw_[event][i];
    if (!symbolic && !shared_[cells[i]]) {
      if ((now.strangers & ~(1u << raw(e.thread))) != 0) {
        return false;
      }
      continue;
    }
    // Writes to memory of one's own are not listed, so what they leave is not known from the record.
    const bool own = !shared_[cells[i]] && now.writer >= static_cast<int>(input_.past);
    int found = now.value;
    if (then < 0) {
      const int before = now.writer < 0 ? first_[cells[i]].value : left_before(now.writer, e.object + i);
      if (!same || own || (found >= 0 && found != before)) {
        return false;
      }
      const std::uint32_t variable = symbolic ? input_.program->expressions.variable_number(access->read) : 0;
      found = symbolic ? static_cast<int>(input_.program->recorded[variable] >> (8 * i) & 0xff) : 0;
    } else if (found < 0) {
      if (!same || own) {
        return false;
      }
      found = then;
    } else if (!symbolic && found != then) {
      return false;
    }
    value |= static_cast<std::uint64_t>(found) << (8 * (i % 8));
  }
  if (symbolic) {
    state.variables[input_.program->expressions.variable_number(access->read)] = value;
  }
  return true;
}

void ValueExplorer::write_event(State& state, std::size_t event) {
  const SymbolicAccess* access = listed(event);
  const std::vector<std::size_t> cells = cells_of(event);
  const bool symbolic = access != nullptr && access->written != kNoExpr;
  const std::uint64_t value = symbolic ? input_.program->expressions.evaluate(access->written, state.variables) : 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    Cell& now = state.cells[cells[i]];
    now.writer = static_cast<int>(event);
    now.value = symbolic ? static_cast<int>(value >> (8 * i) & 0xff) : shared_[cells[i]] ? left_[event][i] : -1;
  }
}

bool ValueExplorer::is_ready(const State& state, std::size_t thread) const {
  const std::size_t e = threads_[thread][state.done[thread]];
  return std::all_of(input_.before[e].begin(), input_.before[e].end(), [&](std::size_t other) {
    const std::size_t t = raw(input_.events[other].thread);
    return position_[other] < std::min(state.done[t], event_count(t));
  });
}

std::optional<ValueExplorer::State> ValueExplorer::after_event(const State& state, std::size_t thread) {
  const std::size_t position = state.done[thread];
  const std::size_t e = threads_[thread][position];
  const Event& event = input_.events[e];
  State next = state;
  if (!is_ready(state, thread) || (found_taken_[e] && !is_taken(state, event)) || !keeps_end(state, thread, position) ||
      (is_read(event.op) && !read_event(next, e)) || !keeps_conditions(next, thread, position) ||
      !lock(next, thread, event.op, event.object, is_shared(event), false) || !pass_condition(next, e)) {
    return std::nullopt;
  }
  if (is_write(event.op)) {
    write_event(next, e);
  }
  ++next.done[thread];
  return next;
}

bool ValueExplorer::may_detour(const State& state, std::size_t thread) const {
  const Detour& own = *detour(thread);
  const std::vector<PathCondition>& all = symbolic(thread).conditions;
  for (std::size_t i = 0; i < own.conditions; ++i) {
    if (!holds(state, all[i].holds)) {
      return false;
    }
  }
  return holds(state, own.taken);
}

std::optional<ValueExplorer::State> ValueExplorer::after_step(const State& state, std::size_t thread) {
  const Detour& own = *detour(thread);
  const std::size_t number = state.done[thread] - own.position;
  const DetourStep& step = own.steps[number];
  const ExprTable& table = input_.program->expressions;
  State next = state;
  if (!is_next(state, thread) || !lock(next, thread, step.op, step.object, false, true)) {
    return std::nullopt;
  }
  const std::vector<std::size_t> cells = cells_of(step);
  if (is_read(step.op)) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (next.cells[cells[i]].value < 0) {
        return std::nullopt;
      }
      value |= static_cast<std::uint64_t>(next.cells[cells[i]].value) << (8 * i);
    }
    if (table.is_variable(step.read)) {
      next.variables[table.variable_number(step.read)] = value;
    } else if (table.evaluate(step.read, next.variables) != value) {
      return std::nullopt;
    }
  }
  for (std::size_t i = 0; i < cells.size() && is_write(step.op); ++i) {
    Cell& now = next.cells[cells[i]];
    now.writer = static_cast<int>(input_.events.size() + 16 * thread + number);
    now.value =
        step.written == kNoExpr ? -1 : static_cast<int>(table.evaluate(step.written, next.variables) >> (8 * i) & 0xff);
    now.strangers = static_cast<std::uint8_t>(now.strangers | 1u << thread);
  }
  ++next.done[thread];
  return next;
}

std::optional<ValueExplorer::State> ValueExplorer::after(const State& state, std::size_t thread) {
  if (state.done[thread] < event_count(thread)) {
    return after_event(state, thread);
  }
  if (detour(thread) != nullptr && state.done[thread] - event_count(thread) < detour(thread)->steps.size()) {
    return after_step(state, thread);
  }
  return std::nullopt;
}

// Whether the thread can come to what is next, without doing it.
bool ValueExplorer::is_next(const State& state, std::size_t thread) {
  const std::size_t position = state.done[thread];
  if (position < event_count(thread)) {
    if (!is_ready(state, thread) || !keeps_end(state, thread, position)) {
      return false;
    }
    // What it reads itself counts where its own outcome is a condition.
    const std::size_t e = threads_[thread][position];
    const SymbolicAccess* access = listed(e);
    const bool reads = access != nullptr && access->read != kNoExpr &&
                       std::any_of(symbolic(thread).conditions.begin(), symbolic(thread).conditions.end(),
                                   [&](const PathCondition& condition) {
                                     const ExprTable& table = input_.program->expressions;
                                     const auto in = table.variables_in(condition.holds);
                                     return condition.position == position &&
                                            std::count(in.begin(), in.end(), table.variable_number(access->read)) != 0;
                                   });
    State reading = state;
    return (!reads || read_event(reading, e)) && keeps_conditions(reading, thread, position);
  }
  const Detour* own = detour(thread);
  if (own == nullptr || position - own->position >= own->steps.size() || !may_detour(state, thread)) {
    return false;
  }
  const std::vector<ExprId>& conditions = own->steps[position - own->position].conditions;
  return std::all_of(conditions.begin(), conditions.end(), [&](ExprId c) { return holds(state, c); });
}

std::string ValueExplorer::key(const State& state) const {
  std::string key;
  const auto add = [&key](std::uint64_t number) { key.append(reinterpret_cast<const char*>(&number), sizeof number); };
  for (const std::size_t done : state.done) {
    add(done);
  }
  for (const Cell& cell : state.cells) {
    add(static_cast<std::uint64_t>(cell.writer) << 32 | static_cast<std::uint32_t>(cell.value) << 8 | cell.strangers);
  }
  for (const std::uint64_t variable : state.variables) {
    add(variable);
  }
  for (const std::vector<std::size_t>& vigil : state.vigils) {
    add(vigil.size());
    for (const std::size_t notify : vigil) {
      add(notify);
    }
  }
  return key;
}

void ValueExplorer::visit(const State& state, std::size_t max_states, Exploration& result) {
  if (visited_.size() >= max_states) {
    result.complete = false;
    return;
  }
  if (!visited_.insert(key(state)).second) {
    return;
  }
  std::vector<Next> next;
  for (std::size_t t = 0; t < threads_.size(); ++t) {
    if (is_next(state, t)) {
      for (const Next& other : next) {
        result.met.insert({other, {t, state.done[t]}});
      }
      next.push_back({t, state.done[t]});
    }
  }
  for (std::size_t t = 0; t < threads_.size(); ++t) {
    if (const std::optional<State> then = after(state, t)) {
      visit(*then, max_states, result);
    }
  }
}

ValueExplorer::Exploration ValueExplorer::explore(const Detours& detours, std::size_t max_states) {
  detours_ = detours;
  visited_.clear();
  for (std::size_t t = 0; t < threads_.size(); ++t) {  // so that all cells are there
    for (std::size_t i = 0; detour(t) != nullptr && i < detour(t)->steps.size(); ++i) {
      cells_of(detour(t)->steps[i]);
    }
  }
  Exploration result;
  visit(start(), max_states, result);
  return result;
}

std::string ValueExplorer::follow(const ValueWitness& witness, const Detours& detours) {
  explore(detours, 0);
  State state = start();
  std::map<std::size_t, std::uint64_t> other;
  std::size_t step = 0;
  for (std::size_t i = 0; i <= witness.order.size(); ++i) {
    for (; step < witness.detour.size() && witness.detour[step].after == i; ++step) {
      const std::optional<State> then = after(state, raw(witness.detour[step].thread));
      if (!then) {
        return "step " + std::to_string(step) + " cannot be made";
      }
      state = *then;
    }
    if (i == witness.order.size() || i < input_.past) {
      continue;
    }
    const std::size_t e = raw(witness.order[i]);
    const std::size_t t = raw(input_.events[e].thread);
    const bool next = state.done[t] < event_count(t) && threads_[t][state.done[t]] == e;
    const std::optional<State> then = next ? after(state, t) : std::nullopt;
    if (!then) {
      return "event " + std::to_string(e) + " cannot happen";
    }
    state = *then;
    const SymbolicAccess* access = listed(e);
    if (access != nullptr && access->read != kNoExpr) {
      const std::uint32_t variable = input_.program->expressions.variable_number(access->read);
      if (state.variables[variable] != input_.program->recorded[variable]) {
        other[e] = state.variables[variable];
      }
    }
  }
  for (const ReadValue& read : witness.reads) {
    if (!other.contains(raw(read.event)) || other[raw(read.event)] != read.value) {
      return "event " + std::to_string(raw(read.event)) + " does not read " + std::to_string(read.value);
    }
    other.erase(raw(read.event));
  }
  if (!other.empty() || step != witness.detour.size()) {
    return "not all reads are named, or not all steps made";
  }
  for (const NextAccess& next : witness.next) {
    const std::size_t t = raw(next.thread);
    if (!is_next(state, t) || (next.event && position_[raw(*next.event)] != state.done[t])) {
      return "thread " + std::to_string(t) + " is not about to do what it should";
    }
  }
  return "";
}

}  // namespace sooth
