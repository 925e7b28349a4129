// FastTrack's idea: one epoch speaks for all accesses of a kind to a variable.
#pragma once

#include <limits>

#include "detect/access_log.h"
#include "order/vector_clock.h"

namespace sooth {

// For each kind of access an epoch such that whoever knows it knows every access of that kind so far. Where the
// accesses of a kind are not totally ordered it is one that nobody knows, and the log of the cell has to decide.
class EpochSummary {
 public:
  // Whether every earlier access that conflicts with one of `kind` is surely known to `clock`.
  bool surely_known(AccessKind kind, const VectorClock& clock) const {
    for (int earlier = 0; earlier < 4; ++earlier) {
      if (conflict(kind, AccessKind(earlier)) && !clock.knows(last_[earlier])) {
        return false;
      }
    }
    return true;
  }

  // Adds an access by the owner of `clock` at `now`. `all_known`: no earlier conflicting access is unordered with it.
  void add(AccessKind kind, Epoch now, const VectorClock& clock, bool all_known) {
    if (kind == AccessKind::kWrite && all_known) {
      // A plain write conflicts with everything, so everything is ordered before it: it speaks for all kinds.
      *this = {};
      last_[raw(kind)] = now;
    } else {
      Epoch& mine = last_[raw(kind)];
      mine = clock.knows(mine) ? now : kUnknown;
    }
  }

 private:
  static constexpr Epoch kUnknown{ThreadId{std::numeric_limits<std::uint32_t>::max()}, std::numeric_limits<Time>::max()};

  Epoch last_[4];  // by AccessKind; the default epoch is known to everybody
};

}  // namespace sooth
