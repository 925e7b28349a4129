// FastTrack's idea: one epoch speaks for all accesses of a kind to a variable.
#pragma once

#include <array>
#include <limits>
#include <memory>

#include "detect/access_log.h"
#include "order/vector_clock.h"

namespace sooth {

// Bit k: kind k conflicts with `kind`.
inline constexpr auto kConflictingKinds = [] {
  std::array<std::uint8_t, 4> masks{};
  for (unsigned kind = 0; kind < 4; ++kind) {
    for (unsigned other = 0; other < 4; ++other) {
      masks[kind] = static_cast<std::uint8_t>(masks[kind] | (conflict(AccessKind(kind), AccessKind(other)) ? 1u : 0u) << other);
    }
  }
  return masks;
}();
constexpr unsigned conflicting_kinds(AccessKind kind) { return kConflictingKinds[raw(kind)]; }

// For each kind of access an epoch such that whoever knows it knows every access of that kind so far; where the accesses
// are not totally ordered, the latest local time of each thread instead.
//
// Clock is a VectorClock, or whatever else knows() epochs by a transitive order and covers() a VectorClock.
class EpochSummary {
 public:
  EpochSummary() = default;
  EpochSummary(EpochSummary&&) = default;
  EpochSummary& operator=(EpochSummary&&) = default;
  EpochSummary(const EpochSummary& other)
      : last_(other.last_), times_(other.times_ ? std::make_unique<Times>(*other.times_) : nullptr) {}
  EpochSummary& operator=(const EpochSummary& other) { return *this = EpochSummary(other); }

  // Whether one look at the epochs shows that `clock` knows every earlier access that conflicts with one of `kind`.
  template <typename Clock>
  bool surely_known(AccessKind kind, const Clock& clock) const {
    return (unknown_epochs(clock) & conflicting_kinds(kind)) == 0;
  }

  // Whether `clock` knows every earlier access that conflicts with one of `kind`.
  template <typename Clock>
  bool all_known(AccessKind kind, const Clock& clock) const {
    const unsigned unknown = unknown_epochs(clock) & conflicting_kinds(kind);
    if (unknown == 0) [[likely]] {
      return true;
    }
    for (unsigned earlier = 0; earlier < 4; ++earlier) {
      if ((unknown >> earlier & 1) != 0 && (last_[earlier] != kSeveral || !clock.covers((*times_)[earlier]))) {
        return false;
      }
    }
    return true;
  }

  // Adds an access by the owner of `clock` at `now`. `all_known`: it knows every earlier conflicting access.
  template <typename Clock>
  void add(AccessKind kind, Epoch now, const Clock& clock, bool all_known) {
    // A plain write conflicts with everything, so everything is ordered before it: it speaks for all kinds.
    const bool speaks_for_all = kind == AccessKind::kWrite && all_known;
    Epoch& mine = last_[raw(kind)];
    const bool speaks_for_kind = clock.knows(mine);
    if (speaks_for_all || speaks_for_kind) [[likely]] {
      for (Epoch& epoch : last_) {
        epoch = speaks_for_all ? Epoch() : epoch;
      }
      mine = now;
    } else {
      add_several(kind, now);
    }
  }

 private:
  using Times = std::array<VectorClock, 4>;
  // Several epochs none of which is the last. Nobody knows it.
  static constexpr Epoch kSeveral{ThreadId{std::numeric_limits<std::uint32_t>::max()}, std::numeric_limits<Time>::max()};

  // Without branches on the kind: reads and writes alternate too irregularly to be predicted.
  template <typename Clock>
  unsigned unknown_epochs(const Clock& clock) const {
    unsigned unknown = 0;
    for (unsigned earlier = 0; earlier < 4; ++earlier) {
      unknown |= (clock.knows(last_[earlier]) ? 0u : 1u) << earlier;
    }
    return unknown;
  }

  void add_several(AccessKind kind, Epoch now) {
    Epoch& mine = last_[raw(kind)];
    if (times_ == nullptr) {
      times_ = std::make_unique<Times>();
    }
    VectorClock& times = (*times_)[raw(kind)];
    if (mine != kSeveral) {
      times.clear();
      times.set(mine.thread(), mine.time());
      mine = kSeveral;
    }
    times.set(now.thread(), now.time());
  }

  std::array<Epoch, 4> last_;     // by AccessKind; the default epoch is known to everybody
  std::unique_ptr<Times> times_;  // by AccessKind, where last_ is kSeveral
};

}  // namespace sooth
