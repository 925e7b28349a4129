#include "detect/hb.h"

#include <vector>

#include "base/flat_map.h"
#include "detect/access_history.h"
#include "detect/epoch_summary.h"
#include "order/lock_set.h"
#include "order/must_order.h"
#include "order/role.h"
#include "order/thread_clocks.h"

namespace sooth {
namespace {

class HbDetector final : public Detector {
 public:
  HbDetector() : history_(*this, AccessLog::Keys::kPlain), must_order_(*this) {}

  Guarantee guarantee() const override { return Guarantee::kSound; }
  const PairTable& races() const override { return races_; }
  const LockSetTable& lock_sets() const override { return locks_.table(); }
  std::vector<std::pair<std::string, std::string>> stats() const override { return history_.stats(); }

  void consume(const Batch& batch) override { history_.consume(batch); }

  // AccessHistory's host.
  AccessView record_of(const Batch& batch, std::size_t i) {
    const Event& e = batch.events[i];
    own_ = ClockView(clocks_.of(e.thread));
    return {e, batch.id(i), own_[e.thread], locks_.of(e.thread), batch.stack(i)};
  }

  [[gnu::always_inline]] void step(const Batch& batch, std::size_t i) {
    const Event& e = batch.events[i];
    // Most of them; an indirect jump would be harder to predict.
    if (e.op == Op::kAcquire) {
      return acquire(e);
    }
    if (e.op == Op::kRelease) {
      return release(e);
    }
    step_rarely(batch, i);
  }
  [[gnu::noinline]] void step_rarely(const Batch& batch, std::size_t i) {
    const Event& e = batch.events[i];
    switch (role_of(e.op)) {
      case Role::kAccess:
        must_order_.incoming(e);
        history_.access(record_of(batch, i));
        return must_order_.outgoing(e);
      case Role::kFree: return history_.free(record_of(batch, i));
      case Role::kAlloc: history_.allocate(e); return must_order_.incoming(e);
      case Role::kAcquire: return acquire(e);
      case Role::kRelease: return release(e);
      case Role::kEdge: must_order_.incoming(e); return must_order_.outgoing(e);
      case Role::kNone: return;
    }
  }

  LockSetId locks_of(ThreadId thread) const { return locks_.of(thread); }

  [[gnu::always_inline]] void touch(CellId id, EpochSummary& cell, const AccessView& access) {
    if (!cell.add_if_known(access_kind(access.event.op), Epoch(access.event.thread, access.time), own_)) [[unlikely]] {
      compare(id, cell, access);
    }
  }

  // MustOrder's host.
  const VectorClock& current(ThreadId thread) { return clocks_.of(thread); }
  void sent(ThreadId thread) { clocks_.advance(thread); }
  void restart(ThreadId thread) { locks_.restart(thread); }
  void receive(ThreadId thread, const VectorClock& message) { clocks_.of(thread).join(message); }

 private:
  // What the releases of a lock say to later acquires.
  struct Released {
    VectorClock exclusive;  // the latest exclusive release
    VectorClock shared;     // shared releases since
    ThreadId releaser{};    // whose release `exclusive` is
  };

  void acquire(const Event& e) {
    const Released* lock = locks_.acquire(e) ? released_.find(e.object) : nullptr;
    if (lock == nullptr) {
      return;
    }
    VectorClock& own = clocks_.of(e.thread);
    if (lock->releaser != e.thread) {
      own.join(lock->exclusive);
    }
    if (!is_shared(e)) {
      own.join(lock->shared);
    }
  }

  void release(const Event& e) {
    HeldLock section;
    if (!locks_.release(e, &section)) {
      return;
    }
    Released& lock = released_[e.object];
    if (section.shared) {
      lock.shared.join(clocks_.of(e.thread));
    } else {
      lock.exclusive = clocks_.of(e.thread);
      lock.releaser = e.thread;
      lock.shared.clear();  // the section came after them all
    }
    clocks_.advance(e.thread);
  }

  // By value, so that the callers can keep the parts of an access in registers.
  [[gnu::noinline]] void compare(CellId id, EpochSummary& cell, AccessView access) {
    const AccessKind kind = access_kind(access.event.op);
    const bool all_known = cell.all_known(kind, own_);
    if (!all_known) {
      find_races(id, access);
    }
    cell.add(kind, Epoch(access.event.thread, access.time), own_, all_known);
  }

  void find_races(CellId cell, const AccessRecord& access) {
    history_.log().walk(cell, [&](const AccessRecord& earlier) {
      if (conflict(earlier.event, access.event) && earlier.time > own_[earlier.event.thread]) {
        races_.add(AccessRecord(earlier), access);
      }
    });
  }

  ThreadClocks clocks_;
  ClockView own_;  // of the thread whose access is being looked at: record_of() comes first
  LockSets locks_;
  FlatMap<Released> released_;
  AccessHistory<HbDetector, EpochSummary> history_;
  MustOrder<HbDetector, VectorClock> must_order_;
  PairTable races_;
};

}  // namespace

std::unique_ptr<Detector> make_hb_detector() { return std::make_unique<HbDetector>(); }

}  // namespace sooth
