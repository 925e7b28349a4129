#include "detect/lockset.h"

#include <vector>

#include "detect/access_history.h"
#include "order/lock_set.h"
#include "order/role.h"

namespace sooth {
namespace {

// Eraser's states, Figure 4 of the paper.
enum class State : std::uint8_t { kVirgin, kExclusive, kShared, kSharedModified };

struct LocksetCell {
  State state = State::kVirgin;
  ThreadId owner{};                 // in kExclusive
  LockSetId candidates = kNoLocks;  // in kShared and kSharedModified
};

class LocksetDetector final : public Detector {
 public:
  LocksetDetector() : history_(*this, AccessLog::Keys::kLatestTwo) { history_.log().group_by_lock(&locks_.table()); }

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
  AccessRecord record_of(const Batch& batch, std::size_t i) const {
    const Event& e = batch.events[i];
    return {e, batch.id(i), 0, locks_.of(e.thread), batch.stack(i)};
  }

  void step(const Batch& batch, std::size_t i) {
    const Event& e = batch.events[i];
    switch (role_of(e.op)) {
      case Role::kAccess: return history_.access(record_of(batch, i));
      case Role::kFree: return history_.free(record_of(batch, i));
      case Role::kAlloc: return history_.allocate(e);
      case Role::kAcquire: locks_.acquire(e); return;
      case Role::kRelease: locks_.release(e); return;
      case Role::kEdge:
      case Role::kNone: return;
    }
  }

  LockSetId locks_of(ThreadId thread) const { return locks_.of(thread); }

  void touch(CellId id, LocksetCell& cell, const AccessRecord& access) {
    advance_state(cell, access);
    if (cell.state == State::kSharedModified && cell.candidates == kNoLocks) {
      find_pairs(id, access);
    }
  }

 private:
  void advance_state(LocksetCell& cell, const AccessRecord& access) {
    const LockSetId held = access.locks;
    const LockSetId guards = is_write(access.event.op) ? locks_.table().exclusive(held) : held;
    switch (cell.state) {
      case State::kVirgin:
        cell.state = State::kExclusive;
        cell.owner = access.event.thread;
        return;
      case State::kExclusive:
        if (cell.owner == access.event.thread) {
          return;
        }
        cell.state = is_write(access.event.op) ? State::kSharedModified : State::kShared;
        cell.candidates = guards;
        return;
      case State::kShared:
      case State::kSharedModified:
        cell.state = is_write(access.event.op) ? State::kSharedModified : cell.state;
        cell.candidates = locks_.table().intersect(cell.candidates, guards);
        return;
    }
  }

  void find_pairs(CellId cell, const AccessRecord& access) {
    const auto protects = [&](LockSetId locks) { return locks_.table().protects(locks, access.locks); };
    const AccessKind kind = access_kind(access.event.op);
    history_.log().walk_latest(
        cell, protects,
        [&](ThreadId thread, AccessKind earlier, Time) {
          return thread != access.event.thread && conflict(earlier, kind);
        },
        [&](const AccessRecord& earlier) { races_.add(earlier, access); });
  }

  LockSets locks_;
  AccessHistory<LocksetDetector, LocksetCell> history_;
  PairTable races_;
};

}  // namespace

std::unique_ptr<Detector> make_lockset_detector() { return std::make_unique<LocksetDetector>(); }

}  // namespace sooth
