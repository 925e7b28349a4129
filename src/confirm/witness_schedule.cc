#include "confirm/witness_schedule.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_set>
#include <utility>

#include "race/witness_conditions.h"
#include "race/witness_summary.h"
#include "schedule/schedule_file.h"
#include "trace/recording/stream_format.h"

namespace sooth {
namespace {

// Accesses to memory of its own that a thread may make on a branch that was not taken, and that witnesses leave out.
// Each number is a run.
constexpr std::uint64_t kMaxUnseen = 8;

// Put there by the recorder, where accesses were left out: the program does nothing of that kind.
bool is_mark(const Event& event) {
  return (event.op == Op::kHappensBefore || event.op == Op::kHappensAfter) && stream::is_mark(event.object);
}

bool is_thinned(const TraceView& trace) { return std::any_of(trace.events.begin(), trace.events.end(), is_mark); }

// How far a thread has come, as the scheduler counts.
struct Position {
  std::uint64_t events = 0, accesses = 0;

  void pass(Op op) {
    if (control::is_operation(op)) {
      ++events;
      accesses = 0;
    } else if (op == Op::kRead || op == Op::kWrite) {
      ++accesses;
    }
  }
  friend bool operator==(const Position&, const Position&) = default;
};

// Whether the next event of the thread that counts is an operation, for each event; unknown behind the part of the
// trace in memory.
std::vector<bool> operation_is_next(const TraceView& trace) {
  std::vector<bool> next(trace.events.size());
  std::vector<bool> of_thread;
  for (std::size_t i = trace.events.size(); i-- > 0;) {
    const Event& event = trace.events[i];
    if (raw(event.thread) >= of_thread.size()) {
      of_thread.resize(raw(event.thread) + 1);
    }
    next[i] = of_thread[raw(event.thread)];
    if (is_mark(event)) {
      continue;
    }
    if (control::is_operation(event.op)) {
      of_thread[raw(event.thread)] = true;
    } else if (event.op == Op::kRead || event.op == Op::kWrite) {
      of_thread[raw(event.thread)] = false;
    }
  }
  return next;
}

// What a thread does next that is in question.
struct Stop {
  ThreadId thread{};
  std::string place;
  bool executed = true;  // in the recorded run; else the thread leaves its recorded path, to get there
};

// How threads get to accesses that were not executed: schedules_of_witness().
struct Leaving {
  enum class When : std::uint8_t { kAsTold, kAtOnce, kAtTheEnd } when = When::kAtOnce;
  std::uint64_t unseen =
      0;  // kAsTold: accesses that the thread makes on its new path beyond those that the witness tells of
};

class Builder {
 public:
  Builder(const TraceView& trace, bool every_access)
      : trace_(trace),
        every_access_(every_access && !is_thinned(trace)),  // else they cannot be counted
        operation_next_(operation_is_next(trace)) {}

  // Behind this event its thread does something else than in the trace, so its accesses have to be counted up to there.
  void leaves_behind(EventId id) { leaves_behind_.insert(id); }

  // A thread tells that its wait for a condition is over when it has the mutex again, so the wait counts right before
  // what the thread does next; if there is nothing of the kind, the thread still waits.
  void add(EventId id) {
    const Event& event = trace_.events[raw(id)];
    if (is_mark(event)) {
      return;
    }
    end_wait(event.thread);
    if (event.op == Op::kCondWait) {
      waits_[event.thread] = id;
      return;
    }
    add(event.thread, event.op, {id, place_of(id), 0});
  }

  // A step behind what the trace has of its thread. In front of it the thread makes `unseen` accesses that nothing
  // tells of.
  void add(const UnexecutedStep& step, std::uint64_t unseen) {
    end_wait(step.thread);
    add(step.thread, step.op, {std::nullopt, step.site.label, control::is_operation(step.op) ? 0 : unseen});
  }

  // The thread comes to an access at a site of the pair. What the schedule says of accesses in front of it stays exact:
  // there are some.
  void postpone(const Stop& stop, const Leaving& leaving) {
    end_stretch();
    const Position position = at(stop.thread);
    const std::uint64_t accesses = every_access_ ? position.accesses : control::kAnyAccesses;
    const bool goes_on = stop.executed || leaving.when != Leaving::When::kAtTheEnd;
    for (std::size_t i = schedule_.stretches.size(); goes_on && i-- > 0;) {
      control::Stretch& stretch = schedule_.stretches[i];
      if (stretch.thread == raw(stop.thread)) {
        stretch.end = control::StretchEnd::kPostponed;
        stretch.accesses = accesses;
        schedule_.places[i] = stop.place;
        return;
      }
    }
    schedule_.stretches.push_back({raw(stop.thread), control::StretchEnd::kPostponed, position.events, accesses, 0, 0});
    schedule_.places.push_back(stop.place);
  }

  std::string place_of(EventId id) const {
    return trace_.tables != nullptr ? trace_.tables->site(trace_.events[raw(id)].site).label
                                    : "event " + std::to_string(raw(id));
  }

  Result<WitnessSchedule> finish() {
    end_stretch();
    SOOTH_RETURN_IF_ERROR(add_origins());
    return std::move(schedule_);
  }

 private:
  // The last thing that the schedule has.
  struct Last {
    std::optional<EventId> event;  // none: a step
    std::string place;
    std::uint64_t unseen = 0;
  };

  void end_wait(ThreadId thread) {
    if (const auto wait = waits_.find(thread); wait != waits_.end()) {
      const EventId id = wait->second;
      waits_.erase(wait);
      add(thread, Op::kCondWait, {id, place_of(id), 0});
    }
  }

  void add(ThreadId thread, Op op, Last last) {
    if (last_ && last_thread_ != thread) {
      end_stretch();
    }
    if (!last_) {
      times_out_ = op == Op::kCondWait && !was_woken(trace_.events[raw(*last.event)]);
    }
    last_ = std::move(last);
    last_thread_ = thread;
    at(thread).pass(op);
  }

  Status add_origins() {
    std::vector<std::uint32_t> children(seen_.size());
    std::vector<std::optional<control::ThreadOrigin>> origins(seen_.size());
    for (const Event& event : trace_.events) {
      if (event.op != Op::kFork) {
        continue;
      }
      if (raw(event.thread) >= children.size()) {
        children.resize(raw(event.thread) + 1);
      }
      const std::uint32_t child = children[raw(event.thread)]++;
      if (event.object < origins.size()) {
        origins[event.object] = {static_cast<std::uint32_t>(event.object), raw(event.thread), child, 0};
      }
    }
    for (std::uint32_t thread = 1; thread < seen_.size(); ++thread) {
      if (origins[thread]) {
        schedule_.threads.push_back(*origins[thread]);
      } else if (seen_[thread]) {
        return Status::bad_input("the trace does not tell who created thread " + std::to_string(thread));
      }
    }
    return {};
  }

  Position& at(ThreadId thread) {
    if (raw(thread) >= positions_.size()) {
      positions_.resize(raw(thread) + 1);
      ended_.resize(raw(thread) + 1);
      seen_.resize(raw(thread) + 1);
    }
    seen_[raw(thread)] = true;
    return positions_[raw(thread)];
  }

  void end_stretch() {
    if (!last_) {
      return;
    }
    const std::uint32_t thread = raw(last_thread_);
    const Position position = at(last_thread_);
    if (position != ended_[thread]) {
      ended_[thread] = position;
      const bool known_next =
          last_->event && operation_next_[raw(*last_->event)] && !leaves_behind_.contains(*last_->event);
      schedule_.stretches.push_back(
          {.thread = thread,
           .end = control::StretchEnd::kPreempted,
           .events = position.events,
           .accesses = !every_access_ || known_next ? control::kAnyAccesses : position.accesses + last_->unseen,
           .hash = 0,
           .timed_out = times_out_ ? 1u : 0u});
      schedule_.places.push_back(last_->place);
    }
    last_.reset();
  }

  const TraceView& trace_;
  const bool every_access_;
  const std::vector<bool> operation_next_;
  WitnessSchedule schedule_;
  std::optional<Last> last_;
  ThreadId last_thread_{};
  bool times_out_ = false;  // the stretch begins with the end of a wait whose time was over
  std::set<EventId> leaves_behind_;
  std::map<ThreadId, EventId> waits_;        // over, but for the mutex
  std::vector<Position> positions_, ended_;  // by thread
  std::vector<bool> seen_;
};

bool all_executed(const Finding& finding) {
  return std::all_of(finding.accesses.begin(), finding.accesses.end(),
                     [](const Access& access) { return access.executed; });
}

std::span<const UnexecutedStep> steps_of(const Finding& finding) {
  if (!finding.witness.has_value() || !finding.witness->values.has_value()) {
    return {};
  }
  return finding.witness->values->detour;
}

std::optional<ThreadId> thread_named(const std::string& name, const TraceView& trace) {
  std::set<ThreadId> seen;
  for (const Event& event : trace.events) {
    if (seen.insert(event.thread).second && trace.tables != nullptr &&
        trace.tables->thread_name(event.thread) == name) {
      return event.thread;
    }
  }
  return std::nullopt;
}

// What the threads of a race stop in front of.
Result<std::vector<Stop>> stops_of(const Finding& race, const TraceView& trace, const Builder& builder) {
  std::vector<Stop> stops;
  for (const Access& access : race.accesses) {
    if (access.executed) {
      stops.push_back({trace.events[raw(access.event)].thread, builder.place_of(access.event), true});
    } else if (const std::optional<ThreadId> thread = thread_named(access.thread, trace)) {
      stops.push_back({*thread, access.site.label, false});
    } else {
      return Status::bad_input("the trace has no thread " + access.thread);
    }
  }
  return stops;
}

// Adds the order of the witness and, if wanted, the steps on branches that were not taken, each where it is told to be.
void add_order(const Finding& finding, const std::vector<EventId>& order, const Leaving& leaving, Builder& builder) {
  std::span<const UnexecutedStep> steps = steps_of(finding);
  const auto add_steps = [&](std::uint64_t after) {
    for (; leaving.when == Leaving::When::kAsTold && !steps.empty() && steps.front().after <= after;
         steps = steps.subspan(1)) {
      builder.add(steps.front(), leaving.unseen);
    }
  };
  for (std::size_t i = 0; i < order.size(); ++i) {
    add_steps(i);
    builder.add(order[i]);
  }
  add_steps(order.size());
}

Result<WitnessSchedule> build_schedule(const Finding& finding, const std::vector<EventId>& order,
                                       const TraceView& trace, bool counts, const Leaving& leaving) {
  Builder builder(trace, counts);
  std::vector<Stop> stops;
  if (finding.kind == FindingKind::kRace) {
    Result<std::vector<Stop>> found = stops_of(finding, trace, builder);
    if (!found.ok()) {
      return std::move(found).status();
    }
    stops = std::move(*found);
  }
  for (const Stop& stop : stops) {
    const auto last = std::find_if(order.rbegin(), order.rend(),
                                   [&](EventId id) { return trace.events[raw(id)].thread == stop.thread; });
    if (!stop.executed && last != order.rend()) {
      builder.leaves_behind(*last);
    }
  }
  add_order(finding, order, leaving, builder);
  // One that leaves at the end must find the others in front of their accesses.
  for (const bool executed : {true, false}) {
    for (const Stop& stop : stops) {
      if (stop.executed == executed) {
        builder.postpone(stop, leaving);
      }
    }
  }
  return builder.finish();
}

// Ways to get to what was not executed, the likeliest first.
std::vector<Leaving> leavings_of(const Finding& finding, const std::vector<EventId>& order) {
  using When = Leaving::When;
  if (all_executed(finding)) {
    return {{When::kAtOnce}};
  }
  const std::span<const UnexecutedStep> steps = steps_of(finding);
  const bool among_others =
      std::any_of(steps.begin(), steps.end(), [&](const UnexecutedStep& step) { return step.after < order.size(); });
  std::vector<Leaving> ways;
  for (std::uint64_t unseen = 0; among_others && unseen <= kMaxUnseen; ++unseen) {
    ways.push_back({When::kAsTold, unseen});
  }
  ways.push_back({When::kAtTheEnd});
  ways.push_back({When::kAtOnce});
  return ways;
}

Status check_events(const Finding& finding, const std::vector<EventId>& order, const TraceView& trace) {
  for (const EventId id : order) {
    if (raw(id) >= trace.events.size()) {
      return Status::bad_input("the witness names event " + std::to_string(raw(id)) + ", which is not in the trace");
    }
  }
  for (const Access& access : finding.accesses) {
    if (access.executed && raw(access.event) >= trace.events.size()) {
      return Status::bad_input("the finding names event " + std::to_string(raw(access.event)) +
                               ", which is not in the trace");
    }
  }
  return {};
}

Result<std::vector<WitnessSchedule>> build_schedules(const Finding& finding, const std::vector<EventId>& order,
                                                     const TraceView& trace, const TraceInfo& info) {
  SOOTH_RETURN_IF_ERROR(check_events(finding, order, trace));
  std::vector<WitnessSchedule> schedules;
  const bool complete = info.exact && info.filtered.empty();
  for (const bool counts : complete ? std::vector{true} : std::vector{true, false}) {
    for (const Leaving& leaving : leavings_of(finding, order)) {
      Result<WitnessSchedule> schedule = build_schedule(finding, order, trace, counts, leaving);
      if (!schedule.ok()) {
        return std::move(schedule).status();
      }
      schedules.push_back(std::move(*schedule));
    }
  }
  return schedules;
}

// What is in front of `second`, without what cannot happen while the thread of `first` stops in front of that; nothing
// when `second` cannot.
std::vector<EventId> recorded_order(const TraceView& trace, EventId first, EventId second) {
  std::set<ThreadId> stopped;
  std::map<std::uint64_t, ThreadId> holders;
  WitnessConditions conditions;
  const std::unordered_set<std::uint32_t> woken = explained_waits(trace.events.first(raw(second)));
  std::vector<EventId> order;
  for (std::uint64_t id = 0; id < raw(second); ++id) {
    const Event& event = trace.events[id];
    const auto holder = event.op == Op::kAcquire ? holders.find(event.object) : holders.end();
    const bool waits = (holder != holders.end() && stopped.contains(holder->second)) ||
                       (event.op == Op::kJoin && stopped.contains(ThreadId{static_cast<std::uint32_t>(event.object)}));
    const bool sleeps =
        woken.contains(static_cast<std::uint32_t>(id)) && !stopped.contains(event.thread) && !conditions.take(event);
    if (id == raw(first) || waits || sleeps) {
      stopped.insert(event.thread);
    }
    if (stopped.contains(event.thread)) {
      continue;
    }
    order.push_back(EventId{id});
    conditions.pass(event);
    if (event.op == Op::kAcquire) {
      holders[event.object] = event.thread;
    } else if (event.op == Op::kRelease) {
      holders.erase(event.object);  // re-entrant and shared holds are not told apart: the run will tell
    }
  }
  return stopped.contains(trace.events[raw(second)].thread) ? std::vector<EventId>() : order;
}

}  // namespace

Result<std::vector<WitnessSchedule>> schedules_of_witness(const Finding& finding, const TraceView& trace,
                                                          const TraceInfo& info) {
  if (!finding.witness.has_value() || !finding.witness->checked) {
    return Status::bad_input("the finding has no witness");
  }
  const Result<std::vector<EventId>> order = expand(*finding.witness, trace);
  if (!order.ok()) {
    return order.status();
  }
  return build_schedules(finding, *order, trace, info);
}

Result<std::vector<WitnessSchedule>> schedules_of_recorded_run(const Finding& race, const TraceView& trace,
                                                               const TraceInfo& info, std::size_t max_stretches) {
  if (!all_executed(race)) {
    return std::vector<WitnessSchedule>();  // nothing of the recorded run leads there
  }
  const auto [first, second] = std::minmax(race.accesses[0].event, race.accesses[1].event);
  if (raw(second) >= trace.events.size()) {
    return Status::bad_input("the finding names event " + std::to_string(raw(second)) + ", which is not in the trace");
  }
  const std::vector<EventId> order = recorded_order(trace, first, second);
  std::size_t stretches = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    stretches += i == 0 || trace.events[raw(order[i])].thread != trace.events[raw(order[i - 1])].thread ? 1 : 0;
  }
  if (order.empty() || stretches > max_stretches) {
    return std::vector<WitnessSchedule>();
  }
  return build_schedules(race, order, trace, info);
}

std::string describe_divergence(const WitnessSchedule& schedule, const RunLog& log) {
  if (log.processes.empty() || log.processes.front().divergences.empty()) {
    return "the program followed all " + std::to_string(schedule.stretches.size()) +
           " stretches of it, and yet did not come there";
  }
  ScheduleFile wanted;
  wanted.plan.plan = control::Plan::kStretches;
  wanted.plan.stretches = schedule.stretches;
  const std::uint64_t stretch = log.processes.front().divergences.front().stretch;
  return first_divergence(wanted, log) +
         (stretch < schedule.places.size() ? ", on the way to " + schedule.places[stretch] : "") + " (" +
         std::to_string(schedule.stretches.size()) + " stretches)";
}

}  // namespace sooth
