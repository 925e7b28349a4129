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
      masks[kind] =
          static_cast<std::uint8_t>(masks[kind] | (conflict(AccessKind(kind), AccessKind(other)) ? 1u : 0u) << other);
    }
  }
  return masks;
}();
constexpr unsigned conflicting_kinds(AccessKind kind) { return kConflictingKinds[raw(kind)]; }

// For each kind of access an epoch such that whoever knows it knows every access of that kind so far; where the
// accesses are not totally ordered, the latest local time of each thread instead.
//
// Clock is a VectorClock, or whatever else knows() epochs by a transitive order and covers() a VectorClock.
class EpochSummary {
 public:
  EpochSummary() = default;
  EpochSummary(EpochSummary&&) = default;
  EpochSummary& operator=(EpochSummary&&) = default;
  EpochSummary(const EpochSummary& other)
      : plain_(other.plain_),
        rest_(other.rest_ ? std::make_unique<Rest>(*other.rest_) : nullptr),
        atomic_(other.atomic_) {}
  EpochSummary& operator=(const EpochSummary& other) { return *this = EpochSummary(other); }

  // What most plain accesses come to. Adds one by the owner of `clock` at `now` if a look at two epochs shows that it
  // knows all earlier accesses; if not, returns false and changes nothing: all_known() and add() are to decide.
  template <typename Clock>
  [[gnu::always_inline]] bool add_if_known(AccessKind kind, Epoch now, const Clock& clock) {
    // Without branches on the kind: reads and writes alternate too irregularly to be predicted.
    if (!clock.knows(plain_[0]) || !clock.knows(plain_[1]) || atomic_ || raw(kind) > 1) [[unlikely]] {
      return false;
    }
    plain_[0] = Epoch();  // a write speaks for the reads, and a read replaces them
    plain_[raw(kind)] = now;
    return true;
  }

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
      if ((unknown >> earlier & 1) != 0 && (last(earlier) != kSeveral || !clock.covers(rest_->times[earlier]))) {
        return false;
      }
    }
    return true;
  }

  // Adds an access by the owner of `clock` at `now`. `all_known`: it knows every earlier conflicting access.
  template <typename Clock>
  void add(AccessKind kind, Epoch now, const Clock& clock, bool all_known) {
    if (kind == AccessKind::kWrite && all_known) {
      // A plain write conflicts with everything, so everything is ordered before it: it speaks for all kinds.
      plain_ = {Epoch(), now};
      atomic_ = false;
      return;
    }
    if (raw(kind) > 1 && !atomic_) {
      rest().atomic = {};
      atomic_ = true;
    }
    Epoch& mine = last(raw(kind));
    if (clock.knows(mine)) {
      mine = now;
    } else {
      add_several(raw(kind), now);
    }
  }

 private:
  // What variables without atomic accesses and without concurrent ones of a kind do not need.
  struct Rest {
    std::array<Epoch, 2> atomic;       // by AccessKind - 2, while atomic_
    std::array<VectorClock, 4> times;  // by AccessKind, where the epoch is kSeveral
  };
  // Several epochs none of which is the last. Nobody knows it.
  static constexpr Epoch kSeveral{ThreadId{std::numeric_limits<std::uint32_t>::max()},
                                  std::numeric_limits<Time>::max()};

  template <typename Clock>
  unsigned unknown_epochs(const Clock& clock) const {
    unsigned unknown = (clock.knows(plain_[0]) ? 0u : 1u) | (clock.knows(plain_[1]) ? 0u : 2u);
    if (atomic_) [[unlikely]] {
      unknown |= (clock.knows(rest_->atomic[0]) ? 0u : 4u) | (clock.knows(rest_->atomic[1]) ? 0u : 8u);
    }
    return unknown;
  }

  // Of an atomic kind: while atomic_.
  Epoch& last(unsigned kind) { return kind < 2 ? plain_[kind] : rest_->atomic[kind - 2]; }
  Epoch last(unsigned kind) const { return kind < 2 ? plain_[kind] : rest_->atomic[kind - 2]; }
  Rest& rest() {
    if (rest_ == nullptr) {
      rest_ = std::make_unique<Rest>();
    }
    return *rest_;
  }

  void add_several(unsigned kind, Epoch now) {
    VectorClock& times = rest().times[kind];
    Epoch& mine = last(kind);
    if (mine != kSeveral) {
      times.clear();
      times.set(mine.thread(), mine.time());
      mine = kSeveral;
    }
    times.set(now.thread(), now.time());
  }

  std::array<Epoch, 2> plain_;  // by AccessKind; the default epoch is known to everybody
  std::unique_ptr<Rest> rest_;
  bool atomic_ = false;  // there were atomic accesses that plain_ does not speak for
};

}  // namespace sooth
