#include "detect/hybrid.h"

#include <vector>

#include "detect/access_history.h"
#include "detect/hybrid_cell.h"
#include "order/lock_set.h"
#include "order/must_order.h"
#include "order/role.h"
#include "order/thread_clocks.h"

namespace sooth {
namespace {

class HybridDetector final : public Detector {
 public:
  explicit HybridDetector(KeepOrder keep) : history_(*this, AccessLog::Keys::kByLocks), order_(*this, keep) {
    history_.log().group_by_lock(&locks_.table());
  }

  Guarantee guarantee() const override { return Guarantee::kHeuristic; }
  const PairTable& races() const override { return races_; }
  void tell_apart(VariableClasses* variables) override { races_.tell_apart(variables); }
  const LockSetTable& lock_sets() const override { return locks_.table(); }
  std::vector<std::pair<std::string, std::string>> stats() const override {
    auto rows = history_.stats();
    rows.emplace_back("locksets", std::to_string(locks_.table().size()));
    return rows;
  }

  void consume(const Batch& batch) override { history_.consume(batch); }

  // AccessHistory's host.
  AccessView record_of(const Batch& batch, std::size_t i) {
    const Event& e = batch.events[i];
    return {e, batch.id(i), clocks_.time(e.thread), locks_.of(e.thread), batch.stack(i)};
  }

  void step(const Batch& batch, std::size_t i) {
    const Event& e = batch.events[i];
    switch (role_of(e.op)) {
      case Role::kAccess:
        order_.incoming(e);
        history_.access(record_of(batch, i));
        return order_.outgoing(e);
      case Role::kFree: return history_.free(record_of(batch, i));
      case Role::kAlloc: history_.allocate(e); return order_.incoming(e);
      case Role::kAcquire: locks_.acquire(e); return;
      case Role::kRelease: locks_.release(e); return;
      case Role::kEdge: order_.incoming(e); return order_.outgoing(e);
      case Role::kNone:
        if (e.op == Op::kEnd) {
          rest(e.thread);
        }
        return;
    }
  }

  LockSetId locks_of(ThreadId thread) const { return locks_.of(thread); }

  void touch(CellId id, HybridCell& cell, const AccessView& access) {
    const VectorClock& own = clocks_.of(access.event.thread);
    if (cell.add(access.event, access.time, own, access.locks, locks_.table())) {
      find_pairs(id, access, own);
    }
  }

  // MustOrder's host.
  const VectorClock& current(ThreadId thread) { return clocks_.of(thread); }
  void sent(ThreadId thread) { clocks_.advance(thread); }
  void restart(ThreadId thread) { locks_.restart(thread); }
  void receive(ThreadId thread, const VectorClock& message) { clocks_.of(thread).join(message); }
  void rest(ThreadId thread) { clocks_.rest(thread); }

 private:
  void find_pairs(CellId cell, const AccessRecord& access, const VectorClock& own) {
    const auto protects = [&](LockSetId locks) { return locks_.table().protects(locks, access.locks); };
    const AccessKind kind = access_kind(access.event.op);
    history_.log().walk_latest(
        cell, protects,
        [&](ThreadId thread, AccessKind earlier, Time time) {
          return time > own[thread] && thread != access.event.thread && conflict(earlier, kind);
        },
        [&](const AccessRecord& earlier) { races_.add(earlier, access); });
  }

  ThreadClocks clocks_;
  LockSets locks_;
  AccessHistory<HybridDetector, HybridCell> history_;
  MustOrder<HybridDetector, VectorClock> order_;
  PairTable races_;
};

}  // namespace

std::unique_ptr<Detector> make_hybrid_detector() { return std::make_unique<HybridDetector>(KeepOrder::kMust); }
std::unique_ptr<Detector> make_hard_hybrid_detector() { return std::make_unique<HybridDetector>(KeepOrder::kHard); }

}  // namespace sooth
