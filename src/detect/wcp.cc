#include "detect/wcp.h"

#include <string>
#include <utility>
#include <vector>

#include "detect/access_history.h"
#include "detect/epoch_summary.h"
#include "detect/wcp_order.h"
#include "order/role.h"

namespace sooth {
namespace {

class WcpDetector final : public Detector {
 public:
  explicit WcpDetector(std::size_t trim_at) : order_(trim_at), history_(*this, AccessLog::Keys::kPlain) {}

  Guarantee guarantee() const override { return Guarantee::kSoundFirstOnly; }
  const PairTable& races() const override { return races_; }
  void tell_apart(VariableClasses* variables) override { races_.tell_apart(variables); }
  const LockSetTable& lock_sets() const override { return order_.locks().table(); }
  std::vector<std::pair<std::string, std::string>> stats() const override {
    auto rows = history_.stats();
    for (auto& row : order_.stats(events_)) {
      rows.push_back(std::move(row));
    }
    return rows;
  }

  void consume(const Batch& batch) override {
    history_.consume(batch);
    events_ += batch.events.size();
  }

  // AccessHistory's host.
  AccessView record_of(const Batch& batch, std::size_t i) {
    const Event& e = batch.events[i];
    return {e, batch.id(i), order_.time(e.thread), order_.locks().of(e.thread), batch.stack(i)};
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
  void step_rarely(const Batch& batch, std::size_t i);
  LockSetId locks_of(ThreadId thread) const { return order_.locks().of(thread); }
  void prefetch(CellId cell) const { order_.prefetch(cell); }
  [[gnu::always_inline]] void before_touch(CellId cell, const AccessView& access) {
    order_.access_in_sections(cell, access.event);
  }
  [[gnu::always_inline]] void touch(CellId id, EpochSummary& cell, const AccessView& access) {
    const Epoch now(access.event.thread, access.time);
    if (!cell.add_if_known(access_kind(access.event.op), now, order_.known(access.event.thread))) {
      compare(id, cell, access);
    }
  }
  void on_split_cell(CellId from, CellId to) { order_.on_split_cell(from, to); }
  void on_drop_cell(CellId cell) { order_.on_drop_cell(cell); }

 private:
  void compare(CellId id, EpochSummary& cell, AccessView access);
  void find_races(CellId cell, const AccessRecord& access, const WcpKnowledge& known);

  WcpOrder order_;
  AccessHistory<WcpDetector, EpochSummary> history_;
  PairTable races_;
  std::uint64_t events_ = 0;
};

void WcpDetector::step_rarely(const Batch& batch, std::size_t i) {
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
      }
      return;
  }
}

void WcpDetector::compare(CellId id, EpochSummary& cell, AccessView access) {
  const WcpKnowledge known = order_.known(access.event.thread);
  const AccessKind kind = access_kind(access.event.op);
  const bool all_known = cell.all_known(kind, known);
  if (!all_known) {
    find_races(id, access, known);
  }
  cell.add(kind, Epoch(access.event.thread, access.time), known, all_known);
}

void WcpDetector::find_races(CellId cell, const AccessRecord& access, const WcpKnowledge& known) {
  const AccessKind kind = access_kind(access.event.op);
  history_.log().walk_latest(
      cell, [](LockSetId) { return false; },
      [&](ThreadId thread, AccessKind earlier, Time time) {
        return !known.knows(Epoch(thread, time)) && thread != access.event.thread && conflict(earlier, kind);
      },
      [&](const AccessRecord& earlier) { races_.add(earlier, access); });
}

}  // namespace

std::unique_ptr<Detector> make_wcp_detector(std::size_t trim_at) { return std::make_unique<WcpDetector>(trim_at); }

}  // namespace sooth
