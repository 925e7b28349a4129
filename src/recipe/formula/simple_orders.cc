#include "recipe/formula/simple_orders.h"

#include <algorithm>
#include <map>
#include <optional>

namespace sooth {
namespace {

constexpr std::uint32_t kNoThread = ~std::uint32_t{0};

// Lets threads take their steps until all have.
class Walk {
 public:
  Walk(const RecipeModel& model, const Window& window, const Steps& steps, const Scope& scope, bool all_allowed)
      : index_(model.index()), steps_(steps), done_(window.floor), own_(window.floor.size()), next_(own_.size()) {
    for (std::uint32_t t = 0; t < own_.size(); ++t) {
      scope.for_each_step(t, [&](StepId s) {
        if (all_allowed || scope.is_needed(s)) {
          own_[t].push_back(s);
        }
      });
      for (const SectionIndex s : index_.held_after(t, done_[t])) {
        take(index_.event(index_.section(s).acquire).object, t, index_.section(s).shared);
      }
    }
  }

  // `first`: the thread that goes on whenever it can, when others have made their events in front of `cut`.
  std::optional<std::vector<StepId>> run(std::uint32_t first, EventIndex cut) {
    std::vector<StepId> order;
    for (std::uint32_t t = choose(first, cut); t != kNoThread; t = choose(first, cut)) {
      order.push_back(own_[t][next_[t]++]);
      execute(order.back(), t);
    }
    for (std::uint32_t t = 0; t < own_.size(); ++t) {
      if (next_[t] < own_[t].size()) {
        return std::nullopt;
      }
    }
    return order;
  }

 private:
  struct Lock {
    std::uint32_t owner = kNoThread;
    std::uint32_t depth = 0;    // of the owner
    std::uint32_t readers = 0;  // threads that share it
  };

  std::uint32_t choose(std::uint32_t first, EventIndex cut) const {
    std::uint32_t best = kNoThread;
    for (std::uint32_t t = 0; t < own_.size(); ++t) {
      if (t != first && can_go_on(t) && (best == kNoThread || own_[t][next_[t]] < own_[best][next_[best]])) {
        best = t;
      }
    }
    const bool is_early = best != kNoThread && own_[best][next_[best]] < cut;
    return first != kNoThread && !is_early && can_go_on(first) ? first : best;
  }

  bool can_go_on(std::uint32_t t) const {
    if (next_[t] == own_[t].size()) {
      return false;
    }
    const StepId s = own_[t][next_[t]];
    if (steps_.is_event(s)) {
      const auto predecessors = index_.predecessors(s);
      if (std::any_of(predecessors.begin(), predecessors.end(),
                      [this](EventIndex p) { return index_.position(p) >= done_[index_.thread(p)]; })) {
        return false;
      }
    }
    const auto lock = locks_.find(steps_.object(s));
    if (steps_.is_event(s) && index_.taken_by(s) != kNoSection) {
      return lock != locks_.end() && (lock->second.owner != kNoThread || (lock->second.readers > 0 && !is_shared(s)));
    }
    if (const ConditionIndex::Wait* wait = steps_.is_event(s) ? index_.conditions().wait(s) : nullptr) {
      return is_woken(*wait);
    }
    if (steps_.op(s) != Op::kAcquire) {
      return true;
    }
    return lock == locks_.end() || lock->second.owner == t ||
           (lock->second.owner == kNoThread && (lock->second.readers == 0 || is_shared(s)));
  }

  // By the notify that it took, which stands behind its begin. Others might do as well, but this is only a try.
  bool is_woken(const ConditionIndex::Wait& wait) const {
    const EventIndex begin = index_.conditions().vigil(wait.vigil).begin;
    const auto notified = when_.find(wait.took);
    if (notified == when_.end()) {
      return index_.position(wait.took) < done_[index_.thread(wait.took)];  // before the window, and so was the begin
    }
    const auto begun = begin == kNoEvent ? when_.end() : when_.find(begin);
    return begun == when_.end() || begun->second < notified->second;
  }

  bool is_shared(StepId s) const { return steps_.is_event(s) && (index_.event(s).flags & kShared) != 0; }

  void execute(StepId s, std::uint32_t t) {
    if (steps_.is_event(s)) {
      done_[t] = index_.position(s) + 1;
      if (steps_.op(s) == Op::kRelease || steps_.op(s) == Op::kCondNotify) {
        when_.emplace(static_cast<EventIndex>(s), when_.size());
      }
    }
    if (steps_.op(s) == Op::kAcquire) {
      take(steps_.object(s), t, is_shared(s));
    } else if (steps_.op(s) == Op::kRelease) {
      Lock& lock = locks_[steps_.object(s)];
      if (lock.owner == t) {
        lock.owner = --lock.depth == 0 ? kNoThread : t;
      } else if (lock.readers > 0) {
        --lock.readers;
      }
    }
  }

  void take(std::uint64_t object, std::uint32_t t, bool shared) {
    Lock& lock = locks_[object];
    if (shared && lock.owner != t) {
      ++lock.readers;
    } else {
      lock.owner = t;
      ++lock.depth;
    }
  }

  const TraceIndex& index_;
  const Steps& steps_;
  std::vector<std::uint32_t> done_;       // by thread: events that have happened
  std::vector<std::vector<StepId>> own_;  // by thread, what it is to do
  std::vector<std::size_t> next_;         // ... and how much of that it has done
  std::map<std::uint64_t, Lock> locks_;
  std::map<EventIndex, std::size_t> when_;  // of releases and notifies: how many of them came before
};

}  // namespace

std::vector<std::vector<StepId>> simple_orders(const RecipeModel& model, const Window& window,
                                               const RaceTarget (&targets)[2], const Steps& steps, const Scope& scope) {
  std::vector<std::vector<StepId>> orders;
  const auto add = [&](bool all_allowed, std::uint32_t first, EventIndex cut) {
    std::optional<std::vector<StepId>> order = Walk(model, window, steps, scope, all_allowed).run(first, cut);
    if (order && std::find(orders.begin(), orders.end(), *order) == orders.end()) {
      orders.push_back(std::move(*order));
    }
  };
  for (const bool all_allowed : {false, true}) {
    for (const std::uint32_t first : {kNoThread, targets[0].thread, targets[1].thread}) {
      add(all_allowed, first, 0);
    }
  }
  // What a detour was found with.
  for (const RaceTarget& target : targets) {
    const EventIndex cut = target.is_event() ? kNoEvent : model.thread(target.thread).detours[target.detour].cut;
    if (cut != kNoEvent) {
      add(true, target.thread, cut);
    }
  }
  return orders;
}

}  // namespace sooth
