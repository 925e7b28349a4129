#include "predict/race_candidates.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "order/lock_set.h"
#include "order/made_locks.h"
#include "predict/predictor.h"

namespace sooth {
namespace {

// Above it memory would be short: 64 MB.
constexpr std::uint64_t kMaxGroupPairs = 1 << 23;

// A stretch of a thread in which it does nothing but one kind of plain access.
class Stretches {
 public:
  Stretches(const TraceIndex& index, const std::function<bool(EventIndex)>& informed)
      : index_(index),
        informed_(informed),
        of_writes_(index.thread_count()),
        of_reads_(index.thread_count()),
        next_branch_(index.thread_count()) {}

  void step(EventIndex e) {
    const std::uint32_t t = index_.thread(e);
    const Op op = index_.event(e).op;
    const bool silent = op == Op::kEnter || op == Op::kExit;
    const bool informed =
        !index_.predecessors(e).empty() || passes_branch(t, index_.position(e)) || (informed_ && informed_(e));
    of_writes_[t] += informed || (op != Op::kWrite && !silent) ? 1 : 0;
    of_reads_[t] += informed || (op != Op::kRead && !silent) ? 1 : 0;
  }
  // Equal for accesses of the thread in one stretch; nothing for those that are like no other.
  std::optional<std::uint32_t> number(EventIndex e) const {
    const std::uint32_t t = index_.thread(e);
    switch (index_.event(e).op) {
      case Op::kWrite: return of_writes_[t];
      case Op::kRead: return of_reads_[t];
      default: return std::nullopt;
    }
  }

 private:
  bool passes_branch(std::uint32_t thread, std::uint32_t position) {
    const std::span<const std::uint32_t> branches = index_.branches_of(thread);
    std::size_t& next = next_branch_[thread];
    const bool passes = next < branches.size() && branches[next] == position;
    next += passes ? 1 : 0;
    return passes;
  }

  const TraceIndex& index_;
  const std::function<bool(EventIndex)>& informed_;
  std::vector<std::uint32_t> of_writes_, of_reads_;
  std::vector<std::size_t> next_branch_;
};

struct GroupKey {
  std::uint32_t variable, thread, site, locks;
  Op op;
  friend bool operator==(const GroupKey&, const GroupKey&) = default;
};
struct GroupHash {
  std::size_t operator()(const GroupKey& key) const {
    std::uint64_t hash = key.variable;
    for (const std::uint64_t part : {std::uint64_t{key.thread}, std::uint64_t{key.site}, std::uint64_t{key.locks},
                                     std::uint64_t{static_cast<std::uint8_t>(key.op)}}) {
      hash = (hash ^ (hash >> 29)) * 0xbf58476d1ce4e5b9 + part;
    }
    return hash ^ (hash >> 32);
  }
};

}  // namespace

RaceCandidates::RaceCandidates(const TraceIndex& index, const std::function<bool(SiteId, SiteId)>& skip,
                               const std::function<bool(EventIndex)>& informed,
                               const std::function<bool()>& out_of_time)
    : index_(index), past_(index) {
  find_made_locks();
  StopPoll poll(out_of_time);
  std::vector<std::vector<std::uint32_t>> by_variable;
  LockSets locks;
  collect(by_variable, locks, informed, poll);
  std::map<std::pair<SiteId, SiteId>, std::vector<std::pair<std::uint32_t, std::uint32_t>>> found;
  std::map<std::pair<SiteId, SiteId>, bool> skips;
  std::set<std::pair<SiteId, SiteId>> locked;
  std::uint64_t pairs = 0;
  for (const std::vector<std::uint32_t>& own : by_variable) {
    for (std::size_t i = 0; i < own.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const Group& a = groups_[own[i]];
        const Group& b = groups_[own[j]];
        if (poll.stop(4)) {
          break;
        }
        if (a.thread == b.thread || !(a.writes || b.writes) || (a.atomic && b.atomic)) {
          continue;
        }
        const std::pair<SiteId, SiteId> sites = std::minmax(a.site, b.site);
        if (locks.table().protects(LockSetId{a.locks}, LockSetId{b.locks})) {
          locked.insert(sites);
          continue;
        }
        const auto [known, added] = skips.try_emplace(sites, false);
        if (added && skip) {
          known->second = skip(sites.first, sites.second);
          skipped_ += known->second ? 1 : 0;
        }
        if (known->second) {
          continue;
        }
        std::vector<std::pair<std::uint32_t, std::uint32_t>>& groups = found[sites];
        if (pairs < kMaxGroupPairs && !always_ordered(a, b)) {
          ++pairs;
          groups.emplace_back(own[j], own[i]);
        }
      }
    }
  }
  locked_ = static_cast<std::uint64_t>(
      std::count_if(locked.begin(), locked.end(), [&](const auto& sites) { return !skips.contains(sites); }));
  for (auto& [sites, groups] : found) {
    sites_.push_back({{sites.first, sites.second}, std::move(groups)});
  }
  if (poll.stopped()) {
    why_not_all_ = kOutOfTime;
  } else if (pairs == kMaxGroupPairs) {
    why_not_all_ = "more than " + std::to_string(kMaxGroupPairs) + " pairs of threads and places touch the same bytes";
  }
}

// Whether every access of the one group needs, or is needed by, all of the other. Of many threads one after the other
// there are many such groups, and nothing to ask about them.
bool RaceCandidates::always_ordered(const Group& a, const Group& b) const {
  const auto before = [this](const Group& x, const Group& y) {
    return x.accesses.back() < y.accesses.front() && past_.needs(y.accesses.front(), x.accesses.back());
  };
  return before(a, b) || before(b, a);
}

void RaceCandidates::collect(std::vector<std::vector<std::uint32_t>>& by_variable, LockSets& locks,
                             const std::function<bool(EventIndex)>& informed, StopPoll& poll) {
  Stretches stretches(index_, informed);
  std::unordered_map<GroupKey, std::uint32_t, GroupHash> numbers;
  std::vector<std::optional<std::uint32_t>> last_stretch;  // by group
  for (EventIndex e = 0; e < index_.size(); ++e) {
    const Event& event = index_.event(e);
    if (poll.stop(2 + 4 * index_.variables(e).size())) {
      return;
    }
    stretches.step(e);
    if (event.op == Op::kAcquire) {
      locks.acquire(event);
    } else if (event.op == Op::kRelease) {
      locks.release(event);
    }
    for (const VariableIndex v : index_.variables(e)) {
      const std::uint32_t held = raw(locks.of(event.thread));
      const auto [it, added] = numbers.try_emplace(GroupKey{v, raw(event.thread), raw(event.site), held, event.op},
                                                   static_cast<std::uint32_t>(groups_.size()));
      if (added) {
        groups_.push_back({raw(event.thread), event.site, is_write(event.op), is_atomic(event.op), held, {}});
        last_stretch.emplace_back();
        by_variable.resize(std::max<std::size_t>(by_variable.size(), v + std::size_t{1}));
        by_variable[v].push_back(it->second);
      }
      std::vector<EventIndex>& accesses = groups_[it->second].accesses;
      const std::optional<std::uint32_t> stretch = stretches.number(e);
      if (stretch.has_value() && last_stretch[it->second] == stretch && !accesses.empty()) {
        accesses.back() = event.op == Op::kWrite ? e : accesses.back();
      } else {
        accesses.push_back(e);
      }
      last_stretch[it->second] = stretch;
    }
    follow_made_lock(e, locks);
  }
}

// Those that exclude in every correct reordering: none where reads may see anything, nor where all of must-order is kept.
void RaceCandidates::find_made_locks() {
  if (!index_.is_hard() || index_.has_branches()) {
    return;
  }
  std::uint32_t number = 0;
  for (const MadeLock& lock : sooth::find_made_locks(index_.trace().events, index_.trace().values)) {
    for (const MadeLock::Step& step : lock.excludes ? lock.steps : std::vector<MadeLock::Step>()) {
      if (step.role == MadeLock::Role::kTake || step.role == MadeLock::Role::kGive) {
        made_[raw(step.event)] = number << 1 | (step.role == MadeLock::Role::kTake ? 1 : 0);
      }
    }
    ++number;
  }
}

// The event itself is not inside when it takes the lock, and is when it gives it back.
void RaceCandidates::follow_made_lock(EventIndex e, LockSets& locks) const {
  constexpr std::uint64_t kNoAddress = std::uint64_t{1} << 63;  // so that the number is no lock of the trace
  const std::uint32_t* const step = made_.find(e);
  if (step == nullptr) {
    return;
  }
  const Event event{.object = kNoAddress | *step >> 1, .thread = index_.event(e).thread};
  if ((*step & 1) != 0) {
    locks.acquire(event);
  } else {
    locks.release(event);
  }
}

RaceCandidates::Pairs::Pairs(const RaceCandidates& candidates, std::size_t sites,
                             std::function<EventIndex(EventIndex second)> first_allowed, StopPoll* poll)
    : candidates_(candidates), first_allowed_(std::move(first_allowed)), poll_(poll) {
  for (const auto& [a, b] : candidates.sites_[sites].groups) {
    if (stops(poll_, candidates.groups_[a].accesses.size() + candidates.groups_[b].accesses.size())) {
      return;
    }
    add_cursors(candidates.groups_[a].accesses, candidates.groups_[b].accesses);
    add_cursors(candidates.groups_[b].accesses, candidates.groups_[a].accesses);
  }
  std::stable_sort(cursors_.begin(), cursors_.end(),
                   [](const Cursor& a, const Cursor& b) { return a.second < b.second; });
}

void RaceCandidates::Pairs::add_cursors(std::span<const EventIndex> seconds, std::span<const EventIndex> firsts) {
  std::size_t earlier = 0;
  for (const EventIndex second : seconds) {
    while (earlier < firsts.size() && firsts[earlier] < second) {
      ++earlier;
    }
    if (earlier > 0) {
      cursors_.push_back({second, firsts.first(earlier)});
    }
  }
}

std::optional<Candidate> RaceCandidates::Pairs::next() {
  for (;;) {
    if (at_ == cursors_.size()) {  // the next round, with the cursors that are left
      cursors_.resize(kept_);
      at_ = kept_ = 0;
      if (cursors_.empty()) {
        return std::nullopt;
      }
    }
    if (stops(poll_)) {
      return std::nullopt;
    }
    Cursor cursor = cursors_[at_++];
    const EventIndex first = cursor.earlier.back();
    if (candidates_.past_.needs(cursor.second, first)) {
      continue;  // so are those before it
    }
    if (first < first_allowed_(cursor.second)) {
      left_out_ = true;
      continue;
    }
    cursor.earlier = cursor.earlier.first(cursor.earlier.size() - 1);
    if (!cursor.earlier.empty()) {
      cursors_[kept_++] = cursor;
    }
    bool& asked = asked_[std::uint64_t{first} << 32 | cursor.second];
    if (!asked) {
      asked = true;
      return Candidate{EventId{first}, EventId{cursor.second}};
    }
  }
}

}  // namespace sooth
