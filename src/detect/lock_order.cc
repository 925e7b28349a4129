#include "detect/lock_order.h"

#include <string>
#include <unordered_map>
#include <vector>

#include "detect/lock_cycle_search.h"
#include "order/lock_set.h"
#include "order/must_order.h"
#include "order/role.h"
#include "order/thread_clocks.h"

namespace sooth {
namespace {

class DeadlockDetector final : public Detector {
 public:
  explicit DeadlockDetector(const LockOrderLimits& limits) : limits_(limits), must_order_(*this) {}

  Guarantee guarantee() const override { return Guarantee::kHeuristic; }
  const PairTable& races() const override { return races_; }
  const LockSetTable& lock_sets() const override { return locks_.table(); }
  std::vector<DeadlockCandidate> deadlocks() const override { return deadlocks_; }
  std::vector<std::string> notes() const override { return notes_; }
  std::vector<std::pair<std::string, std::string>> stats() const override {
    return {{"cycles", std::to_string(deadlocks_.size())},
            {"lock uses", std::to_string(uses_.size())},
            {"locksets", std::to_string(locks_.table().size())},
            {"merged moments", std::to_string(merged_)},
            {"steps", std::to_string(steps_)}};
  }

  void consume(const Batch& batch) override {
    for (std::size_t i = 0; i < batch.events.size(); ++i) {
      step(batch, i);
    }
  }

  void finish() override {
    LockCycleSearch search(uses_, locks_.table(), limits_);
    search.run();
    deadlocks_ = search.found();
    steps_ = search.steps();
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
  void receive(ThreadId thread, const VectorClock& message) {
    clocks_.of(thread).join(message);
    if (raw(thread) < snapshots_.size()) {
      snapshots_[raw(thread)] = nullptr;
    }
  }

 private:
  struct Key {
    std::uint64_t lock;
    ThreadId thread;
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
      case Role::kFree:
      case Role::kNone: return;
    }
  }

  // A thread that holds nothing can wait, but nobody waits for it. One that tries, or waits up to some time, holds what
  // it gets, but is no end of a cycle.
  void acquire(const Batch& batch, std::size_t i) {
    const Event& e = batch.events[i];
    const LockSetId held = locks_.of(e.thread);
    if (!locks_.acquire(e) || held == kNoLocks || !may_wait_for_ever(e)) {
      return;
    }
    const auto [it, added] = index_.try_emplace({e.object, e.thread, e.site, held, is_shared(e)}, uses_.size());
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

  // What the thread knows of the others now; shared until it learns more.
  const std::shared_ptr<const VectorClock>& snapshot(ThreadId thread) {
    if (raw(thread) >= snapshots_.size()) {
      snapshots_.resize(raw(thread) + 1);
    }
    std::shared_ptr<const VectorClock>& clock = snapshots_[raw(thread)];
    if (clock == nullptr) {
      clock = std::make_shared<const VectorClock>(clocks_.of(thread));
    }
    return clock;
  }

  const LockOrderLimits limits_;
  ThreadClocks clocks_;
  LockSets locks_;
  MustOrder<DeadlockDetector, VectorClock> must_order_;
  std::vector<std::shared_ptr<const VectorClock>> snapshots_;  // by thread; null: to be taken again
  std::unordered_map<Key, std::size_t, KeyHash> index_;        // into uses_
  std::vector<LockUse> uses_;                                  // in order of appearance
  PairTable races_;                                            // stays empty
  std::vector<DeadlockCandidate> deadlocks_;
  std::vector<std::string> notes_;
  std::uint64_t merged_ = 0;
  std::uint64_t steps_ = 0;
};

}  // namespace

std::unique_ptr<Detector> make_deadlock_detector() { return make_deadlock_detector(LockOrderLimits{}); }

std::unique_ptr<Detector> make_deadlock_detector(const LockOrderLimits& limits) {
  return std::make_unique<DeadlockDetector>(limits);
}

}  // namespace sooth
