#include "order/lock_set.h"

#include <algorithm>
#include <utility>

namespace sooth {

LockSetTable::LockSetTable() { intern_sorted({}); }

LockSetId LockSetTable::with(LockSetId set, LockMode lock) {
  std::uint32_t& step = steps_[raw(set)].add[lock.shared ? 1 : 0][lock.lock];
  if (step != 0) {
    return LockSetId{step - 1};
  }
  std::vector<LockMode> locks = sets_[raw(set)];
  locks.insert(std::upper_bound(locks.begin(), locks.end(), lock), lock);
  const LockSetId result = intern_sorted(std::move(locks));
  steps_[raw(set)].add[lock.shared ? 1 : 0][lock.lock] = raw(result) + 1;
  return result;
}

LockSetId LockSetTable::without(LockSetId set, std::uint64_t lock) {
  std::uint32_t& step = steps_[raw(set)].remove[lock];
  if (step != 0) {
    return LockSetId{step - 1};
  }
  std::vector<LockMode> locks = sets_[raw(set)];
  std::erase_if(locks, [&](const LockMode& mode) { return mode.lock == lock; });
  const LockSetId result = intern_sorted(std::move(locks));
  steps_[raw(set)].remove[lock] = raw(result) + 1;
  return result;
}

LockSetId LockSetTable::intern_sorted(std::vector<LockMode> locks) {
  const auto [it, added] = index_.try_emplace(std::move(locks), LockSetId(sets_.size()));
  if (!added) {
    return it->second;
  }
  const LockSetId set = it->second;
  sets_.push_back(it->first);
  exclusive_.push_back(set);
  steps_.emplace_back();
  std::vector<LockMode> exclusive = it->first;
  std::erase_if(exclusive, [](const LockMode& lock) { return lock.shared; });
  if (exclusive.size() != it->first.size()) {
    exclusive_[raw(set)] = intern_sorted(std::move(exclusive));
  }
  return set;
}

LockSetId LockSetTable::intersect(LockSetId a, LockSetId b) {
  if (a == kNoLocks || b == kNoLocks) {
    return kNoLocks;
  }
  const auto [low, high] = std::minmax(a, b);
  const std::uint64_t key = std::uint64_t{raw(low)} << 32 | raw(high);
  if (const LockSetId* known = common_.find(key)) {
    return *known;
  }
  std::vector<LockMode> common;
  for (const LockMode& mine : sets_[raw(low)]) {
    for (const LockMode& other : sets_[raw(high)]) {
      if (mine.lock == other.lock) {
        common.push_back({mine.lock, mine.shared || other.shared});
      }
    }
  }
  const LockSetId result = intern_sorted(std::move(common));
  common_[key] = result;
  return result;
}

// Not remembered: programs that nest many locks have so many pairs of sets that looking takes less than finding.
bool LockSetTable::protects(LockSetId a, LockSetId b) const {
  const std::vector<LockMode>& mine = sets_[raw(a)];
  const std::vector<LockMode>& others = sets_[raw(b)];
  auto other = others.begin();
  for (const LockMode& lock : mine) {
    while (other != others.end() && other->lock < lock.lock) {
      ++other;
    }
    if (other == others.end()) {
      return false;
    }
    if (other->lock == lock.lock && !(other->shared && lock.shared)) {
      return true;
    }
  }
  return false;
}

}  // namespace sooth
