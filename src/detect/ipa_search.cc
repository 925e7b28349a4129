#include "detect/ipa_search.h"

#include <algorithm>

namespace sooth {

std::string_view rule_name(IpaRule rule) {
  static constexpr std::array<std::string_view, kIpaRuleCount> kNames = {
      "TC",  "HB1", "HB2", "HB fail", "LCC1", "LCC2", "LCC3", "LCC4",
      "RC1", "RC2", "RC3", "RC4",     "RC5",  "RC6",  "RC7",  "both"};
  return kNames[raw(rule)];
}

void IpaCounts::add(const IpaCounts& other) {
  targets += other.targets;
  potential += other.potential;
  calls += other.calls;
  both += other.both;
  lcc += other.lcc;
  rc += other.rc;
}

std::optional<bool> IpaSearch::reach(LockPosition a, LockPosition b, std::size_t most) {
  const Target target{a, b};
  const std::uint64_t m = a - start_.a;
  const std::uint64_t n = b - start_.b;
  ++counts_.targets;
  counts_.potential += m * (n + 1) + n * (m + 1);
  if (states_.empty()) {
    states_.push_back({start_.a, start_.b, 0, 0, kPending});
    visited_[key(start_.a, start_.b)] = 0;
    open_.push_back(0);
  }
  if (visited_.contains(key(a, b))) {
    return true;
  }
  if (failed_.contains(key(a, b))) {
    return false;
  }
  // States found on the way are judged for this target as they are found. They join open_ behind `count`.
  const std::size_t count = open_.size();
  const std::size_t most_states =
      states_.size() + std::min(most, std::numeric_limits<std::size_t>::max() - states_.size());
  bool reached = false;
  for (std::size_t i = count; i-- > 0 && !reached;) {
    const std::uint32_t index = open_[i];
    reached = stale(states_[index], target) && explore(index, target, most_states);
    if (!reached && states_.size() > most_states) {
      return std::nullopt;
    }
  }
  std::erase_if(open_, [&](std::uint32_t index) { return settled(states_[index]); });
  if (!reached) {
    failed_[key(a, b)] = true;
  }
  return reached;
}

bool IpaSearch::explore(std::uint32_t root, const Target& target, std::size_t most_states) {
  stack_ = {root};
  while (!stack_.empty() && states_.size() <= most_states) {
    const std::uint32_t index = stack_.back();
    stack_.pop_back();
    std::uint32_t next = moves_ == Moves::kLeaps ? try_to_leap(index, target) : kNoLeap;
    if (next == kNoLeap) {
      next = move_on(index, target);
    }
    if (next == kVisited) {
      continue;
    }
    if (states_[next].a == target.a && states_[next].b == target.b) {
      states_[next].flags = kAtA | kAtB;
      if (visits_ != nullptr) {
        visits_->push_back({target.a, target.b, IpaRule::kTerminal});
      }
      return true;  // what is still on the stack is marked as pending
    }
    stack_.push_back(next);
  }
  return false;
}

std::uint8_t IpaSearch::moves_of(IpaRule rule) {
  switch (rule) {
    case IpaRule::kTerminal:
    case IpaRule::kHbFail:
    case IpaRule::kLcc1:
    case IpaRule::kLcc2: return 0;
    case IpaRule::kHb2:
    case IpaRule::kLcc3:
    case IpaRule::kRc1:
    case IpaRule::kRc5:
    case IpaRule::kRc6: return kMoveB;
    case IpaRule::kHb1:
    case IpaRule::kLcc4:
    case IpaRule::kRc2:
    case IpaRule::kRc4:
    case IpaRule::kRc7: return kMoveA;
    case IpaRule::kRc3: return kMoveBoth;
    case IpaRule::kBoth: return kMoveA | kMoveB;
  }
  return 0;
}

std::uint32_t IpaSearch::move_on(std::uint32_t index, const Target& target) {
  State& state = states_[index];
  const bool again = (state.flags & kPending) != 0 && state.rule == IpaRule::kBoth;
  state.flags = static_cast<std::uint8_t>((state.a == target.a ? kAtA : 0) | (state.b == target.b ? kAtB : 0));
  state.rule = choose(state, target);
  if (!again) {
    count(state.rule);
  }
  if (visits_ != nullptr) {
    visits_->push_back({state.a, state.b, state.rule});
  }
  if (state.rule == IpaRule::kLcc1 && (state.made & kMoveBoth) == 0) {
    state.made = kMoveBoth;  // nothing moves from here: the bit says that it is known
    // Who tries, or has a time limit, goes on some day, where the trace does not tell.
    if (histories_.at(start_.ta, state.a).waits && histories_.at(start_.tb, state.b).waits) {
      deadlocks_.emplace_back(state.a, state.b);
    }
  }
  auto wanted = static_cast<std::uint8_t>(moves_of(state.rule) & ~state.made);
  if (wanted == 0) {
    return kVisited;
  }
  if (wanted == (kMoveA | kMoveB)) {
    wanted = kMoveB;
    state.flags |= kPending;
    stack_.push_back(index);
  }
  state.made |= wanted;
  return visit(index, state.a + ((wanted & (kMoveA | kMoveBoth)) != 0 ? 1 : 0),
               state.b + ((wanted & (kMoveB | kMoveBoth)) != 0 ? 1 : 0));
}

std::uint32_t IpaSearch::visit(std::uint32_t from, LockPosition a, LockPosition b) {
  if (visited_.contains(key(a, b))) {
    return kVisited;
  }
  const auto index = static_cast<std::uint32_t>(states_.size());
  visited_[key(a, b)] = index;
  states_.push_back({a, b, from});
  open_.push_back(index);
  ++counts_.calls;
  return index;
}

// One step is no leap: that is left to the rules.
std::uint32_t IpaSearch::try_to_leap(std::uint32_t index, const Target& target) {
  State& state = states_[index];
  const Side a{start_.ta, state.a, target.a};
  const Side b{start_.tb, state.b, target.b};
  if (const LockPosition to = leap(b, a); to > state.b + 1) {
    state.flags |= kLeapt;
    return visit(index, state.a, to);
  }
  if (const LockPosition to = leap(a, b); to > state.a + 1) {
    state.flags |= kLeapt;
    return visit(index, to, state.b);
  }
  return kNoLeap;
}

LockPosition IpaSearch::leap(const Side& mover, const Side& other) const {
  const bool stays = other.at == other.to;
  LockPosition to = mover.to;
  // Up to a lock that the other one holds,
  for (const LockMode& lock : histories_.lock_sets().locks(histories_.held(other.thread, other.at))) {
    to = std::min(to, histories_.next_acquire(mover.thread, lock.lock, lock.shared, mover.at));
  }
  // ... and up to what must come after the next step of the other one;
  if (to > mover.at && other.at < histories_.end(other.thread) &&
      histories_.precedes(other.thread, other.at, mover.thread, to - 1)) {
    LockPosition low = mover.at;
    while (low < to) {  // the first such step
      const LockPosition middle = low + (to - low) / 2;
      if (histories_.precedes(other.thread, other.at, mover.thread, middle)) {
        to = middle;
      } else {
        low = middle + 1;
      }
    }
  }
  if (stays || to <= mover.at + 1) {
    return to;
  }
  // ... but if the other one will keep the lock that it wants next, as in RC6, over all sections of that lock at once;
  const LockStep& wanted = histories_.at(other.thread, other.at);
  if (wanted.acquire && wanted.release >= other.to) {
    const LockPosition last = histories_.last_acquire(mover.thread, wanted.lock, wanted.shared, mover.to);
    if (last != kNever && last >= mover.at) {
      return std::min<LockPosition>(to, std::min(histories_.at(mover.thread, last).release, mover.to - 1) + 1);
    }
  }
  // ... else, as in RC5, up to a lock that the other one wants on its way.
  if (other.to - other.at > kLookAhead) {
    return mover.at;
  }
  for (LockPosition i = other.at; i < other.to; ++i) {
    const LockStep& step = histories_.at(other.thread, i);
    if (step.acquire) {
      to = std::min(to, histories_.next_acquire(mover.thread, step.lock, step.shared, mover.at));
    }
  }
  return to;
}

void IpaSearch::count(IpaRule rule) {
  counts_.both += rule == IpaRule::kBoth ? 1 : 0;
  counts_.lcc += rule >= IpaRule::kLcc1 && rule <= IpaRule::kLcc4 ? 1 : 0;
  counts_.rc += rule >= IpaRule::kRc1 && rule <= IpaRule::kRc7 ? 1 : 0;
}

bool IpaSearch::blocked(const LockStep& step, LockSetId held) const {
  if (!step.acquire || held == kNoLocks) {
    return false;
  }
  for (const LockMode& lock : histories_.lock_sets().locks(held)) {
    if (lock.lock == step.lock) {
      return modes_exclude(step.shared, lock.shared);
    }
  }
  return false;
}

IpaRule IpaSearch::choose(State& state, const Target& target) const {
  const bool a_moves = state.a < target.a;
  const bool b_moves = state.b < target.b;
  if (!a_moves && !b_moves) {
    return IpaRule::kTerminal;
  }
  const bool has_a = state.a < histories_.end(start_.ta);
  const bool has_b = state.b < histories_.end(start_.tb);
  static const LockStep kNothing;
  const LockStep& a = has_a ? histories_.at(start_.ta, state.a) : kNothing;
  const LockStep& b = has_b ? histories_.at(start_.tb, state.b) : kNothing;
  const bool a_blocked = a_moves && blocked(a, histories_.held(start_.tb, state.b));
  const bool b_blocked = b_moves && blocked(b, histories_.held(start_.ta, state.a));
  if (has_a && b_moves && histories_.precedes(start_.ta, state.a, start_.tb, state.b)) {
    return !a_moves || a_blocked ? IpaRule::kHbFail : IpaRule::kHb1;
  }
  if (has_b && a_moves && histories_.precedes(start_.tb, state.b, start_.ta, state.a)) {
    return !b_moves || b_blocked ? IpaRule::kHbFail : IpaRule::kHb2;
  }
  if (a_blocked && b_blocked) {
    return IpaRule::kLcc1;
  }
  if ((a_blocked && !b_moves) || (b_blocked && !a_moves)) {
    return IpaRule::kLcc2;
  }
  if (!a_moves || a_blocked) {
    return IpaRule::kLcc3;
  }
  if (!b_moves || b_blocked) {
    return IpaRule::kLcc4;
  }
  if (!b.acquire) {
    return a.acquire ? IpaRule::kRc1 : IpaRule::kRc3;
  }
  return a.acquire ? choose_between_acquires(state, a, b, target) : IpaRule::kRc2;
}

// Both steps can be made now. Which one to make first matters only for those that want their locks later.
IpaRule IpaSearch::choose_between_acquires(State& state, const LockStep& a, const LockStep& b,
                                           const Target& target) const {
  const LockPosition by_b = histories_.next_acquire(start_.tb, a.lock, a.shared, state.b);
  state.next = by_b;
  state.checked = histories_.end(start_.tb);
  if (by_b >= target.b) {
    return IpaRule::kRc4;
  }
  const LockPosition by_a = histories_.next_acquire(start_.ta, b.lock, b.shared, state.a);
  if (by_a >= target.a) {
    state.next = by_a;
    state.checked = histories_.end(start_.ta);
    return IpaRule::kRc5;
  }
  if (a.release >= target.a) {
    return IpaRule::kRc6;
  }
  state.next = by_a;
  return b.release >= target.b ? IpaRule::kRc7 : IpaRule::kBoth;
}

// RC4 and RC5: an acquire of the other thread that was behind its target, or not made yet, is now before it.
bool IpaSearch::grown_past(State& state, bool of_ta, LockPosition target) const {
  if (state.next == kNever) {
    const ThreadId thread = of_ta ? start_.ta : start_.tb;
    if (histories_.end(thread) == state.checked) {
      return false;
    }
    const LockStep& step = of_ta ? histories_.at(start_.tb, state.b) : histories_.at(start_.ta, state.a);
    state.next = histories_.next_acquire(thread, step.lock, step.shared, state.checked);
    state.checked = histories_.end(thread);
  }
  return state.next < target;
}

bool IpaSearch::stale(State& state, const Target& target) const {
  if (state.a > target.a || state.b > target.b) {
    return false;
  }
  if ((state.flags & (kPending | kLeapt)) != 0 || ((state.flags & kAtA) != 0 && target.a > state.a) ||
      ((state.flags & kAtB) != 0 && target.b > state.b)) {
    return true;
  }
  // A thread at its target stays there, so the other one has to move.
  if ((state.a == target.a && (state.made & kMoveB) == 0) || (state.b == target.b && (state.made & kMoveA) == 0)) {
    return true;
  }
  switch (state.rule) {
    case IpaRule::kRc4: return grown_past(state, false, target.b);
    case IpaRule::kRc5: return grown_past(state, true, target.a);
    case IpaRule::kRc6: return histories_.at(start_.ta, state.a).release < target.a || state.next >= target.b;
    case IpaRule::kRc7: return histories_.at(start_.tb, state.b).release < target.b || state.next >= target.a;
    case IpaRule::kTerminal:
    case IpaRule::kHb1:
    case IpaRule::kHb2:
    case IpaRule::kHbFail:
    case IpaRule::kLcc1:
    case IpaRule::kLcc2:
    case IpaRule::kLcc3:
    case IpaRule::kLcc4:
    case IpaRule::kRc1:
    case IpaRule::kRc2:
    case IpaRule::kRc3:
    case IpaRule::kBoth: return false;
  }
  return false;
}

bool IpaSearch::settled(const State& state) const { return (state.made & (kMoveA | kMoveB)) == (kMoveA | kMoveB); }

std::vector<bool> IpaSearch::moves_to(LockPosition a, LockPosition b) const {
  std::vector<bool> moves;
  const std::uint32_t* index = visited_.find(key(a, b));
  if (index == nullptr) {
    return moves;
  }
  for (std::uint32_t i = *index; i != 0; i = states_[i].parent) {
    // Backwards: of two releases that count as one move, ta makes the first.
    const State& from = states_[states_[i].parent];
    moves.insert(moves.end(), states_[i].b - from.b, false);
    moves.insert(moves.end(), states_[i].a - from.a, true);
  }
  std::reverse(moves.begin(), moves.end());
  return moves;
}

}  // namespace sooth
