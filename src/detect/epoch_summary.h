// FastTrack's idea: one epoch speaks for all accesses of a kind to a variable.
#pragma once

#include <limits>

#include "detect/access_log.h"
#include "order/vector_clock.h"

namespace sooth {

// Bit k: kind k conflicts with `kind`.
constexpr unsigned conflicting_kinds(AccessKind kind) {
  unsigned mask = 0;
  for (unsigned other = 0; other < 4; ++other) {
    mask |= (conflict(kind, AccessKind(other)) ? 1u : 0u) << other;
  }
  return mask;
}

// For each kind of access an epoch such that whoever knows it knows every access of that kind so far. Where the
// accesses of a kind are not totally ordered it is one that nobody knows, and the log of the cell has to decide.
class EpochSummary {
 public:
  // Whether every earlier access that conflicts with one of `kind` is surely known to `clock`.
  // Without branches on the kind: reads and writes alternate too irregularly to be predicted.
  // Clock is a VectorClock, or anything else that knows() epochs by a transitive order.
  template <typename Clock>
  bool surely_known(AccessKind kind, const Clock& clock) const {
    unsigned unknown = 0;
    for (unsigned earlier = 0; earlier < 4; ++earlier) {
      unknown |= (clock.knows(last_[earlier]) ? 0u : 1u) << earlier;
    }
    return (unknown & conflicting_kinds(kind)) == 0;
  }

  // Adds an access by the owner of `clock` at `now`. `all_known`: no earlier conflicting access is unordered with it.
  template <typename Clock>
  void add(AccessKind kind, Epoch now, const Clock& clock, bool all_known) {
    // A plain write conflicts with everything, so everything is ordered before it: it speaks for all kinds.
    const bool speaks_for_all = kind == AccessKind::kWrite && all_known;
    const bool speaks_for_kind = clock.knows(last_[raw(kind)]);
    for (Epoch& epoch : last_) {
      epoch = speaks_for_all ? Epoch() : epoch;
    }
    last_[raw(kind)] = speaks_for_all || speaks_for_kind ? now : kUnknown;
  }

 private:
  static constexpr Epoch kUnknown{ThreadId{std::numeric_limits<std::uint32_t>::max()}, std::numeric_limits<Time>::max()};

  Epoch last_[4];  // by AccessKind; the default epoch is known to everybody
};

}  // namespace sooth
