#include "detect/ipa.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "detect/access_history.h"
#include "detect/hybrid_cell.h"
#include "detect/ipa_shapes.h"
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

// What `hybrid` reports, found by the pass of another detector, which outlives it.
class IncludedHybrid final : public Detector {
 public:
  IncludedHybrid(const Detector& host, const PairTable& races) : host_(host), races_(races) {}

  Guarantee guarantee() const override { return Guarantee::kHeuristic; }
  void consume(const Batch&) override {}
  const PairTable& races() const override { return races_; }
  const LockSetTable& lock_sets() const override { return host_.lock_sets(); }
  Rows stats() const override { return {{"found by", "the pass of ipa"}}; }

 private:
  const Detector& host_;
  const PairTable& races_;
};

class IpaDetector final : public Detector {
 public:
  IpaDetector(IpaStrategy strategy, const IpaLimits& limits)
      : strategy_(strategy),
        limits_(limits),
        reachability_(histories_, limits),
        shapes_(limits.shapes),
        history_(*this, AccessLog::Keys::kByLocks) {}

  Guarantee guarantee() const override { return Guarantee::kHeuristic; }
  const PairTable& races() const override { return races_; }
  void tell_apart(VariableClasses* variables) override {
    races_.tell_apart(variables);
    hybrid_races_.tell_apart(variables);
  }
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
  std::unique_ptr<Detector> included() override {
    keeps_hybrid_ = true;
    return std::make_unique<IncludedHybrid>(*this, hybrid_races_);
  }

  void consume(const Batch& batch) override {
    history_.consume(batch);
    histories_.trim(limits_.steps / std::max(1u, histories_.thread_count()));
  }

  // AccessHistory's host. In the log, shapes stand for sets of locks: they tell apart more accesses than the latest.
  AccessView record_of(const Batch& batch, std::size_t i) {
    const Event& e = batch.events[i];
    histories_.begin_access(e, batch.id(i));
    return {e, batch.id(i), histories_.time(e.thread), shapes_.of(e.thread), batch.stack(i)};
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
      case Role::kRelease: return lock_step(batch, i);
    }
  }

  LockSetId locks_of(ThreadId thread) const { return shapes_.of(thread); }

  void touch(CellId id, HybridCell& cell, const AccessView& access) {
    const VectorClock& own = histories_.clock(access.event.thread);
    if (cell.add(access.event, access.time, own, shapes_.locks(access.locks), histories_.lock_sets())) {
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
    bool merged = false;                // ... or may not speak for others that are not in the log any more
    std::uint32_t tries_for_lower = 0;  // accesses that are in the upper bound only
  };

  void lock_step(const Batch& batch, std::size_t i) {
    const Event& e = batch.events[i];
    const LockPosition before = histories_.end(e.thread);
    histories_.step(e, batch.id(i), batch.stack(i));
    if (histories_.end(e.thread) == before) {
      return;  // re-entrant
    }
    const LockStep& step = histories_.at(e.thread, before);
    shapes_.step(e.thread, step.lock, step.acquire, step.shared, histories_.locks_of(e.thread));
    if (const LockSetId shape = shapes_.of(e.thread); shape != kNoLocks) {
      LockPosition& first = first_with_[shape_key(e.thread, shape)];
      first = first == 0 ? before + 1 : first;
    }
  }
  static std::uint64_t shape_key(ThreadId thread, LockSetId shape) {
    return std::uint64_t{raw(thread)} << 32 | raw(shape);
  }

  static std::uint64_t sites_of(const AccessRecord& earlier, const AccessView& access) {
    const auto [low, high] = std::minmax({raw(earlier.event.site), raw(access.event.site)});
    return std::uint64_t{low} << 32 | high;
  }
  // As reports know it: with its locks.
  AccessRecord with_locks(AccessRecord access) const {
    access.locks = shapes_.locks(access.locks);
    return access;
  }

  void find_pairs(CellId cell, const AccessView& access, const VectorClock& own) {
    const LockSetId held = shapes_.locks(access.locks);
    const auto protects = [&](LockSetId shape) { return histories_.lock_sets().protects(shapes_.locks(shape), held); };
    earlier_.clear();
    history_.log().walk(cell, protects, [&](const AccessRecord& earlier) {
      if (!conflict(earlier.event, access.event) || earlier.time <= own[earlier.event.thread]) {
        return;
      }
      if (keeps_hybrid_) {
        hybrid_races_.add(with_locks(earlier), with_locks(access));
      }
      if (!decided(known_[sites_of(earlier, access)])) {
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

  void consider(const AccessRecord& earlier, const AccessRecord& access) {
    const std::uint64_t sites = sites_of(earlier, access);
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
    Reachable answer = reachability_.decide(target, all_threads, all_threads ? &plan : nullptr);
    note_deadlocks();
    if (answer == Reachable::kNo && !speaks_for_all_before(earlier, target)) {
      known.merged = true;
      answer = Reachable::kForgotten;
    } else {
      known.forgotten = known.forgotten || answer == Reachable::kForgotten;
    }
    known.apart = known.apart || answer == Reachable::kNo;
    known.tries_for_lower += answer == Reachable::kTwoThreads || answer == Reachable::kForgotten ? 1 : 0;
    const bool is_new = !(strategy_ == IpaStrategy::kLower ? known.lower : known.upper);
    known.upper = known.upper || answer != Reachable::kNo;
    known.lower = known.lower || answer == Reachable::kAllThreads;
    if (answer == Reachable::kAllThreads) {
      const auto [low, high] = std::minmax(earlier.event.site, access.event.site);
      plans_[sites] = {low, high, {earlier.id, access.id}, plan.moment, std::move(plan.steps)};
    }
    if (is_new && (strategy_ == IpaStrategy::kLower ? known.lower : known.upper)) {
      races_.add(with_locks(earlier), with_locks(access));
    }
  }

  // The log has the latest access of each shape. When that one cannot meet the access of the target, can none before?
  bool speaks_for_all_before(const AccessRecord& latest, const IpaTarget& target) const {
    const LockPosition* first = first_with_.find(shape_key(target.ta, latest.locks));  // none: from the beginning on
    if (target.a == (first == nullptr ? 0 : *first)) {
      return true;  // the thread was never like that before
    }
    return !shapes_.vague(latest.locks) && reachability_.comes_back(target);
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
  LockShapes shapes_;
  FlatMap<LockPosition>
      first_with_;  // by shape_key(): where the thread was when it first had the shape; not of no lock
  AccessHistory<IpaDetector, HybridCell> history_;
  bool keeps_hybrid_ = false;
  PairTable hybrid_races_;                   // when it does
  FlatMap<Known> known_;                     // smaller site << 32 | larger site
  std::map<std::uint64_t, RacePlan> plans_;  // by the same
  std::map<std::pair<SiteId, SiteId>, DeadlockCandidate> deadlocks_;
  PairTable races_;
  std::vector<AccessRecord> earlier_;  // of find_pairs()
};

std::vector<std::string> IpaDetector::notes() const {
  std::uint64_t forgotten = 0;
  std::uint64_t merged = 0;
  known_.for_each([&](std::uint64_t, const Known& known) {
    forgotten += known.forgotten ? 1 : 0;
    merged += known.merged ? 1 : 0;
  });
  std::vector<std::string> notes;
  if (forgotten > 0) {
    notes.push_back(
        "ipa remembers the last " + std::to_string(limits_.steps) + " lock events of all threads together; for " +
        std::to_string(forgotten) + (forgotten == 1 ? " pair" : " pairs") + " of sites that was not enough" +
        (strategy_ == IpaStrategy::kLower ? "." : ", and accesses that lie further back count as reachable."));
  }
  if (merged > 0 && strategy_ != IpaStrategy::kLower) {
    notes.push_back("ipa remembers the latest of like accesses; for " + std::to_string(merged) +
                    (merged == 1 ? " pair" : " pairs") +
                    " of sites that one does not speak for those before it, and they count as reachable.");
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
