#include "predict/order_formula.h"

#include <algorithm>
#include <iterator>

namespace sooth {
namespace {

// Failed acquires times sections of their locks. Above this many, each is to fail in the section that it met.
constexpr std::uint64_t kMaxHolders = 200'000;
// Waits times notifies of their condition variables. Above this many, each is to take the notify that it took.
constexpr std::uint64_t kMaxWakes = 50'000;
// Waits for semaphores times posts. Above this many, each is to take the oldest post that was left in the trace.
constexpr std::uint64_t kMaxPosts = 50'000;
// Clauses about reads that have several writes to see. Above this many, each is to see the write that it saw.
constexpr std::uint64_t kMaxSees = 2'000'000;

}  // namespace

OrderFormula::OrderFormula(const TraceIndex& index, const Window& window, const Bounds& bounds,
                           const SolverLimit& limit, StopPoll* poll)
    : index_(index),
      window_(window),
      bounds_(bounds),
      poll_(poll),
      solver_(limit),
      end_(solver_.add_node()),
      mentioned_(index.thread_count()),
      points_(index.thread_count()) {
  for (void (OrderFormula::*const part)() :
       {&OrderFormula::collect, &OrderFormula::order_must, &OrderFormula::order_sections,
        &OrderFormula::order_failed_acquires, &OrderFormula::order_waits, &OrderFormula::order_semaphores,
        &OrderFormula::collect_binding_points, &OrderFormula::order_reads, &OrderFormula::chain_threads}) {
    if (stopped(poll_)) {
      return;
    }
    (this->*part)();
  }
}

bool OrderFormula::implied(EventIndex a, EventIndex b) const {
  if (index_.thread(a) == index_.thread(b)) {
    return index_.position(a) < index_.position(b);
  }
  return bounds_.order != nullptr && is_needed(a) && is_needed(b) && bounds_.order->before(a, b);
}

OrderSolver::Node OrderFormula::node(EventIndex e) {
  Mentioned& mentioned = nodes_[e];
  if (!mentioned.is) {
    mentioned = {solver_.add_node(), true};
    mentioned_[index_.thread(e)].push_back(e);
  }
  return mentioned.node;
}

// Which writes and sections there are.
void OrderFormula::collect() {
  for (std::uint32_t t = 0; t < index_.thread_count(); ++t) {
    const auto events = index_.events_of(t).first(bounds_.allowed[t]).subspan(window_.floor[t]);
    for (const EventIndex e : events) {
      if (stops(poll_, 1 + index_.variables(e).size())) {
        return;
      }
      if (is_read(index_.event(e).op) && index_.position(e) < bounds_.may_bind[t]) {
        for (const VariableIndex v : index_.variables(e)) {
          writes_[v];
        }
      }
    }
    for (const SectionIndex s : index_.held_after(t, window_.floor[t])) {
      sections_[index_.section(s).lock].push_back(s);
    }
    for (const EventIndex e : events) {
      if (const SectionIndex s = index_.section_of(e); s != kNoSection && index_.section(s).acquire == e) {
        sections_[index_.section(s).lock].push_back(s);
      }
    }
  }
  for (std::uint32_t t = 0; t < index_.thread_count(); ++t) {
    for (const EventIndex e : index_.events_of(t).first(bounds_.allowed[t]).subspan(window_.floor[t])) {
      for (const VariableIndex v :
           is_write(index_.event(e).op) ? index_.variables(e) : std::span<const VariableIndex>{}) {
        if (Writes* writes = writes_.find(v)) {
          writes->push_back(e);
        }
      }
    }
  }
}

void OrderFormula::order_must() {
  for (std::uint32_t t = 0; t < index_.thread_count(); ++t) {
    for (const EventIndex e : index_.events_of(t).first(bounds_.allowed[t]).subspan(window_.floor[t])) {
      for (const EventIndex p : index_.predecessors(e)) {
        if (!is_past(p)) {
          solver_.require({before(p, e)});
        }
      }
    }
  }
  bounds_.before.for_each([this](std::uint64_t to, const std::vector<EventIndex>& all) {
    for (const EventIndex from : all) {
      if (!is_past(from)) {
        solver_.require({before(from, static_cast<EventIndex>(to))});
      }
    }
  });
}

void OrderFormula::order_sections() {
  sections_.for_each([this](std::uint64_t, const std::vector<SectionIndex>& sections) {
    for (std::size_t i = 0; i < sections.size(); ++i) {
      for (std::size_t j = 0; j < i && !stops(poll_); ++j) {
        const LockSection& a = index_.section(sections[i]);
        const LockSection& b = index_.section(sections[j]);
        if (exclude_each_other(a, b) && index_.thread(a.acquire) != index_.thread(b.acquire)) {
          exclude(a, b);
        }
      }
    }
  });
}

void OrderFormula::exclude(const LockSection& a, const LockSection& b) {
  Clause clause;
  for (const auto& [first, second] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    if (is_in(first->release) && !is_past(second->acquire)) {
      if (implied(first->release, second->acquire)) {
        return;
      }
      clause.push_back(before(first->release, second->acquire));
    }
    if (!is_past(first->acquire) && !is_needed(first->acquire)) {
      clause.push_back(left_out(first->acquire));
    }
  }
  solver_.require(clause);
}

void OrderFormula::order_failed_acquires() {
  const std::span<const EventIndex> all = index_.failed_acquires();
  std::vector<EventIndex> failed;
  std::uint64_t pairs = 0;
  for (auto e = std::lower_bound(all.begin(), all.end(), window_.begin); e != all.end(); ++e) {
    if (!is_past(*e) && is_in(*e)) {
      const std::vector<SectionIndex>* sections = sections_.find(index_.section(index_.taken_by(*e)).lock);
      pairs += sections == nullptr ? 0 : sections->size();
      failed.push_back(*e);
    }
  }
  const bool as_recorded = pairs > kMaxHolders;
  is_complete_ = is_complete_ && !as_recorded;
  for (const EventIndex e : failed) {
    find_taken(e, as_recorded);
  }
}

// `as_recorded`: in the section in which it did in the trace, if that may be.
void OrderFormula::find_taken(EventIndex failed, bool as_recorded) {
  Clause some;
  if (!is_needed(failed)) {
    some.push_back(left_out(failed));
  }
  static const std::vector<SectionIndex> kNone;
  const SectionIndex recorded = index_.taken_by(failed);
  const std::vector<SectionIndex>* sections = sections_.find(index_.section(recorded).lock);
  for (const SectionIndex s : sections == nullptr ? kNone : *sections) {
    const LockSection& section = index_.section(s);
    if ((as_recorded && s != recorded) || !index_.keeps_out(section, failed) ||
        index_.thread(section.acquire) == index_.thread(failed)) {
      continue;
    }
    const OrderSolver::Flag taken = solver_.add_flag();
    some.push_back(Literal::is(taken));
    if (!is_past(section.acquire)) {
      solver_.require({Literal::is_not(taken), before(section.acquire, failed)});
    }
    if (is_in(section.release)) {
      solver_.require({Literal::is_not(taken), before(failed, section.release)});
    }
  }
  node(failed);
  solver_.require(some);
}

void OrderFormula::order_waits() {
  const ConditionIndex& conditions = index_.conditions();
  std::vector<const ConditionIndex::Wait*> waits;
  std::uint64_t pairs = 0;
  for (const ConditionIndex::Wait& wait : conditions.waits()) {
    if (!is_past(wait.event) && is_in(wait.event)) {
      waits.push_back(&wait);
      pairs += conditions.notifies(conditions.vigil(wait.vigil).condition).size();
    }
  }
  const bool as_recorded = pairs > kMaxWakes;
  is_complete_ = is_complete_ && !as_recorded;
  for (const ConditionIndex::Wait* wait : waits) {
    if (stops(poll_)) {
      return;
    }
    wake(*wait, as_recorded);
  }
}

// `as_recorded`: by the notify that it took in the trace.
void OrderFormula::wake(const ConditionIndex::Wait& wait, bool as_recorded) {
  const ConditionIndex& conditions = index_.conditions();
  const EventIndex begin = conditions.vigil(wait.vigil).begin;
  const bool past_begin = begin == kNoEvent || is_past(begin);
  Clause some;
  if (!is_needed(wait.event)) {
    some.push_back(left_out(wait.event));
  }
  for (const ConditionNotify& notify : conditions.notifies(conditions.vigil(wait.vigil).condition)) {
    const bool past = is_past(notify.event);
    const bool too_early = past && (!past_begin || (begin != kNoEvent && notify.event < begin));
    const bool is_taken = notify.taker != kNoEvent && is_past(notify.taker);
    if ((as_recorded && notify.event != wait.took) || too_early || is_taken || !is_in(notify.event) ||
        !conditions.may_wake(notify, wait)) {
      continue;
    }
    const OrderSolver::Flag wakes = solver_.add_flag();
    some.push_back(Literal::is(wakes));
    if (!past_begin) {
      solver_.require({Literal::is_not(wakes), before(begin, notify.event)});
    }
    if (!past) {
      solver_.require({Literal::is_not(wakes), before(notify.event, wait.event)});
    }
    if (!notify.everybody) {
      std::vector<OrderSolver::Flag>& others = wakes_[notify.event];
      for (const OrderSolver::Flag other : others) {
        solver_.require({Literal::is_not(wakes), Literal::is_not(other)});
      }
      others.push_back(wakes);
    }
  }
  node(wait.event);
  solver_.require(some);
}

void OrderFormula::order_semaphores() {
  std::uint64_t pairs = 0;
  std::vector<std::vector<EventIndex>> waits;  // by semaphore, those that may come
  for (const SemaphoreIndex::Semaphore& semaphore : index_.semaphores().semaphores()) {
    std::vector<EventIndex>& own = waits.emplace_back();
    std::copy_if(semaphore.waits.begin(), semaphore.waits.end(), std::back_inserter(own),
                 [&](EventIndex wait) { return !is_past(wait) && is_in(wait); });
    pairs += own.size() * (semaphore.posts.size() + semaphore.first);
  }
  const bool as_recorded = pairs > kMaxPosts;
  is_complete_ = is_complete_ && !as_recorded;
  for (std::size_t s = 0; s < waits.size(); ++s) {
    const SemaphoreIndex::Semaphore& semaphore = index_.semaphores().semaphores()[s];
    const auto past = [this](const std::vector<EventIndex>& all) {
      return static_cast<std::uint32_t>(
          std::count_if(all.begin(), all.end(), [this](EventIndex e) { return is_past(e); }));
    };
    // What was there before the window counts as what it held at first.
    const std::uint32_t spare = semaphore.first + past(semaphore.posts) - past(semaphore.waits);
    for (const EventIndex wait : spare < waits[s].size() ? waits[s] : std::vector<EventIndex>{}) {
      if (stops(poll_, 1 + semaphore.posts.size())) {
        return;
      }
      let_through(wait, semaphore, spare, as_recorded);
    }
  }
}

// `spare`: what was there at first, for as many waits. `as_recorded`: by what it took in the trace.
void OrderFormula::let_through(EventIndex wait, const SemaphoreIndex::Semaphore& semaphore, std::uint32_t spare,
                               bool as_recorded) {
  const EventIndex took = index_.semaphores().operation(wait)->took;
  const bool took_spare = took == kNoEvent || is_past(took);
  if (as_recorded) {
    if (!took_spare && is_in(took)) {
      solver_.require({before(took, wait)});
    } else if (!took_spare) {
      solver_.require({left_out(wait)});
    }
    return;
  }
  Clause some;
  if (!is_needed(wait)) {
    some.push_back(left_out(wait));
  }
  const auto take = [&](std::uint64_t what) {
    const OrderSolver::Flag takes = solver_.add_flag();
    some.push_back(Literal::is(takes));
    std::vector<OrderSolver::Flag>& others = wakes_[what];
    for (const OrderSolver::Flag other : others) {
      solver_.require({Literal::is_not(takes), Literal::is_not(other)});
    }
    others.push_back(takes);
    return takes;
  };
  const std::uint64_t of_semaphore = std::uint64_t{index_.semaphores().operation(wait)->semaphore} + 1;
  for (std::uint32_t i = 0; i < spare; ++i) {
    take(of_semaphore << 32 | i);
  }
  for (const EventIndex post : semaphore.posts) {
    const bool later = index_.thread(post) == index_.thread(wait) && post > wait;
    if (!later && !is_past(post) && is_in(post)) {
      solver_.require({Literal::is_not(take(post)), before(post, wait)});
    }
  }
  node(wait);
  solver_.require(some);
}

// Where binding can begin to matter: behind branches that threads may pass, and at writes that binding reads may see.
void OrderFormula::collect_binding_points() {
  if (!index_.has_branches()) {
    return;
  }
  std::vector<std::vector<std::uint32_t>> lengths(index_.thread_count());
  for (std::uint32_t t = 0; t < index_.thread_count(); ++t) {
    for (const std::uint32_t position : index_.branches_of(t)) {
      if (position >= window_.floor[t] && position < bounds_.allowed[t]) {
        lengths[t].push_back(position);
      }
    }
  }
  writes_.for_each([&](std::uint64_t, const Writes& writes) {
    for (const EventIndex w : writes) {
      lengths[index_.thread(w)].push_back(index_.position(w) + (is_read(index_.event(w).op) ? 1 : 0));
    }
  });
  for (std::uint32_t t = 0; t < index_.thread_count(); ++t) {
    std::sort(lengths[t].begin(), lengths[t].end());
    lengths[t].erase(std::unique(lengths[t].begin(), lengths[t].end()), lengths[t].end());
    for (const std::uint32_t length : lengths[t]) {
      if (length > bounds_.binding[t] && length <= bounds_.may_bind[t]) {
        points_[t].emplace_back(length, solver_.add_flag());
        if (points_[t].size() > 1) {
          const auto shorter = std::prev(points_[t].end(), 2);
          solver_.require({Literal::is_not(points_[t].back().second), Literal::is(shorter->second)});
        }
      }
    }
    for (const std::uint32_t position : index_.branches_of(t)) {
      if (position >= window_.floor[t] && position < bounds_.allowed[t]) {
        if (const auto flag = binding_flag(t, position)) {
          solver_.require({left_out(index_.events_of(t)[position]), Literal::is(*flag)});
        }
      }
    }
  }
}

std::optional<OrderSolver::Flag> OrderFormula::binding_flag(std::uint32_t thread, std::uint32_t length) const {
  if (length <= bounds_.binding[thread]) {
    return std::nullopt;
  }
  const auto& points = points_[thread];
  const auto at = std::lower_bound(points.begin(), points.end(), length,
                                   [](const auto& point, std::uint32_t l) { return point.first < l; });
  return at == points.end() ? std::nullopt : std::optional(at->second);
}

// Each write that a read may see makes a clause for each other write.
std::uint64_t OrderFormula::cost_of_reads() const {
  std::uint64_t cost = 0;
  for (std::uint32_t t = 0; t < index_.thread_count(); ++t) {
    const std::uint32_t end = std::min(bounds_.allowed[t], bounds_.may_bind[t]);
    for (std::uint32_t i = window_.floor[t]; i < end; ++i) {
      const EventIndex e = index_.events_of(t)[i];
      for (const VariableIndex v :
           is_read(index_.event(e).op) ? index_.variables(e) : std::span<const VariableIndex>{}) {
        const auto others = index_.alternatives(e, v);
        const auto come = [this](EventIndex w) { return w != kNoEvent && !is_past(w) && is_in(w); };
        const std::uint64_t few = std::min<std::uint64_t>(others.size(), 64);
        const std::uint64_t coming =
            few < 64 ? static_cast<std::uint64_t>(std::count_if(others.begin(), others.end(), come)) : few;
        cost += coming * writes_.find(v)->size();
      }
    }
  }
  return cost;
}

void OrderFormula::order_reads() {
  sees_as_recorded_ = cost_of_reads() > kMaxSees;
  is_complete_ = is_complete_ && !sees_as_recorded_;
  for (std::uint32_t t = 0; t < index_.thread_count(); ++t) {
    for (const EventIndex e : index_.events_of(t).first(bounds_.allowed[t]).subspan(window_.floor[t])) {
      if (index_.position(e) >= bounds_.may_bind[t]) {
        break;
      }
      if (is_read(index_.event(e).op)) {
        order_read(e);
      }
    }
  }
}

void OrderFormula::order_read(EventIndex read) {
  Clause unless;
  if (!is_needed(read)) {
    unless.push_back(left_out(read));
  }
  if (index_.position(read) >= bounds_.binding[index_.thread(read)]) {
    const std::optional<OrderSolver::Flag> binds = binding_flag(index_.thread(read), index_.position(read) + 1);
    if (!binds) {
      return;  // nothing that may be executed makes it bind
    }
    unless.push_back(Literal::is_not(*binds));
  }
  for (std::size_t i = 0; i < index_.variables(read).size() && !stops(poll_); ++i) {
    order_read(read, i, unless);
  }
}

void OrderFormula::order_read(EventIndex read, std::size_t variable, const Clause& unless) {
  const VariableIndex v = index_.variables(read)[variable];
  const Writes& writes = *writes_.find(v);
  const EventIndex seen = index_.seen(read)[variable];
  const std::span<const EventIndex> others = index_.alternatives(read, v);
  std::vector<EventIndex> admissible;  // kNoEvent: what was there before the window
  const auto may_see = [&](EventIndex w) {
    const bool later =
        w != kNoEvent && index_.thread(w) == index_.thread(read) && index_.position(w) >= index_.position(read);
    if (!later && std::find(admissible.begin(), admissible.end(), w) == admissible.end()) {
      admissible.push_back(w);
    }
  };
  if (seen == kNoEvent || is_past(seen)) {
    may_see(kNoEvent);
  } else if (is_in(seen)) {
    may_see(seen);
  }
  if (!others.empty() && !sees_as_recorded_) {
    const EventIndex at_first = index_.last_write(v, window_.begin);
    for (const EventIndex w : others) {
      if (stops(poll_, 1 + admissible.size() / 16)) {
        return;
      }
      if (w == at_first) {
        may_see(kNoEvent);
      } else if (w != kNoEvent && !is_past(w) && is_in(w)) {
        may_see(w);
      }
    }
  }
  if (admissible.size() == 1) {
    see(read, admissible.front(), writes, unless);
    return;
  }
  Clause some = unless;
  for (const EventIndex w : admissible) {
    if (stopped(poll_)) {
      return;
    }
    const OrderSolver::Flag sees = solver_.add_flag();
    some.push_back(Literal::is(sees));
    see(read, w, writes, {Literal::is_not(sees)});
  }
  solver_.require(some);
}

void OrderFormula::see(EventIndex read, EventIndex write, const Writes& writes, const Clause& unless) {
  const auto require = [&](std::initializer_list<Literal> literals) {
    Clause clause = unless;
    clause.insert(clause.end(), literals);
    solver_.require(clause);
  };
  if (write != kNoEvent) {
    require({before(write, read)});  // even if it was inferred: what follows from it was, too
    if (index_.has_branches()) {
      const std::uint32_t length = index_.position(write) + (is_read(index_.event(write).op) ? 1 : 0);
      if (const auto binds = binding_flag(index_.thread(write), length)) {
        require({Literal::is(*binds)});
      }
    }
  }
  for (const EventIndex other : writes) {
    if (stops(poll_, 4)) {  // each makes a clause
      return;
    }
    if (other == write || other == read || implied(read, other)) {
      continue;
    }
    if (write == kNoEvent) {
      require({before(read, other)});
    } else if (!implied(other, write)) {
      require({before(other, write), before(read, other)});
    }
  }
}

// Program order between the events that clauses mention, and how far threads must get.
void OrderFormula::chain_threads() {
  for (std::uint32_t t = 0; t < mentioned_.size(); ++t) {
    std::vector<EventIndex>& events = mentioned_[t];
    std::sort(events.begin(), events.end());
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (i > 0) {
        solver_.require({before(events[i - 1], events[i])});
      }
      if (is_needed(events[i]) && (i + 1 == events.size() || !is_needed(events[i + 1]))) {
        solver_.require({Literal::before(node(events[i]), end_)});
      }
    }
  }
}

OrderSolver::Answer OrderFormula::solve() {
  const OrderSolver::Answer answer = solver_.solve();
  return answer == OrderSolver::Answer::kNo && !is_complete_ ? OrderSolver::Answer::kUnknown : answer;
}

std::vector<EventIndex> OrderFormula::order() const {
  std::vector<std::pair<std::int64_t, EventIndex>> placed;
  for (const std::vector<EventIndex>& events : mentioned_) {
    for (const EventIndex e : events) {
      const std::int64_t place = solver_.position(nodes_.find(e)->node);
      if (place < solver_.position(end_)) {
        placed.emplace_back(place, e);
      }
    }
  }
  std::sort(placed.begin(), placed.end());
  std::vector<EventIndex> order;
  std::vector<std::uint32_t> done = window_.floor;
  // What no clause mentions happens as late as its thread allows.
  const auto run = [&](std::uint32_t thread, std::uint32_t length) {
    for (; done[thread] < length; ++done[thread]) {
      order.push_back(index_.events_of(thread)[done[thread]]);
    }
  };
  for (const auto& [place, e] : placed) {
    run(index_.thread(e), index_.position(e) + 1);
  }
  for (std::uint32_t t = 0; t < done.size(); ++t) {
    run(t, bounds_.need[t]);
  }
  return order;
}

}  // namespace sooth
