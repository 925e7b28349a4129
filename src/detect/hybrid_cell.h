// A variable as analyses see it that compare locks and must-order: whether an access needs a closer look.
#pragma once

#include "detect/access_log.h"
#include "detect/epoch_summary.h"
#include "order/lock_set.h"

namespace sooth {

struct HybridCell {
  EpochSummary summary;         // by must-order
  LockSetId common = kNoLocks;  // locks that guarded every access so far
  bool accessed = false;

  // Adds an access by a thread that knows `own` and holds `held`. Whether some earlier access may be unordered with it
  // by must-order and unprotected by any lock; if not, none is.
  bool add(const Event& e, Time time, const VectorClock& own, LockSetId held, LockSetTable& table) {
    const AccessKind kind = access_kind(e.op);
    const LockSetId guards = is_write(e.op) ? table.exclusive(held) : held;
    const bool all_known = summary.surely_known(kind, own);
    // A lock that all accesses hold, writes exclusively, protects every conflicting pair.
    common = accessed ? table.intersect(common, guards) : guards;
    accessed = true;
    summary.add(kind, Epoch(e.thread, time), own, all_known);
    return !all_known && common == kNoLocks;
  }
};

}  // namespace sooth
