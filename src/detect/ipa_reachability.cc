#include "detect/ipa_reachability.h"

#include <algorithm>
#include <limits>

namespace sooth {
namespace {

// A search knows its threads in the order of their ids.
bool swapped(const IpaTarget& target) { return target.tb < target.ta; }

IpaCounts difference(const IpaCounts& after, const IpaCounts& before) {
  return {after.targets - before.targets, after.potential - before.potential,
          after.calls - before.calls,     after.both - before.both,
          after.lcc - before.lcc,         after.rc - before.rc};
}

std::optional<bool> reach(IpaSearch& search, const IpaTarget& target, std::size_t most) {
  return swapped(target) ? search.reach(target.b, target.a, most) : search.reach(target.a, target.b, most);
}

constexpr std::size_t kAnyNumber = std::numeric_limits<std::size_t>::max();

}  // namespace

Reachable IpaReachability::decide(const IpaTarget& target, bool all_threads, IpaPlan* plan) {
  if (!histories_.remembers(target.ta, target.first) || !histories_.remembers(target.tb, target.first)) {
    return Reachable::kForgotten;
  }
  const LockPosition b_at_first = histories_.position_at(target.tb, target.first);
  if (limits_.ask_the_run && run_leads_there(target, b_at_first)) {
    ++answered_by_run_;
    if (all_threads && others_may_rest(target, {target.first, target.a, b_at_first})) {
      if (plan != nullptr) {
        *plan = {target.first, {}};
      }
      return Reachable::kAllThreads;
    }
    return Reachable::kTwoThreads;
  }
  // To find out that a target cannot be reached may take all states since the start: of a start far away, too many.
  RunningSearch* running = find_search(target);
  std::optional<bool> reached;
  if (running != nullptr) {
    const IpaStart& start = running->search.start();
    const std::size_t steps = std::size_t{target.a} + target.b - start.a - start.b;
    reached = search_reaches(*running, target, limits_.states_per_step * (steps + kFreeSteps));
    if (!reached.has_value()) {
      give_up(target, *running);
    }
  }
  if (!reached.has_value()) {
    const std::optional<Moment> start = find_start(target, b_at_first);
    if (!start.has_value()) {
      return Reachable::kForgotten;
    }
    running = &begin_search(target, *start);
    reached = search_reaches(*running, target, kAnyNumber);
  }
  Reachable answer = Reachable::kNo;
  if (*reached) {
    const IpaStart& start = running->search.start();
    const Moment moment =
        swapped(target) ? Moment{running->moment, start.b, start.a} : Moment{running->moment, start.a, start.b};
    answer = all_threads && others_may_rest(target, moment) ? Reachable::kAllThreads : Reachable::kTwoThreads;
    if (answer == Reachable::kAllThreads && plan != nullptr) {
      make_plan(*running, target, *plan);
    }
  }
  if (states_ > limits_.states) {
    searches_.clear();
    states_ = 0;
    ++restarts_;
  }
  return answer;
}

// ta stops where it made the first access, and tb runs on as recorded: it must not want a lock that ta then holds.
bool IpaReachability::run_leads_there(const IpaTarget& target, LockPosition b_at_first) const {
  for (const LockMode& lock : histories_.lock_sets().locks(histories_.held(target.ta, target.a))) {
    if (histories_.next_acquire(target.tb, lock.lock, lock.shared, b_at_first) < target.b) {
      return false;
    }
  }
  return true;
}

bool IpaReachability::keeps_out_nobody(ThreadId holder, LockPosition at, ThreadId other, LockPosition from,
                                       LockPosition to) const {
  for (const LockMode& lock : histories_.lock_sets().locks(histories_.held(holder, at))) {
    if (histories_.next_acquire(other, lock.lock, lock.shared, from) >= to) {
      continue;
    }
    // The other one takes it, but only after the holder has taken it: so in every order after the holder gave it back.
    const LockPosition taken = histories_.last_acquire(holder, lock.lock, false, at);
    if (taken == kNever || !histories_.precedes(holder, taken, other, from)) {
      return false;
    }
  }
  return true;
}

bool IpaReachability::may_start_at(LockPosition a, LockPosition b, const IpaTarget& target) const {
  return keeps_out_nobody(target.ta, a, target.tb, b, target.b) &&
         keeps_out_nobody(target.tb, b, target.ta, a, target.a);
}

// Goes back through the recorded run from the first access, over the steps of the two threads.
std::optional<IpaReachability::Moment> IpaReachability::find_start(const IpaTarget& target,
                                                                   LockPosition b_at_first) const {
  Moment now{target.first, target.a, b_at_first};
  for (std::size_t looked_at = 0; looked_at < limits_.walk; ++looked_at) {
    if (may_start_at(now.a, now.b, target)) {
      return now;
    }
    const bool has_a = now.a > histories_.first(target.ta);
    const bool has_b = now.b > histories_.first(target.tb);
    if ((!has_a && now.a > 0) || (!has_b && now.b > 0) || (!has_a && !has_b)) {
      return std::nullopt;
    }
    const EventId before_a = has_a ? histories_.at(target.ta, now.a - 1).id : EventId{};
    const EventId before_b = has_b ? histories_.at(target.tb, now.b - 1).id : EventId{};
    if (has_a && (!has_b || before_a > before_b)) {
      now = {before_a, now.a - 1, now.b};
    } else {
      now = {before_b, now.a, now.b - 1};
    }
  }
  return std::nullopt;
}

IpaReachability::RunningSearch* IpaReachability::find_search(const IpaTarget& target) {
  const auto it = searches_.find(std::minmax(target.ta, target.tb));
  if (it == searches_.end()) {
    return nullptr;
  }
  RunningSearch* best = nullptr;
  for (RunningSearch& running : it->second) {
    const IpaStart& start = running.search.start();
    const LockPosition a = swapped(target) ? start.b : start.a;
    const LockPosition b = swapped(target) ? start.a : start.b;
    if (running.moment <= target.first && a <= target.a && b <= target.b && target.a - a <= limits_.reuse &&
        a >= histories_.first(target.ta) && b >= histories_.first(target.tb) &&
        running.search.state_count() < limits_.search_states && may_start_at(a, b, target) &&
        (best == nullptr || running.moment > best->moment)) {
      best = &running;
    }
  }
  return best;
}

IpaReachability::RunningSearch& IpaReachability::begin_search(const IpaTarget& target, const Moment& start) {
  std::list<RunningSearch>& searches = searches_[std::minmax(target.ta, target.tb)];
  if (searches.size() >= limits_.searches) {
    const auto oldest = std::min_element(searches.begin(), searches.end(),
                                         [](const auto& x, const auto& y) { return x.last_use < y.last_use; });
    states_ -= oldest->search.state_count();
    searches.erase(oldest);
  }
  ++searches_begun_;
  const IpaStart at = swapped(target) ? IpaStart{target.tb, target.ta, start.b, start.a}
                                      : IpaStart{target.ta, target.tb, start.a, start.b};
  return searches.emplace_back(start.moment, IpaSearch(histories_, at, limits_.moves));
}

void IpaReachability::give_up(const IpaTarget& target, const RunningSearch& search) {
  std::list<RunningSearch>& searches = searches_[std::minmax(target.ta, target.tb)];
  states_ -= search.search.state_count();
  searches.remove_if([&](const RunningSearch& each) { return &each == &search; });
}

std::optional<bool> IpaReachability::search_reaches(RunningSearch& running, const IpaTarget& target, std::size_t most) {
  IpaSearch& search = running.search;
  const IpaCounts before = search.counts();
  const std::size_t states_before = search.state_count();
  const std::optional<bool> reached = reach(search, target, most);
  running.last_use = ++uses_;
  counts_.add(difference(search.counts(), before));
  states_ += search.state_count() - states_before;
  for (; running.deadlocks_seen < search.deadlocks().size(); ++running.deadlocks_seen) {
    const auto& [a, b] = search.deadlocks()[running.deadlocks_seen];
    const IpaStart& start = search.start();
    IpaDeadlock deadlock{start.ta, a, start.tb, b};
    if (histories_.at(start.tb, b).id < histories_.at(start.ta, a).id) {
      deadlock = {start.tb, b, start.ta, a};
    }
    deadlocks_.push_back(deadlock);
  }
  if (limits_.compare && reached.has_value()) {
    IpaSearch anew(histories_, search.start(), limits_.moves);
    reach(anew, target, kAnyNumber);
    counts_anew_.add(anew.counts());
  }
  return reached;
}

// Once tb has done what ta must have seen in target.a, ta can run there, if none of the locks that tb then holds is in
// its way. From where it then holds no lock, both do what they would have done.
bool IpaReachability::comes_back(const IpaTarget& target) const {
  const Time seen = histories_.clock_at(target.ta, target.a)[target.tb];
  if (seen == 0) {
    return true;  // of a thread that has not begun
  }
  const LockPosition at = histories_.position_at_time(target.tb, seen + 1);
  if (at > 0 && at == histories_.first(target.tb)) {
    return false;  // it may be forgotten
  }
  for (const LockMode& lock : histories_.lock_sets().locks(histories_.held(target.tb, at))) {
    if (histories_.first(target.ta) > 0 || histories_.next_acquire(target.ta, lock.lock, lock.shared, 0) < target.a) {
      return false;
    }
  }
  return true;
}

bool IpaReachability::others_may_rest(const IpaTarget& target, const Moment& start) const {
  const VectorClock& known_a = histories_.clock_at(target.ta, target.a);
  const VectorClock& known_b = histories_.clock_at(target.tb, target.b);
  for (std::uint32_t t = 0; t < histories_.thread_count(); ++t) {
    const ThreadId other{t};
    if (other == target.ta || other == target.tb) {
      continue;
    }
    if (!histories_.remembers(other, start.moment) || !histories_.known_before(known_b, other, start.moment) ||
        // Up to the first access, ta needs nothing that came after it.
        (start.moment < target.first && !histories_.known_before(known_a, other, start.moment))) {
      return false;
    }
    const LockSetId held = histories_.held(other, histories_.position_at(other, start.moment));
    for (const LockMode& lock : histories_.lock_sets().locks(held)) {
      if (histories_.next_acquire(target.ta, lock.lock, lock.shared, start.a) < target.a ||
          histories_.next_acquire(target.tb, lock.lock, lock.shared, start.b) < target.b) {
        return false;
      }
    }
  }
  return true;
}

void IpaReachability::make_plan(const RunningSearch& running, const IpaTarget& target, IpaPlan& plan) const {
  const IpaStart& start = running.search.start();
  LockPosition a = start.a;
  LockPosition b = start.b;
  plan = {running.moment, {}};
  const std::vector<bool> moves =
      swapped(target) ? running.search.moves_to(target.b, target.a) : running.search.moves_to(target.a, target.b);
  for (const bool by_a : moves) {
    plan.steps.push_back(by_a ? histories_.at(start.ta, a++).id : histories_.at(start.tb, b++).id);
  }
}

}  // namespace sooth
