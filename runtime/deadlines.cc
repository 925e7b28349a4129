// Time passes: deadlines of blocked threads, and when they fire. The rules are those of clock.h.
#include "runtime/options.h"
#include "runtime/turn.h"
#include "runtime/turn_state.h"

namespace sooth::rt::turn {

using sooth::control::StretchEnd;
using virtual_clock::kNever;

namespace {

// All of it is protected by lock_.
u64 alarm_ = kNever;  // virtual time, atomic: no deadline is earlier
u64 idle_since_ = 0;  // CLOCK_MONOTONIC: nobody is ready, and a deadline is waited for in real time. 0: not so
u64 waited_ = 0;      // real time that was idle, less what the virtual clock has jumped since
u64 longest_delay_ = 0;
Node* keeper_ = nullptr;  // has the deadline that is waited for

// How often a thread looks at what somebody unseen may have done.
constexpr u64 kLookEvery = 100'000'000;
// Accesses of a controlled run that count together.
constexpr u64 kBlock = 4096;
// Of the option virtual_time.
constexpr long kBySchedule = 2;

Node* earliest_deadline() {
  Node* earliest = nullptr;
  for (Node* n = blocked_.first(); n != nullptr; n = n->next) {
    if (n->deadline < (earliest == nullptr ? kNever : earliest->deadline)) earliest = n;
  }
  return earliest;
}

void fire_due() {
  Node* n;
  while ((n = earliest_deadline()) != nullptr && n->deadline <= virtual_clock::now()) end_wait(n, Wake::kTimedOut);
  __atomic_store_n(&alarm_, n == nullptr ? kNever : n->deadline, __ATOMIC_RELAXED);
}

// To the deadline, the earliest, and those that fire with it.
void jump_to(u64 deadline) {
  u64 last = deadline;
  for (Node* n = blocked_.first(); n != nullptr; n = n->next) {
    if (n->deadline > last && n->deadline <= deadline + virtual_clock::kSlack) last = n->deadline;
  }
  u64 jumped = virtual_clock::advance_to(last);
  waited_ -= jumped < waited_ ? jumped : waited_;
  fire_due();
}

void spend(Node* n, u64 time) {
  n->worked += time;
  virtual_clock::work(time);
}

// What is to be waited in real time until a deadline fires, from idle_since_ on.
u64 real_rest(const Node* n) {
  u64 now = virtual_clock::now();
  u64 rest = n->deadline > now ? n->deadline - now : 0;
  u64 waited = waited_ > n->waited ? waited_ - n->waited : 0;
  return rest > waited ? rest - waited : 0;
}

void set_wake_at(Node* n, u64 moment) {
  if (n->polls && !recorder.controlled) {
    u64 look = virtual_clock::real_now() + kLookEvery;
    if (look < moment) moment = look;
  }
  __atomic_store_n(&n->wake_at, moment, __ATOMIC_RELEASE);
}

void begin_idling(Node* keeper) {
  if (idle_since_ == 0) idle_since_ = virtual_clock::real_now();
  keeper_ = keeper;
  set_wake_at(keeper, idle_since_ + real_rest(keeper));
  // It may sleep already, without a limit.
  u32* word = &keeper->thread->turn_word;
  if (__atomic_exchange_n(word, kDisturbed, __ATOMIC_ACQ_REL) == kAsleep) futex_wake(word, 1);
}

// A thread that could run is kept from it until this deadline.
void note_delay(const Node* n) {
  u64 now = virtual_clock::now();
  if (n->deadline <= now) return;
  u64 delay = n->deadline - now;
  if (delay > longest_delay_) longest_delay_ = delay;
  if (recorder.controlled) controlled::log(sooth::control::RecordKind::kEarly, n->id, delay);
}

// The thread yields, and nobody else is ready. It may wait in a loop for whoever sleeps, or be about to do something, also
// to sleep for a shorter time. So the clock jumps as far only as it has yielded often, without a wait in between.
void pass_vain_yield(Node* n) {
  constexpr u32 kYieldsPerDoubling = 2, kMostDoublings = 48;
  u32 doublings = n->vain_yields++ / kYieldsPerDoubling;
  u64 farthest = virtual_clock::kYield << (doublings < kMostDoublings ? doublings : kMostDoublings);
  const Node* earliest = earliest_deadline();
  if (earliest != nullptr && earliest->deadline <= virtual_clock::now() + farthest) let_time_pass();
}

// Real time has come to a deadline.
void fire_externally(Node* n) {
  if (recorder.controlled) controlled::log_external(n->id, sooth::control::External::kDeadline);
  if (!virtual_clock::is_on()) {
    end_wait(n, Wake::kTimedOut);
    return;
  }
  end_idling();
  jump_to(n->deadline);
}

}  // namespace

void restart_time() {
  alarm_ = kNever;
  longest_delay_ = 0;
  idle_since_ = 0;
  keeper_ = nullptr;
  bool by_schedule = recorder.controlled ? !controlled::has_flag(sooth::control::kRealTime) : asks_at_operations();
  virtual_clock::start(options.virtual_time == kBySchedule ? by_schedule : options.virtual_time != 0);
}

void begin_wait(Node* n, uptr object, BlockedOn on, u64 deadline, bool polls) {
  set_state(n, State::kBlocked);
  n->object = object;
  n->blocked_on = on;
  n->polls = polls;
  n->deadline = deadline;
  n->early_at = EarlyEnds::kNotEarly;
  if (virtual_clock::is_on() && n->has_deadline() && !polls) {
    u64 now = virtual_clock::now();
    n->early_at = draw_early(deadline > now ? deadline - now : 0);
  }
  if (may_wake_spuriously(n)) n->early_at = draw_spurious();
  n->waited = waited_;
  set_wake_at(n, virtual_clock::is_on() ? kNever : deadline);
  blocked_.push_back(n);
  if (virtual_clock::is_on() && deadline < alarm_) __atomic_store_n(&alarm_, deadline, __ATOMIC_RELAXED);
  if (n->has_deadline() || polls) wake_monitor();
}

bool is_time_awaited() {
  if (!virtual_clock::is_on()) return false;  // they wake up by themselves
  Node* n = blocked_.first();
  while (n != nullptr && !n->has_deadline() && !n->polls) n = n->next;
  return n != nullptr;
}

void end_wait(Node* n, Wake why) {
  blocked_.remove(n);
  n->woken = why;
  n->timed_out = why != Wake::kWoken;
  make_ready(n);
}

void end_idling() {
  if (idle_since_ == 0) return;
  waited_ += virtual_clock::real_now() - idle_since_;
  idle_since_ = 0;
  set_wake_at(keeper_, kNever);
  keeper_ = nullptr;
}

void look_at_clock(Node* n) {
  u64 now = virtual_clock::real_now();
  if (!virtual_clock::is_on()) {
    if (now >= n->deadline)
      fire_externally(n);
    else if (n->polls)
      end_wait(n, Wake::kLook);
    return;
  }
  // While others work, looking can wait: the moment would not be the same in another run.
  bool idle = holder_ == nullptr;
  if (idle && n == keeper_ && now >= idle_since_ + real_rest(n))
    fire_externally(n);
  else if (idle && n->polls && !recorder.controlled)
    end_wait(n, Wake::kLook);
  else
    set_wake_at(n, n == keeper_ ? idle_since_ + real_rest(n) : kNever);
}

void let_time_pass() {
  if (!virtual_clock::is_on()) return;
  Node* n = earliest_deadline();
  if (n == nullptr) return;
  // A postponed thread could run, and might be what the other one waits for. Before it is kept from that for so long, it
  // goes on. Who only sleeps waits for nobody.
  if (postponed_.first() != nullptr && n->blocked_on != BlockedOn::kUnknown &&
      n->deadline > virtual_clock::now() + EarlyEnds::kLongest)
    return;
  if (outside_.first() != nullptr) {
    begin_idling(n);
    return;
  }
  if (postponed_.first() != nullptr) note_delay(n);
  jump_to(n->deadline);
}

u64 longest_delay() { return longest_delay_; }

bool may_wake_spuriously(const Node* n) {
  return n->blocked_on == BlockedOn::kCondition && !n->has_deadline() && !n->polls && recorder.controlled &&
         controlled::has_flag(sooth::control::kSpuriousWakes);
}

bool fire_now(Node* n) {
  if (may_wake_spuriously(n)) {
    controlled::log(sooth::control::RecordKind::kEarly, n->id, sooth::control::kSpurious);
    n->was_spurious = true;
    end_wait(n, Wake::kSpurious);
    return true;
  }
  if (n->polls && recorder.controlled && !n->has_deadline()) {
    end_wait(n, Wake::kLook);
    return true;
  }
  if (!virtual_clock::is_on() || !n->has_deadline()) return false;
  u64 before = virtual_clock::now();
  bool others = ready_.first() != nullptr || (holder_ != nullptr && holder_->state == State::kRunning);
  if (others) note_delay(n);
  // With those that fire together, as when nobody was ready.
  if (n->deadline > before) jump_to(earliest_deadline()->deadline);
  if (n->state != State::kBlocked) return true;
  virtual_clock::advance_to(n->deadline);
  end_wait(n, Wake::kTimedOut);
  return true;
}

void count_work(Node* n) {
  if (!virtual_clock::is_on() || !recorder.controlled || n->thread == nullptr) return;
  // How far a thread has come is the same wherever schedules are the same, also when one is followed that was not
  // drawn. Accesses count in blocks: whether the one in front of which a thread was stopped is among them depends on
  // why it was.
  u64 blocks = controlled::calls_of(n->thread) / kBlock;
  u64 work =
      n->thread->progress.events * virtual_clock::kStep + blocks * (kBlock / kOperationWeight) * virtual_clock::kStep;
  if (work > n->counted_work) spend(n, work - n->counted_work);
  n->counted_work = work;
}

void spend_time(Node* n, SchedulingPoint point, StretchEnd how, u32 quantum) {
  if (!virtual_clock::is_on()) return;
  count_work(n);
  if (how == StretchEnd::kYielded) spend(n, virtual_clock::kYield);
  if (!recorder.controlled && how != StretchEnd::kYielded)
    spend(n, virtual_clock::kStep * (point == SchedulingPoint::kQuantum ? 1 + quantum / kOperationWeight : 1));
  if (follows_stretches()) return;
  if (virtual_clock::now() >= alarm_) fire_due();
  if (point == SchedulingPoint::kYield && ready_.first() == nullptr && outside_.first() == nullptr) pass_vain_yield(n);
}

u64 tell_time(Thread* t) {
  hold(t);
  t->special &= ~kStill;
  count_work(node_of(t));
  spend(node_of(t), virtual_clock::kReading);
  if (virtual_clock::now() >= __atomic_load_n(&alarm_, __ATOMIC_RELAXED) && !follows_stretches()) {
    Locked locked(t);
    fire_due();
  }
  return virtual_clock::now();
}

u64 worked(const Thread* t) { return node_of(t)->worked; }

}  // namespace sooth::rt::turn
