#include "predict/condition_index.h"

#include <algorithm>
#include <optional>

#include "order/condition_waits.h"

namespace sooth {
ConditionIndex::ConditionIndex(std::span<const Event> events) : events_(events) {
  if (std::any_of(events.begin(), events.end(), was_woken)) {
    find_waits();
    find_notifies();
  }
}

void ConditionIndex::find_waits() {
  ConditionWaits<EventIndex> order;
  std::vector<EventIndex> released;  // by thread: its latest release
  for (EventIndex id = 0; id < events_.size(); ++id) {
    const Event& e = events_[id];
    order.begin(e);
    if (raw(e.thread) >= released.size()) {
      released.resize(raw(e.thread) + std::size_t{1}, kNoEvent);
    }
    if (e.op == Op::kRelease) {
      released[raw(e.thread)] = id;
    } else if (e.op == Op::kFork && e.object < released.size()) {
      released[e.object] = kNoEvent;
    } else if (e.op == Op::kCondNotify) {
      order.notify(e, id);
    } else if (was_woken(e)) {
      if (const std::optional<EventIndex> took = order.take(e)) {
        waits_.push_back({id, vigil_of(id, released[raw(e.thread)]), *took, false});
      }
    }
  }
}

VigilIndex ConditionIndex::vigil_of(EventIndex wait, EventIndex begin) {
  const Event& e = events_[wait];
  const auto next = static_cast<std::uint32_t>(numbers_.size());
  const std::uint32_t* known = numbers_.find(e.object);
  const std::uint32_t condition = known != nullptr ? *known : next;
  if (known == nullptr) {
    numbers_[e.object] = next;
  }
  std::vector<VigilIndex>& begun = begin == kNoEvent ? from_the_beginning_ : begun_by_[begin];
  const auto same = std::find_if(begun.begin(), begun.end(), [&](VigilIndex v) {
    return vigils_[v].condition == condition && vigils_[v].thread == e.thread;
  });
  if (same != begun.end()) {
    return *same;
  }
  begun.push_back(static_cast<VigilIndex>(vigils_.size()));
  vigils_.push_back({begin, e.thread, condition});
  return begun.back();
}

void ConditionIndex::find_notifies() {
  notifies_.resize(numbers_.size());
  for (EventIndex id = 0; id < events_.size(); ++id) {
    if (events_[id].op == Op::kCondNotify && condition(events_[id]) < condition_count()) {
      notifies_[condition(events_[id])].push_back({id, notifies_everybody(events_[id]), kNoEvent});
    }
  }
  for (Wait& wait : waits_) {
    std::vector<ConditionNotify>& all = notifies_[vigils_[wait.vigil].condition];
    const auto took = std::lower_bound(all.begin(), all.end(), wait.took,
                                       [](const ConditionNotify& n, EventIndex e) { return n.event < e; });
    took->taker = took->everybody ? kNoEvent : wait.event;
    // More than a few are too many anyway.
    wait.has_only_one = all.size() <= kFew && std::count_if(all.begin(), all.end(), [&](const ConditionNotify& n) {
                                                return may_wake(n, wait);
                                              }) == 1;
  }
}

const ConditionIndex::Wait* ConditionIndex::wait(EventIndex e) const {
  const auto at = std::lower_bound(waits_.begin(), waits_.end(), e,
                                   [](const Wait& wait, EventIndex event) { return wait.event < event; });
  return at != waits_.end() && at->event == e ? &*at : nullptr;
}

bool ConditionIndex::may_wake(const ConditionNotify& notify, const Wait& wait) const {
  const Vigil& vigil = vigils_[wait.vigil];
  return events_[notify.event].thread != vigil.thread ||
         (notify.event < wait.event && (vigil.begin == kNoEvent || vigil.begin < notify.event));
}

}  // namespace sooth
