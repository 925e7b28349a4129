// What the scheduler knows, for turn.cc (threads come and go), turn_points.cc (where they ask for the turn), choose.cc
// (who is next), deadlines.cc (time passes) and those beside them. Nobody else.
#pragma once

#include "runtime/clock.h"
#include "runtime/control.h"
#include "runtime/thread.h"
#include "runtime/turn.h"
#include "schedule/early_ends.h"
#include "schedule/strategy.h"

namespace sooth::rt::turn {

// What an operation counts of the quantum.
inline constexpr u32 kOperationWeight = 64;

// Thread::turn_state. Hooks compare it with 0 only.
inline constexpr u32 kHasIt = 0;
inline constexpr u32 kBeingTaken = 1;  // the monitor is about to take the turn away; it has the lock
inline constexpr u32 kAway = 2;        // left, or the turn was taken away
inline constexpr u32 kQueues = 3;      // ready, blocked or postponed

// Thread::turn_word, the futex on which a thread waits for the turn.
inline constexpr u32 kNoTurn = 0;
inline constexpr u32 kTurn = 1;
inline constexpr u32 kAsleep = 2;     // whoever gives the turn must wake the thread
inline constexpr u32 kDisturbed = 3;  // a handler waits to be run

enum class State : u32 { kRunning, kReady, kBlocked, kOutside, kPostponed };

// Of a loop in which a thread waits, since something last happened.
struct Rounds {
  u32 count;
  u64 since;  // number of things that had happened then
};

// A thread as the scheduler sees it. Exists before the thread does, from announce() on.
struct Node {
  Node* next;
  Node* previous;
  Thread* thread;  // nullptr: has not arrived yet
  u32 id;          // as announced; Thread::id is another while a fiber runs
  u32 system_id;   // the kernel's
  State state;
  Standing standing;

  // Of one that is blocked, or was last.
  uptr object;       // that it is blocked on
  bool polls;        // somebody whom we do not see may do what it waits for: looks again when nobody else can run
  bool signalled;    // it was woken for a handler
  Wake woken;        // why it is blocked no more
  u64 deadline;      // virtual time, or, without that, CLOCK_MONOTONIC in nanoseconds; kNever: none
  u64 wake_at;       // atomic: CLOCK_MONOTONIC, when it must see whether its time has come; kNever: not by itself
  u64 early_at;      // number of the scheduling point at which the deadline fires, whoever else is ready
  u64 waited;        // real time of idling when it blocked; see deadlines.cc
  u64 worked;        // virtual time
  u64 counted_work;  // of that, what its position stands for
  u32 vain_yields;   // with nobody else ready, since the turn was given to it

  bool has_deadline() const { return deadline < virtual_clock::kNever; }

  // Controlled runs only.
  sooth::control::BlockedOn blocked_on;
  bool timed_out;     // has, or will get, the turn because its deadline came, or for no reason
  bool was_spurious;  // woken for no reason, once
  bool is_urgent;     // lost a race: does its access before anybody else does anything
  sooth::control::StretchEnd stopped_by;
  u64 counted_calls;  // of its hooks, in hook_calls_
  u64 postponed_at;   // waiting_time() then
  u32 rounds;         // ... and Directed::draw_rounds()
  Rounds quiet;       // of its loop: while others were postponed and nobody did what others could wait for
  Rounds still;       // ... and while nobody changed anything
  u64 events;         // of interest, that it has come to
  u32 notified;       // one of several that waited, so many times
  u32 yields;         // without a turn of others in between
  u32 unstopped;      // points at which it went on along its stretch of a schedule, since it last did an operation
  SiteAccess access;  // in front of which it is postponed
};

class Queue {
 public:
  Node* first() const { return first_; }
  void push_back(Node* n) {
    n->next = nullptr;
    n->previous = last_;
    (last_ == nullptr ? first_ : last_->next) = n;
    last_ = n;
  }
  void remove(Node* n) {
    (n->previous == nullptr ? first_ : n->previous->next) = n->next;
    (n->next == nullptr ? last_ : n->next->previous) = n->previous;
  }

 private:
  Node* first_ = nullptr;
  Node* last_ = nullptr;
};

// All of it is protected by lock_.
extern SpinLock lock_;
extern Queue ready_;      // in the order in which they became ready
extern Queue blocked_;    // in the order in which they blocked
extern Queue postponed_;  // in the order in which they were postponed
extern Queue outside_;    // those in State::kOutside
extern Node* holder_;  // has the turn. Nobody: then nobody is ready, or a schedule waits for a thread that is outside
extern u64 turns_;
extern u32 nodes_;       // threads there are
extern bool monitored_;  // ... besides which there is the monitor

// The lock, for a thread of the program: a handler must not run while it is held, not even one that finds its thread
// outside.
class Locked {
 public:
  explicit Locked(Thread* t) : t_(t) {
    if (t_ != nullptr) ++t_->busy;
    lock_.lock();
  }
  ~Locked() {
    lock_.unlock();
    if (t_ != nullptr) --t_->busy;
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  Thread* t_;
};

SOOTH_INLINE Node* node_of(const Thread* t) { return reinterpret_cast<Node*>(t->turn_data[0]); }
void set_state(Node* n, State state);
void make_ready(Node* n);
// Somebody waits for the turn, or for there to be nobody who has it.
void wake_monitor();
// Gives the turn to a thread that is ready, or to nobody. Returns the futex to wake when the lock is free again, or
// nullptr.
const u32* pass_on_to(Node* n);
// The thread that had the turn stops as `how` says.
const u32* pass_on(Node* from, sooth::control::StretchEnd how);
void wake_up(const u32* word);
// The thread, which has the turn, has it no more; it waits in a queue.
void give_up(Thread* t);
// Waits for the turn in a queue, when the lock is free and the word is woken.
void await_turn(Thread* t);

// deadlines.cc: time, as clock.h has it.
void restart_time();
// The thread, which has given up the turn, is blocked from here on, and no more.
void begin_wait(Node* n, uptr object, sooth::control::BlockedOn on, u64 deadline, bool polls);
void end_wait(Node* n, Wake why);
// It waits for a condition, and may be woken although nobody notifies.
bool may_wake_spuriously(const Node* n);
// The thread is blocked, and the moment has come at which it wanted to see whether it can go on. If so, it is ready.
void look_at_clock(Node* n);
// Somebody is blocked who goes on when nobody else can: time would pass then, or he would look again.
bool is_time_awaited();
// Nobody is ready: those are whose deadline comes next, unless somebody is outside.
void let_time_pass();
// The deadline of a blocked thread fires, whatever else is ready, and with it those that are earlier: the clock shows
// its moment. False: it has none, or time is not virtual.
bool fire_now(Node* n);
// The holder is at a scheduling point; `quantum`: the next one, which is as good a guess of the last as any.
void spend_time(Node* n, SchedulingPoint point, sooth::control::StretchEnd how, u32 quantum);
// What the holder has worked since is on the clock. It is about to look at it, or gives the turn up.
void count_work(Node* n);
// Somebody has the turn again.
void end_idling();

// choose.cc.
void restart_choices();
// Node::early_at of a wait that begins now, with a deadline so far ahead.
u64 draw_early(u64 ahead);
// The same of a wait for a condition that may end for no reason.
u64 draw_spurious();
// A schedule says who is next, and so whose deadline fires.
bool follows_stretches();
// Of those that wait for the condition variable the one that the schedule comes to first; nullptr: whoever has waited
// longest will do. A notification may wake anybody.
Node* wanted_among_waiting(uptr condition);
// Whom `notifier`, nullptr if it is nobody whom we know, wakes if nothing is wanted: nobody promises that it is who has
// waited longest. nullptr: the first.
Node* drawn_among_waiting(uptr condition, Node* notifier);
// Whoever is awaited does not come back: diverges. False: nobody is, or the schedule knows that it may take its time.
bool stop_awaiting_return();
void admit(Node* n);
void dismiss(Node* n);
// How many events of interest the thread came to, for the log.
void log_events(const Node* n);
// Does the scheduler ask who is next in front of every operation?
bool asks_at_operations();
// The next quantum of a thread whose last one is over.
u32 grant(Node* n);
// Who has the turn from here on. `from` has it, or had it: at SchedulingPoint::kBlocked it cannot go on; nullptr:
// nobody had. `how` ends its stretch if another is chosen. `at_operation`: it is in front of an operation. The result
// is ready, or `from`; nullptr: nobody can run now.
Node* choose_next(Node* from, SchedulingPoint point, sooth::control::StretchEnd how, bool at_operation);
// A stretch of a controlled run is over.
void end_stretch(Node* n, sooth::control::StretchEnd how);
// The thread has the turn from here on; or keeps it, when it was asked for.
void begin_stretch(Thread* t);
void keep_turn(Thread* t);
// Is RaceFuzzer's rule in force for the thread?
bool is_directed(Thread* t);
Approach decide_approach(Thread* t, const SiteAccess& access);
// A directed run ends while threads are postponed and nobody else can run: one of them may go on first.
void release_before_end();
// How long the run is, in hook calls; scheduling points count for several.
u64 waiting_time();
// The thread is about to be postponed.
void begin_postponement(Node* n);
// What is counted, for the header of the log.
void publish_run();
// deadlock.cc. Nobody is ready: ends the process if nobody will be ever.
void end_if_deadlocked();
// All that are ready wait in loops for what nobody does: ends the process, unless somebody whom we do not see may do it.
void end_if_hung();

}  // namespace sooth::rt::turn
