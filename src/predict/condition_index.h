// The waits for condition variables of a trace in memory: when each begins, and what may wake it (docs/semantics.md
// section 7).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/flat_map.h"
#include "trace/event.h"

namespace sooth {

// An EventId in half the space: indexes exist for traces of fewer than 2^31 events.
using EventIndex = std::uint32_t;
inline constexpr EventIndex kNoEvent = ~EventIndex{0};
using VigilIndex = std::uint32_t;
inline constexpr VigilIndex kNoVigil = ~VigilIndex{0};

// What a thread waits for from one of its releases on. Mostly there is one wait; those that follow each other without a
// release in between have the same begin, so the same notifies may wake them.
struct Vigil {
  EventIndex begin = kNoEvent;  // the release; none: from the beginning on
  ThreadId thread{};
  std::uint32_t condition = 0;  // dense
};

struct ConditionNotify {
  EventIndex event;
  bool everybody;
  EventIndex taker;  // the wait that took it in the trace; kNoEvent: none, or it wakes everybody
};

// Built in two linear passes, which are skipped when the trace has no wait that was woken. Read-only afterwards.
class ConditionIndex {
 public:
  explicit ConditionIndex(std::span<const Event> events);

  // The waits that took a notify in the trace, in its order. All others need none.
  struct Wait {
    EventIndex event;
    VigilIndex vigil;
    EventIndex took;
    // No other notify than the one it took can ever wake it. False as well when there are many that might.
    bool has_only_one;
  };
  std::span<const Wait> waits() const { return waits_; }
  // nullptr: the event is not one of them.
  const Wait* wait(EventIndex e) const;
  const Vigil& vigil(VigilIndex v) const { return vigils_[v]; }
  std::span<const Vigil> vigils() const { return vigils_; }
  // Vigils that the release begins. Mostly none.
  std::span<const VigilIndex> begun_by(EventIndex release) const {
    const std::vector<VigilIndex>* begun = begun_by_.find(release);
    return begun == nullptr ? std::span<const VigilIndex>{} : std::span<const VigilIndex>(*begun);
  }

  std::uint32_t condition_count() const { return static_cast<std::uint32_t>(notifies_.size()); }
  // In trace order, of a condition variable that waits of waits() are about.
  std::span<const ConditionNotify> notifies(std::uint32_t condition) const { return notifies_[condition]; }
  // The condition variable that a notify is about; condition_count() when no wait is.
  std::uint32_t condition(const Event& notify) const {
    const std::uint32_t* number = numbers_.find(notify.object);
    return number == nullptr ? condition_count() : *number;
  }
  // Notifies that may wake a wait in some reordering: those of other threads, and its own behind its begin.
  bool may_wake(const ConditionNotify& notify, const Wait& wait) const;

 private:
  static constexpr std::size_t kFew = 64;

  void find_waits();
  void find_notifies();
  VigilIndex vigil_of(EventIndex wait, EventIndex begin);

  std::span<const Event> events_;
  std::vector<Wait> waits_;
  std::vector<Vigil> vigils_;
  FlatMap<std::uint32_t> numbers_;  // of condition variables
  FlatMap<std::vector<VigilIndex>> begun_by_;
  std::vector<VigilIndex> from_the_beginning_;
  std::vector<std::vector<ConditionNotify>> notifies_;
};

}  // namespace sooth
