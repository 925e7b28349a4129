#include "predict/deadlock_cycles.h"

#include <algorithm>

namespace sooth {
namespace {

// Whether the thread of `holder`, when that acquire is next, holds the lock that `waiter` wants.
bool waits_for(const TraceIndex& index, EventIndex waiter, EventIndex holder) {
  const LockSection& wanted = index.section(index.section_of(waiter));
  const std::vector<SectionIndex> held = index.held_after(index.thread(holder), index.position(holder));
  return std::any_of(held.begin(), held.end(),
                     [&](SectionIndex s) { return exclude_each_other(index.section(s), wanted); });
}

// Extends `cycle` by the rest of `acquires` such that each waits for the following one and the last for the first.
bool complete_cycle(const TraceIndex& index, std::span<const EventIndex> acquires, std::vector<EventIndex>& cycle) {
  if (cycle.size() == acquires.size()) {
    return waits_for(index, cycle.back(), cycle.front());
  }
  for (const EventIndex next : acquires) {
    if (std::find(cycle.begin(), cycle.end(), next) == cycle.end() && waits_for(index, cycle.back(), next)) {
      cycle.push_back(next);
      if (complete_cycle(index, acquires, cycle)) {
        return true;
      }
      cycle.pop_back();
    }
  }
  return false;
}

}  // namespace

bool share_a_thread(const TraceIndex& index, std::span<const EventIndex> events) {
  std::vector<std::uint32_t> threads;
  for (const EventIndex e : events) {
    threads.push_back(index.thread(e));
  }
  std::sort(threads.begin(), threads.end());
  return std::adjacent_find(threads.begin(), threads.end()) != threads.end();
}

std::optional<std::vector<EventIndex>> deadlock_cycle(const TraceIndex& index, std::span<const EventId> acquires) {
  std::vector<EventIndex> targets;
  for (const EventId acquire : acquires) {
    const auto e = static_cast<EventIndex>(raw(acquire));
    if (!may_wait_for_ever(index.event(e)) || index.section_of(e) == kNoSection) {
      return std::nullopt;
    }
    targets.push_back(e);
  }
  if (targets.size() < 2 || share_a_thread(index, targets)) {
    return std::nullopt;
  }
  std::vector<EventIndex> cycle{targets.front()};
  if (!complete_cycle(index, targets, cycle)) {
    return std::nullopt;
  }
  return cycle;
}

SiteCycles::SiteCycles(const TraceIndex& index) : index_(index) {
  for (EventIndex e = 0; e < index.size(); ++e) {
    if (may_wait_for_ever(index.event(e)) && index.section_of(e) != kNoSection) {
      by_site_[index.event(e).site].push_back(EventId{e});
    }
  }
}

bool SiteCycles::any_of(std::span<const EventId> example,
                        const std::function<bool(std::span<const EventId>)>& visit) const {
  std::vector<EventId> chosen;
  Limits left;
  return std::all_of(example.begin(), example.end(), [this](EventId id) { return raw(id) < index_.size(); }) &&
         extend(example, chosen, left, visit);
}

bool SiteCycles::extend(std::span<const EventId> example, std::vector<EventId>& chosen, Limits& left,
                        const std::function<bool(std::span<const EventId>)>& visit) const {
  if (chosen.size() == example.size()) {
    if (left.cycles == 0 || !holds(chosen.front(), chosen.back())) {
      return false;
    }
    --left.cycles;
    return visit(chosen);
  }
  const auto others = by_site_.find(index_.event(static_cast<EventIndex>(raw(example[chosen.size()]))).site);
  if (others == by_site_.end()) {
    return false;
  }
  for (const EventId acquire : others->second) {
    if (left.looks == 0 || left.cycles == 0) {
      return false;
    }
    --left.looks;
    if (!chosen.empty() && !holds(acquire, chosen.back())) {
      continue;
    }
    chosen.push_back(acquire);
    if (extend(example, chosen, left, visit)) {
      return true;
    }
    chosen.pop_back();
  }
  return false;
}

bool SiteCycles::holds(EventId acquire, EventId other) const {
  return waits_for(index_, static_cast<EventIndex>(raw(other)), static_cast<EventIndex>(raw(acquire)));
}

}  // namespace sooth
