#include "detect/lock_use_thinning.h"

#include <algorithm>

namespace sooth {
namespace {

class Thinning {
 public:
  Thinning(std::span<const CycleUse> uses, const LockSetTable& lock_sets, std::uint64_t max_steps)
      : lock_sets_(lock_sets), steps_left_(max_steps) {
    for (const CycleUse& use : uses) {
      if (raw(use.thread) >= moments_.size()) {
        moments_.resize(raw(use.thread) + 1);
      }
      for (const LockMoment& moment : use.moments) {
        moments_[raw(use.thread)].push_back(&moment);
      }
    }
    for (std::vector<const LockMoment*>& of_thread : moments_) {
      std::sort(of_thread.begin(), of_thread.end(),
                [](const LockMoment* a, const LockMoment* b) { return a->acquire.time < b->acquire.time; });
    }
  }

  bool stands_for(const CycleUse& later, const CycleUse& earlier) {
    const VectorClock& known = *later.moments.front().since;  // the one of its moments that knows least
    return std::all_of(earlier.moments.begin(), earlier.moments.end(),
                       [&](const LockMoment& moment) { return meets_no_more_than(moment, known); });
  }

 private:
  // Nothing that is unordered with the moment is among what is known.
  bool meets_no_more_than(const LockMoment& moment, const VectorClock& known) {
    const ThreadId own = moment.acquire.event.thread;
    for (std::uint32_t i = 0; i < moments_.size(); ++i) {
      const ThreadId thread{i};
      if (!step()) {
        return false;
      }
      if (thread == own || known[thread] <= (*moment.since)[thread]) {
        continue;
      }
      auto it = std::upper_bound(moments_[i].begin(), moments_[i].end(), (*moment.since)[thread],
                                 [](auto time, const LockMoment* m) { return time < m->acquire.time; });
      for (; it != moments_[i].end() && (*it)->acquire.time <= known[thread]; ++it) {
        const LockMoment& other = **it;
        if (!step() || ((*other.since)[own] < moment.acquire.time && !are_apart(other, moment))) {
          return false;
        }
      }
    }
    return true;
  }

  // By a lock that both hold. Their sets are sorted and short.
  bool are_apart(const LockMoment& a, const LockMoment& b) const {
    const std::vector<LockMode>& mine = lock_sets_.locks(a.acquire.locks);
    const std::vector<LockMode>& theirs = lock_sets_.locks(b.acquire.locks);
    return std::any_of(mine.begin(), mine.end(), [&](const LockMode& held) {
      return std::any_of(theirs.begin(), theirs.end(), [&](const LockMode& other) {
        return held.lock == other.lock && !(held.shared && other.shared);
      });
    });
  }

  bool step() { return steps_left_ != 0 && --steps_left_ != 0; }

  const LockSetTable& lock_sets_;
  std::uint64_t steps_left_;
  std::vector<std::vector<const LockMoment*>> moments_;  // by thread, in order of time
};

}  // namespace

std::vector<bool> dispensable_uses(std::span<const CycleUse> uses, std::span<const std::size_t> next,
                                   const LockSetTable& lock_sets, std::uint64_t max_steps) {
  Thinning thinning(uses, lock_sets, max_steps);
  std::vector<bool> answers(uses.size());
  for (std::size_t i = 0; i < uses.size(); ++i) {
    answers[i] = next[i] != kNoUse && thinning.stands_for(uses[next[i]], uses[i]);
  }
  return answers;
}

}  // namespace sooth
