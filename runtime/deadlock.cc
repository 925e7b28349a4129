// Every thread is blocked, and nobody is left who could wake one.
#include "runtime/locks.h"
#include "runtime/monitor.h"
#include "runtime/run_end.h"
#include "runtime/signals.h"
#include "runtime/turn.h"
#include "runtime/turn_state.h"

namespace sooth::rt::turn {

namespace {

const char* name_of(BlockedOn on) {
  switch (on) {
    case BlockedOn::kUnknown: return "something";
    case BlockedOn::kMutex: return "a mutex";
    case BlockedOn::kRwlock: return "a reader-writer lock";
    case BlockedOn::kSpin: return "a spin lock";
    case BlockedOn::kCondition: return "a condition";
    case BlockedOn::kBarrier: return "a barrier";
    case BlockedOn::kSemaphore: return "a semaphore";
    case BlockedOn::kJoin: return "the end of";
    case BlockedOn::kOnce: return "an initialisation";
    case BlockedOn::kFutex: return "a futex";
  }
  return "something";
}

bool waits_for_lock(const Node* n) {
  bool is_lock =
      n->blocked_on == BlockedOn::kMutex || n->blocked_on == BlockedOn::kRwlock || n->blocked_on == BlockedOn::kSpin;
  return is_lock && !n->has_deadline();
}

// One of the readers that have the lock and never give it back, as they wait themselves: one that waits for a lock, which
// makes a circle, before others; kNone: there is none. Who is blocked does nothing, so what it holds can be looked at.
u32 blocked_reader_of(uptr lock) {
  u32 found = sooth::control::kNone;
  for (Node* n = blocked_.first(); n != nullptr; n = n->next) {
    if (n->thread == nullptr || !holds_lock(n->thread, lock)) continue;
    if (waits_for_lock(n)) return n->id;
    found = n->id;
  }
  return found;
}

// The thread that has what the other waits for.
u32 holder_of(const Node* n) {
  switch (n->blocked_on) {
    case BlockedOn::kRwlock:
      if (lock_holder(n->object) == sooth::control::kNone) return blocked_reader_of(n->object);
      [[fallthrough]];
    case BlockedOn::kMutex:
    case BlockedOn::kSpin: return lock_holder(n->object);
    case BlockedOn::kJoin: return static_cast<u32>(reinterpret_cast<const ThreadInfo*>(n->object) - &thread_info(0));
    case BlockedOn::kUnknown:
    case BlockedOn::kCondition:
    case BlockedOn::kBarrier:
    case BlockedOn::kSemaphore:
    case BlockedOn::kOnce:
    case BlockedOn::kFutex: break;
  }
  return sooth::control::kNone;
}

Node* blocked_thread(u32 id) {
  Node* n = blocked_.first();
  while (n != nullptr && n->id != id) n = n->next;
  return n;
}

// Threads each of which waits for a lock that the next holds. No handler of a signal helps them: none may unlock.
bool has_cycle_of_locks() {
  for (Node* start = blocked_.first(); start != nullptr; start = start->next) {
    Node* at = start;
    for (u32 steps = 0; steps < nodes_ && at != nullptr && waits_for_lock(at); ++steps) {
      u32 holder = holder_of(at);
      if (holder == start->id) return true;
      at = holder == sooth::control::kNone ? nullptr : blocked_thread(holder);
    }
  }
  return false;
}

// As reports call it: "thread main", "thread T1".
char* append_thread(char* to, char* end, u32 id) {
  return id == 0 ? append_text(to, end, "thread main") : append_number(append_text(to, end, "thread T"), end, id);
}

// "thread T1 waits for a mutex that thread T2 holds"
char* describe(const Node* n, char* to, char* end) {
  u32 holder = holder_of(n);
  to = append_thread(to, end, n->id);
  to = append_text(append_text(to, end, " waits for "), end, name_of(n->blocked_on));
  if (holder == sooth::control::kNone) return to;
  bool joins = n->blocked_on == BlockedOn::kJoin;
  to = append_thread(append_text(to, end, joins ? " " : " that "), end, holder);
  return joins ? to : append_text(to, end, " holds");
}

// Threads that libc or a library has started behind our back: a timer's, for one. They may wake anybody. One that is
// over may not be gone yet.
bool has_unknown_threads() {
  bool has_first = false;  // the first thread stays, as a zombie, when it is over
  auto process = static_cast<u32>(sys_call(SYS_getpid));
  for (Node* n = blocked_.first(); n != nullptr; n = n->next) has_first = has_first || n->system_id == process;
  u32 known = nodes_ + (monitored_ ? 1 : 0) + (has_first ? 0 : 1);
  // A recording waits once for those that may be leaving: who is still there then is there to stay.
  static u32 staying = 0;
  if (!recorder.controlled && staying != 0 && kernel_threads() - known >= staying) return true;
  constexpr u32 kLooks = 100;
  for (u32 i = 0; i < kLooks; ++i) {
    if (kernel_threads() <= known) return false;
    timespec pause = {0, 1'000'000};
    sys_call(SYS_nanosleep, reinterpret_cast<long>(&pause));
  }
  staying = kernel_threads() - known;
  return true;
}

}  // namespace

namespace {

void log_where_all_are() {
  controlled::log(sooth::control::RecordKind::kStopped, holder_ == nullptr ? 0 : holder_->id);
  auto is_queued = [](const Node* which) {
    for (const Queue* queue : {&blocked_, &ready_, &postponed_, &outside_})
      for (Node* n = queue->first(); n != nullptr; n = n->next)
        if (n == which) return true;
    return false;
  };
  // One that gives way just now may still have the turn.
  if (holder_ != nullptr && holder_->thread != nullptr && !is_queued(holder_))
    run_end::note_running(holder_->thread, holder_->id);
  for (Node* n = blocked_.first(); n != nullptr; n = n->next) {
    if (n->blocked_on == BlockedOn::kUnknown)
      run_end::note_running(n->thread, n->id);  // it sleeps
    else
      run_end::note_blocked(n->thread, n->id, n->blocked_on, holder_of(n), n->object);
  }
  for (const Queue* queue : {&ready_, &postponed_, &outside_})
    for (Node* n = queue->first(); n != nullptr; n = n->next)
      if (n->thread != nullptr) run_end::note_running(n->thread, n->id);
}

}  // namespace

void tell_where_all_are(const Thread* asked) {
  if (asked->busy != 0) return;  // it may have the lock
  lock_.lock();
  log_where_all_are();
  // Nobody goes on: the process is about to die, and keeps the lock.
}

void end_if_hung() {
  if (outside_.first() != nullptr || postponed_.first() != nullptr || a_handler_may_run()) return;
  for (Node* n = ready_.first(); n != nullptr; n = n->next)
    if (n->thread == nullptr) return;  // it has not begun
  if (controlled::has_other_processes() || has_unknown_threads()) return;
  log_where_all_are();
  controlled::set_state(sooth::control::RunState::kHung);
  sys_call(SYS_exit_group, sooth::control::kDeadlockStatus);
}

void end_if_deadlocked() {
  if (blocked_.first() == nullptr || outside_.first() != nullptr) return;
  if (a_handler_may_run() && !has_cycle_of_locks()) return;
  for (Node* n = blocked_.first(); n != nullptr; n = n->next) {
    if (n->has_deadline() || __atomic_load_n(&n->thread->pending_signals, __ATOMIC_RELAXED) != 0) return;
    if (n->polls && !recorder.controlled) return;  // it looks again by itself
  }
  if (has_unknown_threads()) return;
  char sentence[900];
  char* end = sentence + sizeof sentence;
  char* p = append_text(sentence, end, "deadlock: ");
  run_end::note_deadlock(blocked_.first()->id);
  for (Node* n = blocked_.first(); n != nullptr; n = n->next) {
    if (n != blocked_.first()) p = append_text(p, end, ", ");
    p = describe(n, p, end);
    run_end::note_blocked(n->thread, n->id, n->blocked_on, holder_of(n), n->object);
  }
  if (recorder.controlled)
    controlled::set_state(sooth::control::RunState::kDeadlocked);
  else
    finish_recording();
  warn(sentence);
  sys_call(SYS_exit_group, sooth::control::kDeadlockStatus);
}

}  // namespace sooth::rt::turn
