#include "order/made_words.h"

#include <algorithm>
#include <utility>

namespace sooth {
namespace {

constexpr std::size_t kMostFirstWriters = 4;
constexpr std::size_t kMostEarlyLoads = 16;

using Role = MadeLock::Role;

bool has_role(std::span<const MadeLock::Step> steps, Role role) {
  return std::any_of(steps.begin(), steps.end(), [&](const MadeLock::Step& step) { return step.role == role; });
}

template <typename T>
bool contains(const std::vector<T>& all, T one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

}  // namespace

bool FirstWrites::add(ThreadId slot, Time time) {
  for (Write& write : writes_) {
    if (write.slot == slot) {
      write.time = time;
      return true;
    }
  }
  writes_.push_back({slot, time});
  return writes_.size() <= kMostFirstWriters;
}

bool FirstWrites::known_to(ThreadId slot, const VectorClock& hard) const {
  return std::all_of(writes_.begin(), writes_.end(),
                     [&](const Write& write) { return write.slot == slot || hard[write.slot] >= write.time; });
}

void FlagLock::step(const WordAccess& access) {
  if (out_) {
    return;
  }
  if (!free_.has_value()) {
    if (access.event.op != Op::kAtomicRmw) {
      return before_any_rmw(access);
    }
    free_ = access.value;
    for (const Early& load : early_) {
      odd_ = odd_ || load.value != *free_;
      steps_.push_back({load.event, Role::kFree});
    }
    early_ = {};
  }
  if (is_read(access.event.op)) {
    settle(access.value);
  }
  if (out_) {
    return;
  }
  if (access.event.op == Op::kAtomicRmw) {
    rmw(access);
  } else if (is_read(access.event.op)) {
    load(access);
  } else {
    store(access);
  }
}

void FlagLock::before_any_rmw(const WordAccess& access) {
  if (is_write(access.event.op)) {
    out_ = !first_.add(access.slot, access.hard[access.slot]);
    early_.clear();  // whatever they saw, the lock was not made then
  } else if (early_.size() < kMostEarlyLoads) {
    early_.push_back({access.id, access.value});
  } else {
    odd_ = true;
  }
}

// A read tells what the write before it left.
void FlagLock::settle(std::uint64_t found) {
  if (found == *free_ && last_ == Last::kRmwOfHolder) {
    rmw_gives_.push_back(pending_site_);
    give(pending_);
  } else if (found == *free_) {
    out_ = last_ == Last::kTake || last_ == Last::kOther;
  } else if (last_ == Last::kRmwOfHolder) {
    last_ = Last::kOther;
  } else {
    out_ = last_ == Last::kGive || last_ == Last::kNothing;
  }
}

void FlagLock::rmw(const WordAccess& access) {
  const ThreadId thread = access.event.thread;
  if (access.value == *free_) {
    if (held_ || !first_.known_to(access.slot, access.hard)) {
      out_ = true;
      return;
    }
    held_ = true;
    holder_ = thread;
    last_ = Last::kTake;
    steps_.push_back({access.id, Role::kTake});
    waited_ = std::erase_if(waiting_, [&](const Waiter& each) { return each.thread == thread; }) > 0 || waited_;
  } else if (is_held_by(thread)) {
    last_ = Last::kRmwOfHolder;
    pending_ = access.id;
    pending_site_ = access.event.site;
  } else {
    tried_by_rmw_ = true;
    last_ = Last::kOther;
    steps_.push_back({access.id, Role::kFailed});
  }
}

void FlagLock::load(const WordAccess& access) {
  const ThreadId thread = access.event.thread;
  if (access.value == *free_) {
    out_ = held_;
    steps_.push_back({access.id, Role::kFree});
  } else if (!held_) {
    odd_ = true;
  } else if (holder_ != thread) {
    steps_.push_back({access.id, Role::kFailed});
    wait(access);
  }
}

void FlagLock::wait(const WordAccess& access) {
  for (Waiter& each : waiting_) {
    if (each.slot == access.slot) {
      each.thread = access.event.thread;
      return;
    }
  }
  waiting_.push_back({access.slot, access.event.thread});
}

void FlagLock::store(const WordAccess& access) {
  if (access.value != *free_) {
    odd_ = odd_ || !is_held_by(access.event.thread);
    last_ = Last::kOther;
  } else if (is_held_by(access.event.thread)) {
    ++gives_by_store_;
    give(access.id);
  } else {
    out_ = true;  // somebody has taken it before, so that this does not come first
  }
}

std::optional<MadeLock> FlagLock::finish() {
  if (out_ || !free_.has_value()) {
    return std::nullopt;
  }
  if (last_ == Last::kRmwOfHolder && contains(rmw_gives_, pending_site_)) {
    rmw_gives_.push_back(pending_site_);
    give(pending_);  // nobody has looked since, but elsewhere it does give the lock back there
  }
  const bool given = gives_by_store_ + rmw_gives_.size() > 0;
  MadeLock lock;
  lock.excludes = true;
  lock.reversible = given && rmw_gives_.empty() && !tried_by_rmw_ && !odd_;
  // A count of references that comes back to where it was gives back by rmws, too: who waits for that is what tells a lock.
  lock.meant = given && (rmw_gives_.empty() || (waited_ && !tried_by_rmw_));
  lock.steps = std::exchange(steps_, {});
  std::sort(lock.steps.begin(), lock.steps.end(),
            [](const MadeLock::Step& a, const MadeLock::Step& b) { return a.event < b.event; });
  return lock;
}

void TurnLock::step(const WordAccess& access, std::span<const Ticket> tickets) {
  if (out_) {
    return;
  }
  if (is_write(access.event.op)) {
    write(access, tickets);
    ++writes_;
  } else {
    looks_[raw(access.slot)] = {access.id, access.value, writes_, access.event.thread};
  }
}

// By the thread that has seen its own number, and that leaves the next one.
void TurnLock::write(const WordAccess& access, std::span<const Ticket> tickets) {
  const Look* look = looks_.find(raw(access.slot));
  look = look != nullptr && look->thread == access.event.thread ? look : nullptr;
  if (look == nullptr && steps_.empty()) {
    out_ = !first_.add(access.slot, access.hard[access.slot]);
    return;
  }
  const std::uint64_t left = access.event.op == Op::kAtomicRmw ? access.value + 1 : access.value;
  if (look == nullptr || look->writes != writes_ || left != look->value + 1 ||
      !first_.known_to(access.slot, access.hard)) {
    out_ = true;
    return;
  }
  std::vector<std::uint32_t> counters;
  for (const Ticket& ticket : tickets) {
    const bool known = steps_.empty() || contains(counters_, ticket.word);
    if (ticket.number == look->value && known && !contains(counters, ticket.word)) {
      counters.push_back(ticket.word);
    }
  }
  counters_ = std::move(counters);
  out_ = counters_.empty();
  steps_.push_back({look->event, Role::kTake});
  steps_.push_back({access.id, Role::kGive});
  looks_.erase(raw(access.slot));
}

std::optional<MadeLock> TurnLock::finish() {
  constexpr std::size_t kFewest = 4;  // one turn alone may be chance
  if (out_ || steps_.size() < kFewest) {
    return std::nullopt;
  }
  MadeLock lock;
  lock.meant = true;
  lock.steps = std::exchange(steps_, {});
  std::sort(lock.steps.begin(), lock.steps.end(),
            [](const MadeLock::Step& a, const MadeLock::Step& b) { return a.event < b.event; });
  return lock;
}

void SemaphoreLock::step(const Event& event, EventId id, ThreadId slot, const VectorClock& hard) {
  if (out_) {
    return;
  }
  if (event.op == Op::kSemPost) {
    ++count_;
    if (held_ && holder_ == event.thread) {
      held_ = false;
      steps_.push_back({id, Role::kGive});
    } else {
      ++at_first_;
      out_ = !steps_.empty() || !first_.add(slot, hard[slot]);
    }
    return;
  }
  at_first_ += count_ == 0 ? 1 : 0;
  count_ -= count_ == 0 ? 0 : 1;
  out_ = held_ || at_first_ != 1 || !first_.known_to(slot, hard);
  held_ = true;
  holder_ = event.thread;
  steps_.push_back({id, Role::kTake});
}

std::optional<MadeLock> SemaphoreLock::finish() {
  if (out_ || steps_.empty()) {
    return std::nullopt;
  }
  MadeLock lock;
  lock.semaphore = true;
  lock.excludes = true;
  lock.reversible = lock.meant = has_role(steps_, Role::kGive);
  lock.steps = std::exchange(steps_, {});
  return lock;
}

}  // namespace sooth
