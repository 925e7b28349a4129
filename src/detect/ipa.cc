#include "detect/ipa.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "detect/access_history.h"
#include "detect/hybrid_cell.h"
#include "order/role.h"

namespace sooth {
namespace {

using Rows = std::vector<std::pair<std::string, std::string>>;

void add_rows(const std::string& suffix, const IpaCounts& counts, Rows& rows) {
  rows.emplace_back("potential calls" + suffix, std::to_string(counts.potential));
  rows.emplace_back("calls" + suffix, std::to_string(counts.calls));
  rows.emplace_back("both branches" + suffix, std::to_string(counts.both));
  rows.emplace_back("LCC" + suffix, std::to_string(counts.lcc));
  rows.emplace_back("RC" + suffix, std::to_string(counts.rc));
}

class IpaDetector final : public Detector {
 public:
  IpaDetector(IpaStrategy strategy, const IpaLimits& limits)
      : strategy_(strategy),
        limits_(limits),
        reachability_(histories_, limits),
        depth_(static_cast<std::uint32_t>(limits.accesses)),
        history_(*this, AccessLog::Keys::kByLocks) {}

  Guarantee guarantee() const override { return Guarantee::kHeuristic; }
  const PairTable& races() const override { return races_; }
  const LockSetTable& lock_sets() const override { return histories_.lock_sets(); }
  std::vector<RacePlan> plans() const override {
    std::vector<RacePlan> plans;
    for (const auto& [sites, plan] : plans_) {
      plans.push_back(plan);
    }
    return plans;
  }
  std::vector<DeadlockCandidate> deadlocks() const override {
    std::vector<DeadlockCandidate> all;
    for (const auto& [sites, deadlock] : deadlocks_) {
      all.push_back(deadlock);
    }
    return all;
  }
  std::vector<std::string> notes() const override;
  Rows stats() const override;

  void consume(const Batch& batch) override {
    history_.consume(batch);
    if (history_.log().entry_count() > limits_.log_entries) {
      depth_ = 1;  // a log that does not fit into the cache costs more than all the rest
    }
    histories_.trim(limits_.steps / std::max(1u, histories_.thread_count()));
  }

  // AccessHistory's host. In the log, contexts stand for sets of locks: they tell apart more accesses than the latest.
  AccessView record_of(const Batch& batch, std::size_t i) {
    const Event& e = batch.events[i];
    histories_.begin_access(e, batch.id(i));
    return {e, batch.id(i), histories_.time(e.thread), context_of(e.thread), batch.stack(i)};
  }

  void step(const Batch& batch, std::size_t i) {
    const Event& e = batch.events[i];
    switch (role_of(e.op)) {
      case Role::kAccess: history_.access(record_of(batch, i)); return histories_.end_access(e);
      case Role::kFree: return history_.free(record_of(batch, i));
      case Role::kAlloc: history_.allocate(e); [[fallthrough]];
      case Role::kEdge:
      case Role::kNone: return histories_.step(e, batch.id(i), batch.stack(i));
      case Role::kAcquire:
      case Role::kRelease: histories_.step(e, batch.id(i), batch.stack(i)); return update_context(e.thread);
    }
  }

  LockSetId locks_of(ThreadId thread) const { return context_of(thread); }

  void touch(CellId id, HybridCell& cell, const AccessView& access) {
    const VectorClock& own = histories_.clock(access.event.thread);
    if (cell.add(access.event, access.time, own, locks_in(access.locks), histories_.lock_sets())) {
      find_pairs(id, access, own);
    }
  }

 private:
  // What is known of a pair of sites.
  struct Known {
    bool upper = false;
    bool lower = false;
    bool apart = false;                 // some accesses of it were found apart
    bool forgotten = false;             // ... or could not be judged
    std::uint32_t tries_for_lower = 0;  // accesses that are in the upper bound only
  };

  // Of accesses with the same locks, those are kept apart between which so many releases lie that they have different
  // remainders: the latest of each. Between two releases the locks held tell positions apart.
  void update_context(ThreadId thread) {
    if (raw(thread) >= contexts_.size()) {
      contexts_.resize(raw(thread) + 1);
    }
    const auto accesses = static_cast<std::uint32_t>(limits_.accesses);
    contexts_[raw(thread)] =
        LockSetId(raw(histories_.locks_of(thread)) * accesses + histories_.releases(thread) % depth_);
  }
  // As long as a thread has made no lock step it is in the first context.
  LockSetId context_of(ThreadId thread) const {
    return raw(thread) < contexts_.size() ? contexts_[raw(thread)] : kNoLocks;
  }
  LockSetId locks_in(LockSetId context) const {
    return LockSetId(raw(context) / static_cast<std::uint32_t>(limits_.accesses));
  }

  void find_pairs(CellId cell, const AccessView& access, const VectorClock& own) {
    const LockSetId held = locks_in(access.locks);
    const auto protects = [&](LockSetId context) { return histories_.lock_sets().protects(locks_in(context), held); };
    earlier_.clear();
    history_.log().walk(cell, protects, [&](const AccessRecord& earlier) {
      if (conflict(earlier.event, access.event) && earlier.time > own[earlier.event.thread]) {
        earlier_.push_back(earlier);
      }
    });
    // The latest first: it is decided with the shortest histories, and if it can meet the access it is the example.
    std::sort(earlier_.begin(), earlier_.end(), [](const auto& x, const auto& y) { return x.id > y.id; });
    for (const AccessRecord& earlier : earlier_) {
      consider(earlier, access);
    }
  }

  bool decided(const Known& known) const {
    switch (strategy_) {
      case IpaStrategy::kUpper: return known.upper;
      case IpaStrategy::kLower:
      case IpaStrategy::kBoth: return known.lower || known.tries_for_lower >= limits_.tries_for_lower;
    }
    return false;
  }

  void consider(AccessRecord earlier, AccessRecord access) {
    const auto [low, high] = std::minmax({raw(earlier.event.site), raw(access.event.site)});
    const std::uint64_t sites = std::uint64_t{low} << 32 | high;
    Known& known = known_[sites];
    if (decided(known)) {
      return;
    }
    const ThreadId ta = earlier.event.thread;
    const ThreadId tb = access.event.thread;
    const IpaTarget target{
        ta, tb, earlier.id, access.id, histories_.position_at_time(ta, earlier.time), histories_.end(tb)};
    IpaPlan plan;
    const bool all_threads = strategy_ != IpaStrategy::kUpper;
    const Reachable answer = reachability_.decide(target, all_threads, all_threads ? &plan : nullptr);
    note_deadlocks();
    known.forgotten = known.forgotten || answer == Reachable::kForgotten;
    known.apart = known.apart || answer == Reachable::kNo;
    known.tries_for_lower += answer == Reachable::kTwoThreads || answer == Reachable::kForgotten ? 1 : 0;
    const bool is_new = !(strategy_ == IpaStrategy::kLower ? known.lower : known.upper);
    known.upper = known.upper || answer != Reachable::kNo;
    known.lower = known.lower || answer == Reachable::kAllThreads;
    if (answer == Reachable::kAllThreads) {
      plans_[sites] = {SiteId{low}, SiteId{high}, {earlier.id, access.id}, plan.moment, std::move(plan.steps)};
    }
    if (is_new && (strategy_ == IpaStrategy::kLower ? known.lower : known.upper)) {
      earlier.locks = locks_in(earlier.locks);
      access.locks = locks_in(access.locks);
      races_.add(earlier, access);
    }
  }

  void note_deadlocks() {
    for (const IpaDeadlock& found : reachability_.take_deadlocks()) {
      const AccessRecord first = acquire_of(found.first_thread, found.first);
      const AccessRecord second = acquire_of(found.second_thread, found.second);
      const auto [it, added] = deadlocks_.try_emplace(std::minmax(first.event.site, second.event.site));
      if (added) {
        it->second.acquires = {first, second};
      } else {
        ++it->second.cycles;
      }
    }
  }

  AccessRecord acquire_of(ThreadId thread, LockPosition position) const {
    const LockStep& step = histories_.at(thread, position);
    Event event;
    event.object = step.lock;
    event.thread = thread;
    event.site = step.site;
    event.op = Op::kAcquire;
    event.flags = step.shared ? kShared : 0;
    return {event, step.id, step.time, step.held, step.stack};
  }

  const IpaStrategy strategy_;
  const IpaLimits limits_;
  LockHistories histories_;
  IpaReachability reachability_;
  std::uint32_t depth_;  // accesses with the same locks that are kept apart
  AccessHistory<IpaDetector, HybridCell> history_;
  std::vector<LockSetId> contexts_;          // by thread
  FlatMap<Known> known_;                     // smaller site << 32 | larger site
  std::map<std::uint64_t, RacePlan> plans_;  // by the same
  std::map<std::pair<SiteId, SiteId>, DeadlockCandidate> deadlocks_;
  PairTable races_;
  std::vector<AccessRecord> earlier_;  // of find_pairs()
};

std::vector<std::string> IpaDetector::notes() const {
  std::uint64_t forgotten = 0;
  known_.for_each([&](std::uint64_t, const Known& known) { forgotten += known.forgotten ? 1 : 0; });
  std::vector<std::string> notes;
  if (forgotten > 0) {
    notes.push_back(
        "ipa remembers the last " + std::to_string(limits_.steps) + " lock events of all threads together; for " +
        std::to_string(forgotten) + (forgotten == 1 ? " pair" : " pairs") + " of sites that was not enough" +
        (strategy_ == IpaStrategy::kLower ? "." : ", and accesses that lie further back count as reachable."));
  }
  if (depth_ < limits_.accesses) {
    notes.push_back(
        "ipa remembers more than " + std::to_string(limits_.log_entries) +
        " accesses, and from there on kept only the latest of each variable, thread, site and set of locks.");
  }
  return notes;
}

Rows IpaDetector::stats() const {
  std::uint64_t upper = 0;
  std::uint64_t lower = 0;
  std::uint64_t apart = 0;
  known_.for_each([&](std::uint64_t, const Known& known) {
    upper += known.upper ? 1 : 0;
    lower += known.lower ? 1 : 0;
    apart += !known.upper && known.apart ? 1 : 0;
  });
  Rows rows = history_.stats();
  if (strategy_ != IpaStrategy::kLower) {
    rows.emplace_back("upper bound", std::to_string(upper));
  }
  if (strategy_ != IpaStrategy::kUpper) {
    rows.emplace_back("lower bound", std::to_string(lower));
  }
  rows.emplace_back("site pairs kept apart by locks", std::to_string(apart));
  rows.emplace_back("lock events", std::to_string(histories_.step_count()));
  rows.emplace_back("answered by the recorded run", std::to_string(reachability_.answered_by_run()));
  rows.emplace_back("searched", std::to_string(reachability_.counts().targets));
  rows.emplace_back("searches", std::to_string(reachability_.searches_begun()));
  rows.emplace_back("restarts", std::to_string(reachability_.restarts()));
  add_rows("", reachability_.counts(), rows);
  if (limits_.compare) {
    add_rows(" without reuse", reachability_.counts_anew(), rows);
  }
  return rows;
}

}  // namespace

std::unique_ptr<Detector> make_ipa_detector(IpaStrategy strategy, const IpaLimits& limits) {
  return std::make_unique<IpaDetector>(strategy, limits);
}

}  // namespace sooth
