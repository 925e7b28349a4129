#include "recipe/judge/check.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "race/witness_conditions.h"
#include "race/witness_locks.h"
#include "race/witness_order.h"
#include "race/witness_text.h"
#include "recipe/judge/check_machine.h"
#include "recipe/judge/recorded_run.h"

namespace sooth {
namespace {

using Number = std::uint32_t;  // of an event
constexpr Number kMaxEvents = std::numeric_limits<Number>::max() - 2;

class Checker {
 public:
  Checker(const RecordedRun& run, std::span<const EventId> unnamed, const ValueWitness& witness)
      : run_(run),
        trace_(run.trace()),
        unnamed_(unnamed),
        witness_(witness),
        edges_(run.trace().reaches.empty() ? MustEdges::Kept::kButAtomics : MustEdges::Kept::kAll),
        calls_(run.trace().reaches),
        machine_(run) {}

  Status check() {
    SOOTH_RETURN_IF_ERROR(place_events());
    SOOTH_RETURN_IF_ERROR(check_detour_list());
    for (Number id = 0; id < end_; ++id) {
      const bool wanted = position_[id] != 0 || is_unnamed(id);
      edges_.add(id, trace_.events[id], wanted);
      calls_.add(id, trace_.events[id], wanted);
    }
    SOOTH_RETURN_IF_ERROR(act_out());
    return check_next();
  }

 private:
  static constexpr Number kNextMark = std::numeric_limits<Number>::max();
  using Claims = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // event, value

  // One of the two accesses, once its thread is there.
  struct Ready {
    ThreadId thread{};
    Op op = Op::kRead;
    std::vector<Stretch> bytes;
    std::string text;
  };

  Status place(EventId id, Number position);
  Status place_events();
  Status check_detour_list() const;
  Status check_claims();
  Status act_out();
  Status act_event(Number id, Number steps_done);
  Status act_detour(const DetourEvent& step);
  Status check_lock(Number id, const Event& e);
  Status check_lock_beside(const DetourEvent& step);
  Status check_begun(ThreadId thread, Number steps_done) const;
  Status check_next();
  Result<Ready> ready(const NextAccess& next);
  Status check_conflict(const Ready& a, const Ready& b) const;
  std::optional<Number> missing(Number id, Number steps_done);
  bool is_unnamed(Number id) const {
    return std::binary_search(unnamed_.begin(), unnamed_.end(), EventId{std::uint64_t{id}});
  }
  Number next_of(ThreadId thread) const { return run_.tapes()[raw(thread)].events[machine_.done(raw(thread))]; }
  bool is_at_end(ThreadId thread) const {
    return machine_.done(raw(thread)) == run_.tapes()[raw(thread)].events.size();
  }
  // Unnamed events that stand in the way of `id` happen.
  Status clear_way(Number id, Number steps_done);
  Status clear_way_beside(ThreadId thread, Number steps_done);
  // The unnamed event happens, which is the next of its thread; or those in front of it happen, and it.
  Status happen(Number id, Number steps_done);
  Status bring_about(Number id, Number steps_done);
  std::optional<std::uint64_t> claim(Number id) const;
  std::string text(std::uint64_t id) const { return event_text(trace_, id); }
  std::string detour_text(const DetourEvent& step) const;

  const RecordedRun& run_;
  const TraceView& trace_;
  const std::span<const EventId> unnamed_;
  const ValueWitness& witness_;
  Number end_ = 0;                // events from here on do not matter
  std::vector<Number> position_;  // by event: from 1 in the order; 0: not in play; kNextMark
  std::vector<bool> happened_;    // by event: unnamed ones
  Claims claims_;                 // by event
  MustEdges edges_;
  CallEdges calls_;
  WitnessLocks locks_;
  std::unordered_set<Number> found_taken_;  // failed acquires of a lock that somebody held in the trace
  WitnessConditions conditions_;
  std::unordered_set<Number> woken_;  // condition waits that took a notify in the trace
  CheckMachine machine_;
};

Status Checker::place(EventId id, Number position) {
  if (raw(id) >= trace_.events.size()) {
    return Status::bad_input("event " + std::to_string(raw(id)) + " is not in the trace, which has " +
                             std::to_string(trace_.events.size()) + " events");
  }
  Number& at = position_[raw(id)];
  if (at != 0) {
    return Status::bad_input(text(raw(id)) + (at == kNextMark && position == kNextMark ? " comes next twice"
                                              : at == kNextMark ? " stands in the order, though it is what comes next"
                                                                : " stands twice in the order"));
  }
  at = position;
  end_ = std::max(end_, static_cast<Number>(raw(id)) + 1);
  return {};
}

Status Checker::place_events() {
  position_.assign(trace_.events.size(), 0);
  found_taken_ = explained_failures(trace_.events);
  woken_ = explained_waits(trace_.events);
  happened_.assign(trace_.events.size(), false);
  for (const NextAccess& next : witness_.next) {
    if (next.event.has_value() == next.unexecuted.has_value()) {
      return Status::bad_input("an access that is next is an event of the trace, or one that was not executed");
    }
    if (next.event) {
      SOOTH_RETURN_IF_ERROR(place(*next.event, kNextMark));
    } else if (!unnamed_.empty()) {
      end_ = static_cast<Number>(trace_.events.size());  // the thread may go through some behind its last event
    }
    const ThreadId thread = next.event ? trace_.events[raw(*next.event)].thread : next.unexecuted->thread;
    if (next.thread != thread || raw(thread) >= run_.tapes().size()) {
      return Status::bad_input("the thread of an access that is next is not " + thread_text(trace_, next.thread));
    }
  }
  if (witness_.next[0].thread == witness_.next[1].thread) {
    return Status::bad_input("the two accesses are of the same thread");
  }
  Number position = 0;
  for (const EventId id : witness_.order) {
    SOOTH_RETURN_IF_ERROR(place(id, ++position));
  }
  for (const ReadValue& read : witness_.reads) {
    claims_.emplace_back(raw(read.event), read.value);
  }
  std::sort(claims_.begin(), claims_.end());
  return check_claims();
}

Status Checker::check_claims() {
  for (std::size_t i = 0; i < claims_.size(); ++i) {
    const std::uint64_t id = claims_[i].first;
    const bool in_order = id < position_.size() && position_[id] != 0 && position_[id] != kNextMark;
    if (!in_order || !is_read(trace_.events[id].op) || (i > 0 && claims_[i - 1].first == id)) {
      return Status::bad_input(text(id) + " is said to read something else, and is no read of the order, or twice");
    }
  }
  return {};
}

// Of threads whose next access is beside their recorded path, and in order.
Status Checker::check_detour_list() const {
  std::uint64_t after = 0;
  for (const DetourEvent& step : witness_.detour) {
    if (step.after < after || step.after > witness_.order.size()) {
      return Status::bad_input(detour_text(step) + " does not stand where it says");
    }
    after = step.after;
    const bool leaves = std::any_of(std::begin(witness_.next), std::end(witness_.next), [&](const NextAccess& next) {
      return next.unexecuted && next.thread == step.thread;
    });
    if (!leaves) {
      return Status::bad_input(detour_text(step) + ": this thread does not leave its recorded path");
    }
  }
  return {};
}

std::string Checker::detour_text(const DetourEvent& step) const {
  const llvm::Instruction* at = run_.program().instruction(step.at);
  return "the step of " + thread_text(trace_, step.thread) + " at " +
         (at != nullptr ? run_.program().site(*at).label : "an instruction that there is none of") +
         " beside its recorded path";
}

std::optional<std::uint64_t> Checker::claim(Number id) const {
  const auto found = std::lower_bound(claims_.begin(), claims_.end(), std::pair(std::uint64_t{id}, std::uint64_t{0}));
  return found != claims_.end() && found->first == id ? std::optional(found->second) : std::nullopt;
}

// What must come before the event and is not among the first `steps_done` of the order.
std::optional<Number> Checker::missing(Number id, Number steps_done) {
  const auto done = [&](Number event) {
    return position_[event] - 1 < steps_done || happened_[event];  // 0 wraps around
  };
  const std::optional<Number> before = edges_.missing(id, done);
  return before ? before : calls_.missing(id, done);
}

Status Checker::act_out() {
  auto detour = witness_.detour.begin();
  Number steps_done = 0;
  for (;;) {
    for (; detour != witness_.detour.end() && detour->after == steps_done; ++detour) {
      SOOTH_RETURN_IF_ERROR(clear_way_beside(detour->thread, steps_done));
      SOOTH_RETURN_IF_ERROR(check_begun(detour->thread, steps_done));
      SOOTH_RETURN_IF_ERROR(act_detour(*detour));
    }
    if (steps_done == witness_.order.size()) {
      return {};
    }
    SOOTH_RETURN_IF_ERROR(act_event(static_cast<Number>(raw(witness_.order[steps_done])), steps_done));
    ++steps_done;
  }
}

Status Checker::clear_way(Number id, Number steps_done) {
  const ThreadId thread = trace_.events[id].thread;
  while (!is_at_end(thread) && next_of(thread) != id && is_unnamed(next_of(thread))) {
    SOOTH_RETURN_IF_ERROR(happen(next_of(thread), steps_done));
  }
  for (;;) {
    const std::optional<Number> before = missing(id, steps_done);
    if (!before || !is_unnamed(*before)) {
      return {};
    }
    SOOTH_RETURN_IF_ERROR(bring_about(*before, steps_done));
  }
}

Status Checker::happen(Number id, Number steps_done) {
  SOOTH_RETURN_IF_ERROR(clear_way(id, steps_done));
  if (const std::optional<Number> before = missing(id, steps_done)) {
    return Status::bad_input(text(id) + " has to happen there without " + text(*before) + ", which must come first");
  }
  SOOTH_RETURN_IF_ERROR(machine_.execute(id, std::nullopt));
  happened_[id] = true;
  return {};
}

Status Checker::bring_about(Number id, Number steps_done) {
  const ThreadId thread = trace_.events[id].thread;
  while (!happened_[id]) {
    if (const Number first = next_of(thread); !is_unnamed(first)) {
      return Status::bad_input(text(id) + " has to happen there without " + text(first) +
                               ", which comes before it in its thread");
    }
    SOOTH_RETURN_IF_ERROR(happen(next_of(thread), steps_done));
  }
  return {};
}

// Of a thread that leaves its recorded path: what it comes to before.
Status Checker::clear_way_beside(ThreadId thread, Number steps_done) {
  while (!is_at_end(thread) && is_unnamed(next_of(thread)) && machine_.comes_to_event(raw(thread))) {
    SOOTH_RETURN_IF_ERROR(happen(next_of(thread), steps_done));
  }
  return {};
}

Status Checker::act_event(Number id, Number steps_done) {
  SOOTH_RETURN_IF_ERROR(clear_way(id, steps_done));
  const Event& e = trace_.events[id];
  const std::vector<Number>& own = run_.tapes()[raw(e.thread)].events;
  if (const std::size_t done = machine_.done(raw(e.thread)); own[done] != id) {
    return Status::bad_input(text(id) +
                             (position_[own[done]] != 0 && position_[own[done]] != kNextMark
                                  ? " stands before "
                                  : " stands there without ") +
                             text(own[done]) + ", which comes before it in its thread");
  }
  if (const std::optional<Number> before = missing(id, steps_done)) {
    return Status::bad_input(text(id) + " stands there without " + text(*before) + " before it, which must come first");
  }
  if (woken_.contains(id) && !conditions_.take(e)) {
    return Status::bad_input(text(id) + " comes without a notify since its wait began that wakes it");
  }
  conditions_.pass(e);
  SOOTH_RETURN_IF_ERROR(check_lock(id, e));
  return machine_.execute(id, claim(id));
}

Status Checker::check_lock(Number id, const Event& e) {
  if (e.op == Op::kAcquire) {
    if (const std::optional<LockHold> held = locks_.blocker(e)) {
      return Status::bad_input(text(id) + " comes while " + thread_text(trace_, held->thread) + " holds the lock" +
                               (held->shared ? " in reader mode" : ""));
    }
    locks_.acquire(id, e);
  } else if (e.op == Op::kRelease && !locks_.release(e)) {
    return Status::bad_input(text(id) + " comes without an acquire of the lock");
  } else if (found_taken_.contains(id) && !locks_.is_held_against(e)) {
    return Status::bad_input(text(id) + " comes while nobody holds the lock");
  }
  return {};
}

Status Checker::act_detour(const DetourEvent& step) {
  Result<CheckMachine::Touched> touched = machine_.arrive(step);
  if (!touched.ok()) {
    return touched.status();
  }
  if (step.op == Op::kAcquire || step.op == Op::kRelease) {
    SOOTH_RETURN_IF_ERROR(check_lock_beside(step));
    machine_.finish_lock(raw(step.thread));
    return {};
  }
  return machine_.execute(step, *touched);
}

// The mutex is taken for one that cannot be acquired twice: what happens then depends on its kind.
Status Checker::check_lock_beside(const DetourEvent& step) {
  Event e;
  e.op = step.op;
  e.object = step.object;
  e.thread = step.thread;
  if (step.op == Op::kRelease) {
    const LockHold* held = locks_.hold(step.thread, step.object);
    return held != nullptr && !held->shared && locks_.release(e)
               ? Status()
               : Status::bad_input(detour_text(step) + " releases a lock that the thread does not hold");
  }
  const std::optional<LockHold> held = locks_.blocker(e);
  if (held || locks_.hold(step.thread, step.object) != nullptr) {
    return Status::bad_input(detour_text(step) + " comes while " +
                             thread_text(trace_, held ? held->thread : step.thread) + " holds the lock");
  }
  locks_.acquire(0, e);
  return {};
}

// Whether the thread runs already: it has done something, or was forked, or nobody forks it.
Status Checker::check_begun(ThreadId thread, Number steps_done) const {
  if (machine_.done(raw(thread)) != 0) {
    return {};
  }
  for (Number id = 0; id < trace_.events.size(); ++id) {
    if (trace_.events[id].op == Op::kFork && trace_.events[id].object == raw(thread) &&
        !(position_[id] - 1 < steps_done)) {
      return Status::bad_input(thread_text(trace_, thread) + " does something before it is forked by " + text(id));
    }
  }
  return {};
}

Result<Checker::Ready> Checker::ready(const NextAccess& next) {
  Ready ready;
  ready.thread = next.thread;
  const auto steps = static_cast<Number>(witness_.order.size());
  if (next.event) {
    const auto id = static_cast<Number>(raw(*next.event));
    SOOTH_RETURN_IF_ERROR(clear_way(id, steps));
    const Event& e = trace_.events[id];
    ready.text = text(id);
    if (!is_access(e.op) && e.op != Op::kFree) {
      return Status::bad_input(text(id) + " is no access, so it races with nothing");
    }
    const std::vector<Number>& own = run_.tapes()[raw(e.thread)].events;
    if (const std::size_t done = machine_.done(raw(e.thread)); own[done] != id) {
      return Status::bad_input(text(id) + " cannot come next: " + text(own[done]) + " comes before it in its thread");
    }
    if (const std::optional<Number> before = missing(id, steps)) {
      return Status::bad_input(text(id) + " cannot come next: " + text(*before) + " must come before it");
    }
    SOOTH_RETURN_IF_ERROR(machine_.arrive(id));
    ready.op = e.op;
    ready.bytes.assign(run_.stretches(id).begin(), run_.stretches(id).end());
    return ready;
  }
  ready.text = detour_text(*next.unexecuted);
  if (!is_access(next.unexecuted->op)) {
    return Status::bad_input(ready.text + " is no access, so it races with nothing");
  }
  SOOTH_RETURN_IF_ERROR(clear_way_beside(next.thread, steps));
  SOOTH_RETURN_IF_ERROR(check_begun(next.thread, steps));
  Result<CheckMachine::Touched> touched = machine_.arrive(*next.unexecuted);
  if (!touched.ok()) {
    return touched.status();
  }
  if (next.branch && run_.program().ref(*machine_.left_at(raw(next.thread))) != *next.branch) {
    return Status::bad_input(ready.text + " is behind another branch than the witness says");
  }
  ready.op = next.unexecuted->op;
  ready.bytes = std::move(*touched);
  return ready;
}

Status Checker::check_next() {
  const Result<Ready> first = ready(witness_.next[0]);
  if (!first.ok()) {
    return first.status();
  }
  const Result<Ready> second = ready(witness_.next[1]);
  return second.ok() ? check_conflict(*first, *second) : second.status();
}

Status Checker::check_conflict(const Ready& a, const Ready& b) const {
  const auto no_conflict = [&](const char* why) {
    return Status::bad_input(a.text + " and " + b.text + " do not conflict: " + why);
  };
  if (!is_write(a.op) && !is_write(b.op)) {
    return no_conflict("neither writes");
  }
  if (is_atomic(a.op) && is_atomic(b.op)) {
    return no_conflict("both are atomic");
  }
  for (const Stretch& of_a : a.bytes) {
    for (const Stretch& of_b : b.bytes) {
      if (of_a.overlaps(of_b)) {
        return {};
      }
    }
  }
  return no_conflict("no byte of the same generation belongs to both");
}

}  // namespace

ValueJudge::ValueJudge(std::unique_ptr<RecordedRun> run, std::span<const EventId> unnamed)
    : run_(std::move(run)), unnamed_(unnamed.begin(), unnamed.end()) {}
ValueJudge::ValueJudge(ValueJudge&&) noexcept = default;
ValueJudge& ValueJudge::operator=(ValueJudge&&) noexcept = default;
ValueJudge::~ValueJudge() = default;

Result<ValueJudge> ValueJudge::make(const DeepProgram& program, const TraceView& trace,
                                    std::span<const EventId> unnamed) {
  if (trace.events.size() > kMaxEvents) {
    return Status::bad_input("a value witness for a trace of " + std::to_string(trace.events.size()) +
                             " events cannot be checked: they are too many");
  }
  if (!trace.values.empty() && trace.values.size() != trace.events.size()) {
    return Status::bad_input("the trace has " + std::to_string(trace.events.size()) + " events and " +
                             std::to_string(trace.values.size()) + " values");
  }
  return ValueJudge(std::make_unique<RecordedRun>(program, trace), unnamed);
}

Status ValueJudge::check(const ValueWitness& witness) const { return Checker(*run_, unnamed_, witness).check(); }

Status check_value_witness(const DeepProgram& program, const TraceView& trace, std::span<const DeepRecord> records,
                           const ValueWitness& witness) {
  TraceView view = trace;
  view.deep = records;
  const Result<ValueJudge> judge = ValueJudge::make(program, view);
  return judge.ok() ? judge->check(witness) : judge.status();
}

}  // namespace sooth
