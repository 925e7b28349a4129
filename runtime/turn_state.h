// What the scheduler knows, for turn.cc (threads come and go), choose.cc (who is next) and take_away.cc (the monitor's part). Nobody else.
#pragma once

#include "runtime/control.h"
#include "runtime/thread.h"
#include "schedule/strategy.h"

namespace sooth::rt::turn {

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

// A thread as the scheduler sees it. Exists before the thread does, from announce() on.
struct Node {
  Node* next;
  Node* previous;
  Thread* thread;  // nullptr: has not arrived yet
  u32 id;          // as announced; Thread::id is another while a fiber runs
  u32 system_id;   // the kernel's
  State state;
  uptr object;     // that it is blocked on
  Standing standing;

  // Controlled runs only.
  sooth::control::BlockedOn blocked_on;
  bool has_deadline;
  bool polls;            // blocked, but looks again when nobody else can run
  bool timed_out;        // has, or will get, the turn because its deadline came
  bool is_urgent;        // lost a race: does its access before anybody else does anything
  sooth::control::StretchEnd stopped_by;
  u64 counted_calls;     // of its hooks, in hook_calls_
  u64 postponed_at;      // hook_calls_ then
  u32 yields;            // without a turn of others in between
  u64 unstopped_from;    // hook_calls_ when it last had a stretch of a schedule to follow, or did an operation
  SiteAccess access;     // in front of which it is postponed
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
extern Node* holder_;     // has the turn. Nobody: then nobody is ready, or a schedule waits for a thread that is outside
extern u64 turns_;
extern u32 nodes_;        // threads there are

// The lock, for a thread of the program: a handler must not run while it is held, not even one that finds its thread outside.
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
// Gives the turn to a thread that is ready, or to nobody. Returns the futex to wake when the lock is free again, or nullptr.
const u32* pass_on_to(Node* n);
// The thread that had the turn stops as `how` says.
const u32* pass_on(Node* from, sooth::control::StretchEnd how);
void wake_up(const u32* word);
// The thread, which has the turn, has it no more; it waits in a queue.
void give_up(Thread* t);
// Waits for the turn in a queue, when the lock is free and the word is woken.
void await_turn(Thread* t);

// choose.cc.
void restart_choices();
void admit(Node* n);
void dismiss(Node* n);
// Does the scheduler ask who is next in front of every operation?
bool asks_at_operations();
// The next quantum of a thread whose last one is over.
u32 grant(Node* n);
// Who has the turn from here on. `from` has it, or had it: at SchedulingPoint::kBlocked it cannot go on; nullptr: nobody had. `how` ends its
// stretch if another is chosen. `at_operation`: it is in front of an operation. The result is ready, or `from`; nullptr: nobody can run now.
Node* choose_next(Node* from, SchedulingPoint point, sooth::control::StretchEnd how, bool at_operation);
// A stretch of a controlled run is over.
void end_stretch(Node* n, sooth::control::StretchEnd how);
// The thread has the turn from here on; or keeps it, when it was asked for.
void begin_stretch(Thread* t);
void keep_turn(Thread* t);
// Is RaceFuzzer's rule in force for the thread?
bool is_directed(Thread* t);
Approach decide_approach(Thread* t, const SiteAccess& access);
u64 hook_calls();
// What is counted, for the header of the log.
void publish_run();
// deadlock.cc. Nobody is ready: ends the process if nobody will be ever.
void end_if_deadlocked();

}  // namespace sooth::rt::turn
