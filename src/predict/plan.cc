#include "predict/plan.h"

#include <algorithm>
#include <map>

namespace sooth {
namespace {

class PlanFollower {
 public:
  PlanFollower(const TraceIndex& index, const RacePlan& plan) : index_(index) {
    for (std::uint64_t id = 0; id < raw(plan.moment); ++id) {
      order_.push_back(EventId{id});
    }
    for (const EventId access : {plan.race.first, plan.race.second}) {
      const std::uint32_t thread = index_.thread(event(access));
      const auto events = index_.events_of(thread);
      const auto begin = std::lower_bound(events.begin(), events.end(), raw(plan.moment));
      done_[thread] = static_cast<std::uint32_t>(begin - events.begin());
    }
  }

  // Runs the thread of the event until `count` of its events have happened, and whoever must come before.
  void run(std::uint32_t thread, std::uint32_t count) {
    const auto mine = done_.find(thread);
    while (mine != done_.end() && mine->second < count) {
      const EventIndex next = index_.events_of(thread)[mine->second];
      for (const EventIndex before : index_.predecessors(next)) {
        run(index_.thread(before), index_.position(before) + 1);
      }
      if (const ConditionIndex::Wait* wait = index_.conditions().wait(next)) {
        run(index_.thread(wait->took), index_.position(wait->took) + 1);
      }
      if (const SemaphoreIndex::Operation* wait = index_.semaphores().operation(next);
          wait != nullptr && wait->took != kNoEvent) {
        run(index_.thread(wait->took), index_.position(wait->took) + 1);
      }
      order_.push_back(EventId{next});
      ++mine->second;
    }
  }
  void run_up_to(EventId id) { run(index_.thread(event(id)), index_.position(event(id))); }
  void run_through(EventId id) { run(index_.thread(event(id)), index_.position(event(id)) + 1); }

  std::vector<EventId> take_order() { return std::move(order_); }

 private:
  static EventIndex event(EventId id) { return static_cast<EventIndex>(raw(id)); }

  const TraceIndex& index_;
  std::map<std::uint32_t, std::uint32_t> done_;  // of the two threads: how many of their events have happened
  std::vector<EventId> order_;
};

}  // namespace

Witness follow_plan(const TraceIndex& index, const RacePlan& plan) {
  PlanFollower follower(index, plan);
  for (const EventId step : plan.steps) {
    follower.run_through(step);
  }
  follower.run_up_to(plan.race.first);
  follower.run_up_to(plan.race.second);
  return {FindingKind::kRace, follower.take_order(), {plan.race.first, plan.race.second}};
}

}  // namespace sooth
