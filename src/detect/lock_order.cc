#include "detect/lock_order.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "detect/lock_cycle_search.h"
#include "detect/lock_use_thinning.h"
#include "order/lock_set.h"
#include "order/must_order.h"
#include "order/role.h"
#include "order/thread_clocks.h"

namespace sooth {
namespace {

class DeadlockDetector final : public Detector {
 public:
  explicit DeadlockDetector(const LockOrderLimits& limits)
      : limits_(limits), must_order_(*this), leave_out_at_(limits.few_uses), thin_out_at_(limits.max_uses) {}

  Guarantee guarantee() const override { return Guarantee::kHeuristic; }
  const PairTable& races() const override { return races_; }
  const LockSetTable& lock_sets() const override { return locks_.table(); }
  std::vector<DeadlockCandidate> deadlocks() const override { return deadlocks_; }
  std::vector<std::string> notes() const override { return notes_; }
  std::vector<std::pair<std::string, std::string>> stats() const override {
    return {{"cycles", std::to_string(deadlocks_.size())},
            {"lock uses", std::to_string(uses_.size())},
            {"lock uses left out", std::to_string(left_out_)},
            {"lock uses thinned out", std::to_string(thinned_out_)},
            {"locksets", std::to_string(locks_.table().size())},
            {"merged moments", std::to_string(merged_)},
            {"steps", std::to_string(steps_)}};
  }

  void consume(const Batch& batch) override {
    for (std::size_t i = 0; i < batch.events.size(); ++i) {
      step(batch, i);
    }
    if (uses_.size() >= leave_out_at_) {
      leave_out();
    }
    if (uses_.size() >= thin_out_at_) {
      thin_out();
    }
  }

  void finish() override {
    LockCycleSearch search(uses_, locks_.table(), limits_);
    find_cycles(search);
    if (thinned_out_ > 0) {
      notes_.push_back(
          "deadlock remembers, of threads that were over one after the other, the latest use of a lock; a "
          "cycle of three or more threads, two of which were over before another began to wait, may be "
          "missing.");
    }
    if (search.cut()) {
      notes_.push_back("deadlock looked for cycles of at most " + std::to_string(limits_.max_threads) +
                       " threads; there may be longer ones.");
    }
    if (search.out_of_steps()) {
      notes_.push_back("deadlock stopped its search after " + std::to_string(limits_.max_steps) +
                       " steps, among cycles of " + std::to_string(search.length()) +
                       " threads; there may be more of these, and longer ones.");
    }
  }

  // MustOrder's host.
  const VectorClock& current(ThreadId thread) { return clocks_.of(thread); }
  void sent(ThreadId thread) { clocks_.advance(thread); }
  void restart(ThreadId thread) {
    locks_.restart(thread);
    if (raw(thread) >= lives_.size()) {
      lives_.resize(raw(thread) + 1);
    }
    ++lives_[raw(thread)];
  }
  void receive(ThreadId thread, const VectorClock& message) {
    clocks_.of(thread).join(message);
    drop_snapshot(thread);
  }
  void rest(ThreadId thread) {
    clocks_.rest(thread);
    drop_snapshot(thread);
  }

 private:
  struct Key {
    std::uint64_t lock;
    ThreadId thread;
    std::uint32_t life;  // which of the threads of its number
    SiteId site;
    LockSetId held;
    bool shared;

    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      std::uint64_t hash = key.lock * 0x9e3779b97f4a7c15u;
      hash = (hash ^ hash >> 32 ^ (std::uint64_t{raw(key.thread)} << 32 | raw(key.site))) * 0xd6e8feb86659fd93u;
      hash = (hash ^ hash >> 32 ^ (std::uint64_t{raw(key.held)} << 1 | (key.shared ? 1 : 0))) * 0x9e3779b97f4a7c15u;
      hash = (hash ^ hash >> 32 ^ key.life) * 0xd6e8feb86659fd93u;
      return hash ^ hash >> 32;
    }
  };

  void step(const Batch& batch, std::size_t i) {
    const Event& e = batch.events[i];
    switch (role_of(e.op)) {
      case Role::kAcquire: return acquire(batch, i);
      case Role::kRelease: locks_.release(e); return;
      case Role::kAccess:
        if (!is_atomic(e.op)) {
          return;
        }
        [[fallthrough]];
      case Role::kAlloc:
      case Role::kEdge: must_order_.incoming(e); return must_order_.outgoing(e);
      case Role::kFree: return;
      case Role::kNone:
        if (e.op == Op::kEnd) {
          rest(e.thread);
        }
        return;
    }
  }

  // Adds what the search finds to what was found before. Some cycles are found again then.
  void find_cycles(LockCycleSearch& search) {
    search.run();
    steps_ += search.steps();
    for (const DeadlockCandidate& cycle : search.found()) {
      const auto [number, added] = found_.add(cycle, deadlocks_.size());
      if (added) {
        deadlocks_.push_back(cycle);
      } else {
        deadlocks_[number].cycles = std::max(deadlocks_[number].cycles, cycle.cycles);
      }
    }
  }

  // Forgets uses for which a later one stands in every cycle: see dispensable_uses(). Without it, a program that starts
  // threads for ever would have more and more of them.
  void leave_out() {
    std::vector<std::pair<Key, std::size_t>> all(index_.begin(), index_.end());
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first.life > b.first.life; });
    std::unordered_map<Key, std::size_t, KeyHash> later;  // by the key with life 0: the next use
    std::vector<std::size_t> next(uses_.size(), kNoUse);
    for (const auto& [key, use] : all) {
      const auto [it, is_last] = later.try_emplace(of_any_life(key), use);
      if (!is_last) {
        next[use] = std::exchange(it->second, use);
      }
    }
    const std::vector<bool> dispensable = dispensable_uses(uses_, next, locks_.table(), kStepsToLeaveOut);
    left_out_ += keep([&](const Key&, std::size_t use) { return !dispensable[use]; });
    leave_out_at_ = uses_.size() + std::max(limits_.few_uses, uses_.size());
  }

  // Cycles among what happened so far are looked for first. What is left to find has a use that is still to come. Who
  // does not know a use of a thread does not know the later ones of threads with its number either: of uses that differ
  // in that alone, the latest of a thread that is over can stand for the earlier ones, unless the cycle has another
  // thread that is over and unordered with the earlier one only.
  void thin_out() {
    LockCycleSearch search(uses_, locks_.table(), limits_);
    find_cycles(search);
    std::unordered_map<Key, std::uint32_t, KeyHash> latest;  // by the key with life 0: of threads that are over
    for (const auto& [key, use] : index_) {
      if (key.life != life_of(key.thread)) {
        std::uint32_t& life = latest[of_any_life(key)];
        life = std::max(life, key.life);
      }
    }
    thinned_out_ += keep([&](const Key& key, std::size_t) {
      return key.life == life_of(key.thread) || key.life == latest[of_any_life(key)];
    });
    thin_out_at_ = uses_.size() + std::max(limits_.max_uses, uses_.size());
  }

  static Key of_any_life(Key key) {
    key.life = 0;
    return key;
  }

  // Those that the predicate wants, in their order. Returns how many are gone.
  template <typename Predicate>
  std::size_t keep(const Predicate& is_kept) {
    const std::size_t before = uses_.size();
    std::vector<std::pair<Key, std::size_t>> all(index_.begin(), index_.end());
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    std::vector<CycleUse> kept;
    index_.clear();
    for (const auto& [key, use] : all) {
      if (is_kept(key, use)) {
        index_.emplace(key, kept.size());
        kept.push_back(std::move(uses_[use]));
      }
    }
    uses_ = std::move(kept);
    return before - uses_.size();
  }

  // A thread that holds nothing can wait, but nobody waits for it. One that tries, or waits up to some time, holds what
  // it gets, but is no end of a cycle.
  void acquire(const Batch& batch, std::size_t i) {
    const Event& e = batch.events[i];
    const LockSetId held = locks_.of(e.thread);
    if (!locks_.acquire(e) || held == kNoLocks || !may_wait_for_ever(e)) {
      return;
    }
    const auto [it, added] =
        index_.try_emplace({e.object, e.thread, life_of(e.thread), e.site, held, is_shared(e)}, uses_.size());
    if (added) {
      uses_.push_back({e.thread, {}});
    }
    const AccessRecord record{e, batch.id(i), clocks_.time(e.thread), held, batch.stack(i)};
    add_moment(uses_[it->second].moments, {record, snapshot(e.thread)});
  }

  // Of two moments of one use, the one that knows less and is at a later time is unordered with more. As long as
  // nothing was sent between them the earlier one is it, as long as nothing was received the later one.
  void add_moment(std::vector<LockMoment>& moments, LockMoment moment) {
    if (moments.empty()) {
      moments.push_back(std::move(moment));
    } else if (moments.back().acquire.time == moment.acquire.time) {
      return;
    } else if (moments.back().since == moment.since) {
      moments.back() = std::move(moment);
    } else {
      if (moments.size() >= limits_.max_moments) {
        merge_neighbours(moments);
      }
      moments.push_back(std::move(moment));
    }
  }

  void merge_neighbours(std::vector<LockMoment>& moments) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < moments.size(); i += 2) {
      LockMoment merged = moments[i];
      if (i + 1 < moments.size()) {
        merged.acquire = moments[i + 1].acquire;
        ++merged_;
      }
      moments[count++] = std::move(merged);
    }
    moments.resize(count);
  }

  std::uint32_t life_of(ThreadId thread) const { return raw(thread) < lives_.size() ? lives_[raw(thread)] : 0; }

  void drop_snapshot(ThreadId thread) {
    if (raw(thread) < snapshots_.size()) {
      snapshots_[raw(thread)] = nullptr;
    }
  }
  // What the thread knows of the others now; shared until it learns more. Nobody asks what it knows of itself, and without
  // that it is short for all threads that know few others, whatever their numbers.
  const std::shared_ptr<const VectorClock>& snapshot(ThreadId thread) {
    if (raw(thread) >= snapshots_.size()) {
      snapshots_.resize(raw(thread) + 1);
    }
    std::shared_ptr<const VectorClock>& clock = snapshots_[raw(thread)];
    if (clock == nullptr) {
      clock = std::make_shared<const VectorClock>(clocks_.of(thread).of_others(thread));
    }
    return clock;
  }

  static constexpr std::uint64_t kStepsToLeaveOut = 4'000'000;

  const LockOrderLimits limits_;
  ThreadClocks clocks_;
  LockSets locks_;
  MustOrder<DeadlockDetector, VectorClock> must_order_;
  std::vector<std::uint32_t> lives_;                           // by thread: how often it was forked
  std::vector<std::shared_ptr<const VectorClock>> snapshots_;  // by thread; null: to be taken again
  std::unordered_map<Key, std::size_t, KeyHash> index_;        // into uses_
  std::vector<CycleUse> uses_;                                 // in order of appearance
  PairTable races_;                                            // stays empty
  std::vector<DeadlockCandidate> deadlocks_;
  DeadlockIndex found_;  // into deadlocks_
  std::vector<std::string> notes_;
  std::size_t leave_out_at_;
  std::size_t thin_out_at_;
  std::uint64_t left_out_ = 0;
  std::uint64_t thinned_out_ = 0;
  std::uint64_t merged_ = 0;
  std::uint64_t steps_ = 0;
};

}  // namespace

std::unique_ptr<Detector> make_deadlock_detector() { return make_deadlock_detector(LockOrderLimits{}); }

std::unique_ptr<Detector> make_deadlock_detector(const DetectorOptions& options) {
  LockOrderLimits limits;
  limits.all_orders = options.all_lock_orders;
  return make_deadlock_detector(limits);
}

std::unique_ptr<Detector> make_deadlock_detector(const LockOrderLimits& limits) {
  return std::make_unique<DeadlockDetector>(limits);
}

}  // namespace sooth
