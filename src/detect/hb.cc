#include "detect/hb.h"

#include <algorithm>
#include <vector>

#include "detect/access_history.h"
#include "detect/epoch_summary.h"
#include "detect/hb_order.h"
#include "order/lock_set.h"
#include "order/role.h"

namespace sooth {
namespace {

class HbDetector final : public Detector {
 public:
  HbDetector() : history_(*this, AccessLog::Keys::kPlain) {}

  Guarantee guarantee() const override { return Guarantee::kSound; }
  const PairTable& races() const override { return races_; }
  void tell_apart(VariableClasses* variables) override { races_.tell_apart(variables); }
  const LockSetTable& lock_sets() const override { return order_.locks().table(); }
  std::vector<std::pair<std::string, std::string>> stats() const override { return history_.stats(); }
  std::vector<MisuseCandidate> misuses() const override { return destroyed_; }

  void consume(const Batch& batch) override { history_.consume(batch); }

  // AccessHistory's host.
  AccessView record_of(const Batch& batch, std::size_t i) {
    const Event& e = batch.events[i];
    own_ = ClockView(order_.clock(e.thread));
    return {e, batch.id(i), own_[e.thread], order_.locks().of(e.thread), batch.stack(i)};
  }

  [[gnu::always_inline]] void step(const Batch& batch, std::size_t i) {
    const Event& e = batch.events[i];
    // Most of them; an indirect jump would be harder to predict.
    if (e.op == Op::kAcquire) {
      return order_.acquire(e);
    }
    if (e.op == Op::kRelease) {
      return order_.release(e);
    }
    step_rarely(batch, i);
  }
  [[gnu::noinline]] void step_rarely(const Batch& batch, std::size_t i) {
    const Event& e = batch.events[i];
    switch (role_of(e.op)) {
      case Role::kAccess:
        order_.incoming(e);
        history_.access(record_of(batch, i));
        return order_.outgoing(e);
      case Role::kFree: return history_.free(record_of(batch, i));
      case Role::kAlloc: history_.allocate(e); return order_.incoming(e);
      case Role::kAcquire: return order_.acquire(e);
      case Role::kRelease: return order_.release(e);
      case Role::kEdge: order_.incoming(e); return order_.outgoing(e);
      case Role::kNone:
        if (e.op == Op::kEnd) {
          order_.rest(e.thread);
        } else if (e.op == Op::kMisuse && MisuseKind(e.size) == MisuseKind::kDestroy) {
          judge_destruction(batch, i);
        }
        return;
    }
  }

  LockSetId locks_of(ThreadId thread) const { return order_.locks().of(thread); }

  [[gnu::always_inline]] void touch(CellId id, EpochSummary& cell, const AccessView& access) {
    if (!cell.add_if_known(access_kind(access.event.op), Epoch(access.event.thread, access.time), own_)) [[unlikely]] {
      compare(id, cell, access);
    }
  }

 private:
  // All sections of the lock must be known to whoever destroys it. That one of them is may come from the lock itself.
  void judge_destruction(const Batch& batch, std::size_t i) {
    const Event& e = batch.events[i];
    if (order_.knows_sections(e.thread, e.object)) {
      return;
    }
    const auto known = std::find_if(destroyed_.begin(), destroyed_.end(),
                                    [&](const MisuseCandidate& each) { return each.call.event.site == e.site; });
    if (known != destroyed_.end()) {
      ++known->times;
    } else {
      destroyed_.push_back({MisuseKind::kDestroy, AccessRecord(record_of(batch, i))});
    }
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
    const AccessKind kind = access_kind(access.event.op);
    history_.log().walk_latest(
        cell, [](LockSetId) { return false; },
        [&](ThreadId thread, AccessKind earlier, Time time) {
          return time > own_[thread] && thread != access.event.thread && conflict(earlier, kind);
        },
        [&](const AccessRecord& earlier) { races_.add(earlier, access); });
  }

  HbOrder<LockSets> order_;
  ClockView own_;  // of the thread whose access is being looked at: record_of() comes first
  AccessHistory<HbDetector, EpochSummary> history_;
  PairTable races_;
  std::vector<MisuseCandidate> destroyed_;  // locks that others may still use
};

}  // namespace

std::unique_ptr<Detector> make_hb_detector() { return std::make_unique<HbDetector>(); }

}  // namespace sooth
