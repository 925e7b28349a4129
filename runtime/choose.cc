// Who has the turn next: the strategy of a recording, or what the control file of a controlled run asks for.
#include "runtime/options.h"
#include "runtime/turn.h"
#include "runtime/turn_state.h"

namespace sooth::rt::turn {

using sooth::control::Divergence;
using sooth::control::Plan;
using sooth::control::RecordKind;
using sooth::control::StretchEnd;

namespace {

StrategySpec strategy_spec_;
u64 seed_ = 0;
u32 quantum_ = 1;
Strategy strategy_;

// Controlled runs only.
Plan plan_ = Plan::kStrategy;
Directed directed_;
StretchFollower stretches_;
bool follows_ = false;  // stretches_ says who is next
bool diverged_ = false;
bool awaits_return_ = false;  // of a thread that went outside where the stretches do not say so
bool awaits_outside_ = true;  // see may_return()
ChoiceFollower choices_;
u64 hook_calls_ = 0;
EarlyEnds early_ends_;
u64 next_early_ = EarlyEnds::kNotEarly;  // no Node::early_at of a blocked thread is less
u64 points_ = 0;
u64 yields_ = 0;           // of those points
u64 polled_at_ = ~u64{0};  // operations of the process when those who poll last looked
u64 changes_ = 0;          // times that a thread may have done what others wait for, while some are postponed
u64 moves_ = 0;            // times that a thread may have changed anything
bool ends_hangs_ = false;

// The quantum of a thread that follows a schedule to its next operation; and points it passes on the way, quanta
// counting more, before it is taken for one that waits in a loop.
constexpr u32 kLongQuantum = 1u << 20;
constexpr u32 kMostWithoutStop = 1u << 18;
constexpr u32 kQuantumWeight = 64;

void count_calls(Node* n) {
  if (n->thread == nullptr) return;
  u64 calls = controlled::calls_of(n->thread);
  hook_calls_ += calls - n->counted_calls;
  n->counted_calls = calls;
}

void let_go(Node* n, u64 why) {
  controlled::log(RecordKind::kLetGo, n->id, why);
  postponed_.remove(n);
  make_ready(n);
  ++changes_;
}

Node* find(const Queue& queue, u32 id) {
  Node* n = queue.first();
  while (n != nullptr && n->id != id) n = n->next;
  return n;
}

void diverge(u32 thread, Divergence why, u64 found) {
  if (!diverged_) {
    u32 index = plan_ == Plan::kChoices ? choices_.index() - 1 : stretches_.index();
    controlled::log(RecordKind::kDiverged, thread, index, static_cast<u64>(why), found);
    controlled::set_state(sooth::control::RunState::kDiverged);
  }
  diverged_ = true;
  follows_ = false;
}

// How a thread stopped that is in no queue of those that can run; a thread that is gone has ended.
StretchEnd stopped_by(u32 id) {
  if (Node* n = find(blocked_, id)) return n->stopped_by;
  return StretchEnd::kEnded;
}

enum class Turn : u8 { kGiven, kAwaited, kNone };

// The turn is that of the current stretch's thread. kAwaited: it will come back from outside. kNone: there is no such
// thread; diverged.
Turn give_to_wanted(Node* from, bool goes_on, Node*& next) {
  u32 id = stretches_.wanted();
  next = goes_on && from->id == id ? from : find(ready_, id);
  if (next != nullptr) return Turn::kGiven;
  if ((next = find(postponed_, id)) != nullptr) {
    postponed_.remove(next);
    make_ready(next);
    return Turn::kGiven;
  }
  // A sleep, or a wait that nobody ends: its time has come, or it ends for no reason. Predicted schedules do not tell.
  Node* blocked = find(blocked_, id);
  bool ends = blocked != nullptr &&
              (stretches_.current().timed_out != 0 || blocked->has_deadline() || may_wake_spuriously(blocked));
  if (ends && fire_now(blocked)) {
    next = blocked;
    return Turn::kGiven;
  }
  if (find(outside_, id) != nullptr || (ends && blocked->has_deadline())) return Turn::kAwaited;
  if (id == sooth::control::kNone)
    diverge(stretches_.current().thread, Divergence::kNoThread, 0);
  else
    diverge(id, Divergence::kNotReady, static_cast<u64>(stopped_by(id)));
  return Turn::kNone;
}

// Takes the next stretch if that of `from` is over. False: there is none to follow any more.
bool follow_on(Node* from, bool goes_on, StretchEnd how, bool at_operation) {
  switch (stretches_.look(controlled::position_of(from->thread), how, controlled::operations_hash(),
                          at_operation || !goes_on)) {
    case StretchFollower::Verdict::kGoesOn:
      awaits_return_ = !goes_on;
      if (!goes_on) return true;
      from->unstopped += at_operation ? 1 : kQuantumWeight;
      if (from->unstopped > kMostWithoutStop)
        diverge(from->id, Divergence::kEarly, static_cast<u64>(StretchEnd::kSpun));
      return follows_;
    case StretchFollower::Verdict::kDiverges:
      // It fell asleep on the way, which is nothing that a schedule has to mention.
      if (how == StretchEnd::kBlocked && stretches_.divergence() == Divergence::kEarly && from->has_deadline())
        return true;
      diverge(from->id, stretches_.divergence(), stretches_.found());
      return false;
    case StretchFollower::Verdict::kIsOver: break;
  }
  stretches_.advance();
  if (stretches_.is_over()) {
    follows_ = false;
    return false;
  }
  // It yielded more than once at the same place, and while nobody else could run it went on.
  u32 id = stretches_.wanted();
  bool fires = stretches_.current().timed_out != 0 && find(blocked_, id) != nullptr;
  bool can_run = find(ready_, id) != nullptr || find(outside_, id) != nullptr || fires;
  if (how == StretchEnd::kYielded && goes_on && id != from->id && !can_run) stretches_.retreat();
  return true;
}

// A deadline fires although somebody could run, and its thread goes on at once: so whoever follows the schedule knows
// when time has passed. nullptr: none does.
Node* fire_early() {
  if (points_ < next_early_ || follows_) return nullptr;
  Node* fired = nullptr;
  next_early_ = EarlyEnds::kNotEarly;
  for (Node* n = blocked_.first(); n != nullptr; n = n->next) {
    if (n->early_at <= points_ && fired == nullptr)
      fired = n;
    else if (n->early_at < next_early_)
      next_early_ = n->early_at;
  }
  return fired != nullptr && fire_now(fired) ? fired : nullptr;
}

Node* choose_by_strategy(Node* from, SchedulingPoint point) {
  for (Node* n = ready_.first(); n != nullptr; n = n->next) {
    if (!n->is_urgent) continue;
    n->is_urgent = false;
    // Its access and no more: then the next one that lost the race, or anybody.
    controlled::set_quantum(n->thread, 1);
    return n;
  }
  if (Node* n = fire_early()) return n;
  return strategy_.choose(ready_.first(), point == SchedulingPoint::kBlocked ? nullptr : from, point);
}

// Node::early_at so many points from here, or kNotEarly.
u64 early_in(u64 points) {
  if (points == EarlyEnds::kNotEarly) return points;
  if (points_ + points < next_early_) next_early_ = points_ + points;
  return points_ + points;
}

// Where every choice is told, it may be one of a thread whose deadline fires: that of a sleep, which orders nothing, or one
// that others were not kept from running for too long to prevent. Or of one that is woken for no reason, once and while
// `others` can go on: else loops that wait would have no end, and no deadlock would be one.
bool can_fire(const Node* n, bool others) {
  if (virtual_clock::is_on() && n->has_deadline() && !n->polls) {
    bool sleeps = n->blocked_on == BlockedOn::kUnknown;
    return sleeps || !others || n->deadline <= virtual_clock::now() + EarlyEnds::kLongest;
  }
  return others && !n->was_spurious && may_wake_spuriously(n);
}

// `waits`: nobody has the turn although somebody could.
Node* choose_by_plan(Node* from, SchedulingPoint point, StretchEnd how, bool at_operation, bool& waits) {
  bool goes_on = point != SchedulingPoint::kBlocked;
  if (follows_ && (from == nullptr || from->id != stretches_.wanted() || follow_on(from, goes_on, how, at_operation))) {
    Node* next = nullptr;
    Turn turn = give_to_wanted(from, goes_on, next);
    waits = turn == Turn::kAwaited;
    if (turn != Turn::kNone) return next;
  }
  if (plan_ != Plan::kChoices) return choose_by_strategy(from, point);
  bool others = goes_on || ready_.first() != nullptr;
  Node* next = choices_.choose(ready_.first(), goes_on ? from : nullptr, point, blocked_.first(),
                               [others](const Node* n) { return can_fire(n, others); });
  if (next != nullptr && next->state == State::kBlocked) fire_now(next);
  if (choices_.has_failed())
    diverge(choices_.wanted(), Divergence::kNotReady, static_cast<u64>(stopped_by(choices_.wanted())));
  return next;
}

// The race that a schedule leads to may need somebody who is outside, and mostly on the way back: in a read of what was
// written just now. The monitor ends it when that takes too long.
bool may_return() {
  return plan_ == Plan::kStretches && !diverged_ && controlled::has_sites() && awaits_outside_ &&
         outside_.first() != nullptr;
}

// Everybody that could run waits for something that is not going to happen by itself.
Node* choose_when_none_is_ready() {
  let_time_pass();
  if (ready_.first() != nullptr) return choose_by_strategy(nullptr, SchedulingPoint::kBlocked);
  if (postponed_.first() != nullptr && may_return()) return nullptr;
  if (Node* n = directed_.release(postponed_.first())) {
    let_go(n, 0);
    return n;
  }
  if (polled_at_ != controlled::operations()) {
    polled_at_ = controlled::operations();
    for (Node* n = blocked_.first(); n != nullptr;) {
      Node* next = n->next;
      if (n->polls) end_wait(n, Wake::kLook);
      n = next;
    }
    if (ready_.first() != nullptr) return ready_.first();
  }
  end_if_deadlocked();
  return nullptr;
}

// The thread, which could go on, waits in a loop for what another does.
bool is_waiting(Node* n, StretchEnd how) {
  constexpr u32 kMostYields = 32;
  return how == StretchEnd::kSpun || (how == StretchEnd::kYielded && ++n->yields > kMostYields);
}

void watch(Thread* t) {
  t->progress.next_watch = controlled::calls_of(t) + quantum_;
  t->spin.start();
  t->special |= kWatched;
}

// `from` gives way, or blocks until a deadline: a round of the loop that it waits in is over, if it waits in one. `flag`
// of Thread::special: nothing has happened since the last, of the kind that `happened` counts.
void count_round(Node* from, StretchEnd how, u32 flag, u64& happened, Rounds& rounds) {
  constexpr u32 kRoundsInWindow = 8;  // of SpinWatch, at least: its loops look at few places
  bool is_round =
      how == StretchEnd::kSpun || how == StretchEnd::kYielded || (how == StretchEnd::kBlocked && from->has_deadline());
  u32& special = from->thread->special;
  if ((special & flag) == 0) ++happened;
  if (is_round) special |= flag;
  // Where threads are postponed it is worth a look at any time.
  if ((special & kWatched) == 0 && (flag == kQuiet || (special & flag) != 0)) watch(from->thread);
  if (rounds.since != happened)
    rounds = {0, happened};
  else if (is_round)
    rounds.count += how == StretchEnd::kSpun ? kRoundsInWindow : 1;
}

// Rounds in which each of those that may go on without the postponed has only waited. 0: one of them does something.
u32 rounds_in_vain(const Node* running, Rounds Node::*counted, u64 happened) {
  u32 least = ~0u;
  auto look_at = [=, &least](const Node* n) {
    u32 rounds = (n->*counted).since == happened ? (n->*counted).count : 0;
    if (rounds < least) least = rounds;
  };
  if (running != nullptr) look_at(running);
  for (Node* n = ready_.first(); n != nullptr; n = n->next) look_at(n);
  for (Node* n = blocked_.first(); n != nullptr; n = n->next)
    if (n->has_deadline() || n->polls) look_at(n);
  return outside_.first() != nullptr || least == ~0u ? 0 : least;
}

// How often each thread of a run looks at the same things before that is a hang: most loops that count their rounds give
// up sooner.
constexpr u32 kRoundsOfHang = 1024;

void look_for_hang(Node* from, StretchEnd how, const Node* running) {
  count_round(from, how, kStill, moves_, from->still);
  if (rounds_in_vain(running, &Node::still, moves_) < kRoundsOfHang) return;
  end_if_hung();
  ++moves_;  // somebody may still do something: it takes as long again
}

u64 ready_bits(const Node* running) {
  bool others = running != nullptr || ready_.first() != nullptr;
  u64 bits = running != nullptr && running->id < 64 ? u64{1} << running->id : 0;
  for (Node* n = ready_.first(); n != nullptr; n = n->next) bits |= n->id < 64 ? u64{1} << n->id : 0;
  for (Node* n = blocked_.first(); n != nullptr && plan_ == Plan::kChoices; n = n->next)
    bits |= n->id < 64 && can_fire(n, others) ? u64{1} << n->id : 0;
  return bits;
}

}  // namespace

void set_strategy(const StrategySpec& spec, u64 seed) {
  strategy_spec_ = spec;
  seed_ = seed;
}

void restart_choices() {
  quantum_ = options.quantum < 1 ? 1 : static_cast<u32>(options.quantum);
  if (recorder.controlled) {
    const sooth::control::ControlHeader& header = controlled::header();
    plan_ = controlled::plan();
    if (header.quantum != 0) quantum_ = header.quantum;
    // RaceFuzzer chooses any thread at any state.
    if (plan_ == Plan::kDirected) strategy_spec_ = {StrategyKind::kRandom, 1, 0};
    directed_ = Directed(header.seed, header.patience);
    stretches_ = controlled::make_stretch_follower();
    choices_ = controlled::make_choice_follower();
    follows_ = plan_ == Plan::kStretches && !stretches_.is_over();
    diverged_ = awaits_return_ = false;
    awaits_outside_ = true;
    hook_calls_ = 0;
    changes_ = moves_ = 0;
    ends_hangs_ = controlled::has_flag(sooth::control::kEndHangs) && !controlled::has_flag(sooth::control::kWeakMemory);
    polled_at_ = ~u64{0};
  }
  strategy_ = Strategy(strategy_spec_, seed_, quantum_);
  early_ends_ = EarlyEnds(seed_);
  next_early_ = EarlyEnds::kNotEarly;
  points_ = 0;
  yields_ = 0;
}

u64 draw_early(u64 ahead) {
  bool draws = options.early_ends && !follows_ && strategy_spec_.kind != StrategyKind::kSerial &&
               !(recorder.controlled && plan_ == Plan::kChoices);
  return early_in(draws ? early_ends_.draw(ahead) : EarlyEnds::kNotEarly);
}

u64 draw_spurious() {
  return early_in(follows_ || plan_ == Plan::kChoices ? EarlyEnds::kNotEarly : early_ends_.draw_spurious());
}

bool follows_stretches() { return follows_; }

Node* wanted_among_waiting(uptr condition) {
  constexpr u32 kFarthest = 4096;  // what comes later does not matter so much
  if (!follows_) return nullptr;
  u32 end = stretches_.count() - stretches_.index() > kFarthest ? stretches_.index() + kFarthest : stretches_.count();
  Node* wanted = nullptr;
  for (Node* n = blocked_.first(); n != nullptr; n = n->next) {
    if (n->object != condition || n->blocked_on != BlockedOn::kCondition) continue;
    u32 i = stretches_.index();
    while (i < end && stretches_.id_of(stretches_.at(i).thread) != n->id) ++i;
    if (i == end || stretches_.at(i).timed_out != 0) continue;  // nobody wakes it
    end = i;
    wanted = n;
  }
  return wanted;
}

Node* drawn_among_waiting(uptr condition, Node* notifier) {
  u32 count = 0;
  for (Node* n = blocked_.first(); n != nullptr; n = n->next)
    count += n->object == condition && n->blocked_on == BlockedOn::kCondition ? 1 : 0;
  if (count < 2 || notifier == nullptr) return nullptr;
  u32 number = notifier->notified++;
  bool is_chosen = recorder.controlled && plan_ == Plan::kChoices;
  u32 place = is_chosen ? controlled::chosen_place(notifier->id, number) : strategy_.draw(count);
  if (place >= count) place = 0;
  if (is_chosen) controlled::log(RecordKind::kWake, notifier->id, number, place, count);
  Node* n = blocked_.first();
  for (u32 left = place;; n = n->next)
    if (n->object == condition && n->blocked_on == BlockedOn::kCondition && left-- == 0) return n;
}

bool stop_awaiting_return() {
  if (postponed_.first() != nullptr && may_return()) {
    awaits_outside_ = false;
    return true;
  }
  if (!follows_ || !awaits_return_) return false;
  diverge(stretches_.wanted(), Divergence::kEarly, static_cast<u64>(StretchEnd::kOutside));
  return true;
}

void admit(Node* n) { strategy_.admit(n->standing); }
void dismiss(Node*) { strategy_.dismiss(); }

void log_events(const Node* n) {
  if (recorder.controlled && !controlled::has_flag(sooth::control::kLogPoints))
    controlled::log(RecordKind::kEvents, n->id, n->events, n->standing.number - 1);
}

bool has_goals() { return recorder.controlled && strategy_.has_goals(); }

void observe(Thread* t, u64 place, uptr object, bool writes) {
  Locked locked(t);
  strategy_.observe({node_of(t)->standing.number, place, object / sooth::control::kGranule, writes});
}

bool asks_at_operations() {
  return strategy_spec_.kind != StrategyKind::kSerial || (recorder.controlled && plan_ != Plan::kStrategy);
}

u32 grant(Node* n) {
  if (!recorder.controlled) return strategy_.grant(n->standing);
  Thread* t = n->thread;
  if (!follows_ && controlled::calls_of(t) >= t->progress.next_watch) watch(t);
  // One more for the access that it is in front of. Directed runs change threads at operations and sites only.
  return 1 + (plan_ == Plan::kStrategy || diverged_ ? strategy_.grant(n->standing) : quantum_);
}

Node* choose_next(Node* from, SchedulingPoint point, StretchEnd how, bool at_operation) {
  bool goes_on = point != SchedulingPoint::kBlocked;
  ++points_;
  yields_ += point == SchedulingPoint::kYield ? 1 : 0;
  if (!recorder.controlled) {
    Node* next = fire_early();
    if (next == nullptr) next = strategy_.choose(ready_.first(), goes_on ? from : nullptr, point);
    if (next == nullptr) end_if_deadlocked();
    return next;
  }
  if (from != nullptr) count_calls(from);
  publish_run();
  while (Node* n = directed_.impatient(postponed_.first(), waiting_time())) let_go(n, 1);
  if (postponed_.first() != nullptr && !follows_ && from != nullptr && from->thread != nullptr) {
    count_round(from, how, kQuiet, changes_, from->quiet);
    u32 rounds = rounds_in_vain(goes_on ? from : nullptr, &Node::quiet, changes_);
    if (Node* n = directed_.outwaited(postponed_.first(), rounds)) let_go(n, 1);
  }
  if (ends_hangs_ && !follows_ && from != nullptr && from->thread != nullptr)
    look_for_hang(from, how, goes_on ? from : nullptr);
  if (ready_.first() == nullptr && is_waiting(from, how)) {
    // What it waits for is up to somebody who waits for it.
    if (Node* n = directed_.release(postponed_.first())) let_go(n, 0);
  }
  bool logs = controlled::has_flag(sooth::control::kLogPoints);
  u64 ready = logs ? ready_bits(goes_on ? from : nullptr) : 0;
  bool waits = false;
  Node* next = choose_by_plan(from, point, how, at_operation, waits);
  if (next == nullptr && !waits) next = choose_when_none_is_ready();
  if (logs) {
    u32 none = sooth::control::kNone;
    controlled::log(RecordKind::kPoint, from == nullptr ? none : from->id, ready, next == nullptr ? none : next->id,
                    static_cast<u64>(point) | static_cast<u64>(how) << 8);
  }
  return next;
}

void end_stretch(Node* n, StretchEnd how) {
  if (!recorder.controlled || n->thread == nullptr) return;
  count_calls(n);
  Position p = controlled::position_of(n->thread);
  controlled::log(RecordKind::kStretch, n->id, p.events, p.accesses,
                  static_cast<u64>(how) | u64{n->timed_out} << 8 | u64{controlled::operations_hash()} << 32);
  n->stopped_by = how;
  n->yields = 0;
  n->timed_out = false;
}

void begin_stretch(Thread* t) {
  awaits_return_ = false;
  if (!follows_ || node_of(t)->id != stretches_.wanted()) return;
  node_of(t)->unstopped = 0;
  u64 left = stretches_.accesses_left(controlled::position_of(t));
  controlled::set_quantum(t, left >= kLongQuantum ? kLongQuantum : static_cast<u32>(left) + 1);
}

void keep_turn(Thread* t) {
  if (!follows_ || node_of(t)->id != stretches_.wanted()) return;
  // Where it is to stop by itself, it is about to do so.
  u64 left = stretches_.accesses_left(controlled::position_of(t));
  controlled::set_quantum(t, left == 0 || left >= kLongQuantum ? kLongQuantum : static_cast<u32>(left) + 1);
}

void operation_done(Thread* t) {
  if (follows_) begin_stretch(t);
}

void thread_created(u32 id, u32 parent, u32 child) {
  Locked locked(current());  // a thread that libc has started has no turn yet
  stretches_.created(id, parent, child);
}

bool is_directed(Thread* t) {
  if (plan_ == Plan::kDirected) return true;
  if (plan_ != Plan::kStretches || diverged_ || !controlled::has_sites()) return false;
  return !follows_ || (node_of(t)->id == stretches_.wanted() && stretches_.wants_postponed(controlled::position_of(t)));
}

Approach decide_approach(Thread*, const SiteAccess& access) {
  // Only at its end does a schedule meet the race.
  if (follows_ && !stretches_.is_last()) return Approach::kPostpone;
  // Threads that are outside come back at a moment that is not up to the schedule: only who follows one waits for them.
  bool alone = ready_.first() == nullptr && !may_return();
  for (Node* n = blocked_.first(); n != nullptr; n = n->next) alone = alone && !n->has_deadline();
  Approach approach = directed_.approach<Node>(access, postponed_.first(), alone);
  if (approach == Approach::kGoesFirst) follows_ = false;
  return approach;
}

void release_before_end() {
  if (follows_ || ready_.first() != nullptr) return;
  if (Node* n = directed_.release(postponed_.first())) let_go(n, 0);
}

void begin_postponement(Node* n) {
  n->postponed_at = waiting_time();
  n->rounds = directed_.draw_rounds();
  ++changes_;
}

// A change of threads takes as long as some tens of hooks, on a busy machine as hundreds; and who yields says that it
// waits. Threads that yield to each other in loops must not cost seconds.
u64 waiting_time() {
  constexpr u64 kHooksPerPoint = 32, kHooksPerYield = 480;
  return hook_calls_ + kHooksPerPoint * points_ + kHooksPerYield * yields_;
}
void publish_run() { controlled::publish_counts(hook_calls_, points_); }

}  // namespace sooth::rt::turn
