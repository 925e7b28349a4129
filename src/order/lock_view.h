// A trace in which locks that the program made are locks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/flat_map.h"
#include "order/made_locks.h"
#include "trace/batch.h"

namespace sooth {

// Shows a trace as docs/semantics.md section 16 says: behind what takes such a lock stands an acquire of it, behind what
// gives it back a release. Who found it taken has a failed acquire there, who found it free an acquire and a release. Those
// have the ids of the events that they stand for. The atomic accesses themselves are still accesses, but without a memory
// order: they order nothing (order/must_order.h). Waits and posts of semaphores are gone.
//
// Batches may come in any order, and ids may be missing. Constant time for an event.
class LockView {
 public:
  // Which of the locks are shown.
  enum class Of : std::uint8_t { kReversible, kMeant };

  LockView(std::span<const MadeLock> locks, Of of);

  bool empty() const { return steps_.empty(); }
  // Lasts until the next call. Values, branches and what else batches have beside are left out where something changes.
  Batch show(const Batch& batch);

 private:
  struct Step {
    EventId event{};
    MadeLock::Role role{};
    bool semaphore = false;
    std::uint64_t lock = 0;
  };
  struct Span {
    EventId first{}, last{};
  };

  bool is_silent(const Event& e, EventId id) const;
  bool changes(const Batch& batch, std::size_t next) const;
  void add(const Event& e, EventId id, StackId stack);
  void add_lock_events(const Event& e, const Step& step, StackId stack);

  std::vector<Step> steps_;            // ascending by event
  FlatMap<std::vector<Span>> silent_;  // by address: atomic accesses that order nothing
  std::vector<Event> events_;
  std::vector<EventId> ids_;
  std::vector<StackId> stacks_;
  bool has_stacks_ = false;
};

}  // namespace sooth
