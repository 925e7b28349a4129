#include "runtime/turn.h"

#include <errno.h>
#include <pthread.h>

#include "runtime/monitor.h"
#include "runtime/options.h"
#include "runtime/signals.h"
#include "runtime/stream_writer.h"
#include "runtime/turn_state.h"

namespace sooth::rt::turn {

using sooth::control::External;
using sooth::control::RecordKind;
using sooth::control::StretchEnd;
using virtual_clock::kNever;

SpinLock lock_;
Queue ready_, blocked_, postponed_, outside_;
Node* holder_ = nullptr;
u64 turns_ = 0;
u32 nodes_ = 0;
bool monitored_ = false;

namespace {

// A switch is a few microseconds when the other thread is awake: not worth a system call if it is shorter than one.
constexpr u32 kSpins = 100;

Node* free_nodes_ = nullptr;
u32 leaving_ = 0;       // the kernel's id of a thread that is over, but perhaps not gone; 0: none
u32 arrivals_ = 0;      // futex of those who wait for a thread to arrive
u32 monitor_idle_ = 0;  // futex; 1: the monitor sleeps until somebody is ready

Node* new_node(u32 id) {
  if (free_nodes_ == nullptr) {
    constexpr u32 kBlock = 64;
    auto* nodes = static_cast<Node*>(map_memory(kBlock * sizeof(Node)));
    if (nodes == nullptr) fatal("out of memory for another thread");
    for (u32 i = 0; i < kBlock; ++i) {
      nodes[i].next = free_nodes_;
      free_nodes_ = &nodes[i];
    }
  }
  Node* n = free_nodes_;
  free_nodes_ = n->next;
  *n = Node{};
  n->id = id;
  ++nodes_;
  admit(n);
  return n;
}

void free_node(Node* n) {
  log_events(n);
  dismiss(n);
  --nodes_;
  set_state(n, State::kRunning);  // not outside
  n->next = free_nodes_;
  free_nodes_ = n;
}

}  // namespace

void set_state(Node* n, State state) {
  if (n->state == State::kOutside) outside_.remove(n);
  n->state = state;
  if (state == State::kOutside) outside_.push_back(n);
}

void make_ready(Node* n) {
  set_state(n, State::kReady);
  ready_.push_back(n);
  wake_monitor();
}

void wake_monitor() {
  if (SOOTH_LIKELY(monitor_idle_ == 0)) return;
  __atomic_store_n(&monitor_idle_, 0, __ATOMIC_RELEASE);
  futex_wake(&monitor_idle_, 1);
}

const u32* pass_on_to(Node* n) {
  holder_ = n;
  ++turns_;
  if (n == nullptr) return nullptr;
  end_idling();
  ready_.remove(n);
  n->vain_yields = 0;
  set_state(n, State::kRunning);
  // One that has not arrived yet finds that it has the turn when it does.
  if (n->thread == nullptr) return nullptr;
  u32 old = __atomic_exchange_n(&n->thread->turn_word, kTurn, __ATOMIC_ACQ_REL);
  return old == kAsleep ? &n->thread->turn_word : nullptr;
}

const u32* pass_on(Node* from, StretchEnd how) {
  if (from != nullptr) {
    count_work(from);
    end_stretch(from, how);
  }
  if (ready_.first() == nullptr && !follows_stretches()) let_time_pass();
  return pass_on_to(choose_next(from, SchedulingPoint::kBlocked, how, true));
}

void wake_up(const u32* word) {
  if (word != nullptr) futex_wake(word, 1);
}

namespace {

const u32* pass_on_if_free() { return holder_ == nullptr ? pass_on(nullptr, StretchEnd::kBlocked) : nullptr; }

enum class Outcome { kGiven, kTimedOut, kSignalled };

// Sleeps until the turn is given to the thread; or until *wake_at, which others may change if they disturb it (nullptr:
// for ever); or, if that is wanted, until a handler waits.
Outcome await(Thread* t, const u64* wake_at, bool heed_signals) {
  for (u32 spins = 0;; ++spins) {
    u32 word = __atomic_load_n(&t->turn_word, __ATOMIC_ACQUIRE);
    if (word == kTurn) return Outcome::kGiven;
    if (heed_signals && __atomic_load_n(&t->pending_signals, __ATOMIC_RELAXED) != 0) return Outcome::kSignalled;
    if (spins < kSpins) {
      cpu_relax();
      continue;
    }
    if (word != kAsleep &&
        !__atomic_compare_exchange_n(&t->turn_word, &word, kAsleep, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
      continue;
    u64 moment = wake_at == nullptr ? kNever : __atomic_load_n(wake_at, __ATOMIC_ACQUIRE);
    timespec deadline = virtual_clock::to_timespec(moment);
    if (futex_wait(&t->turn_word, kAsleep, moment >= kNever ? nullptr : &deadline) == ETIMEDOUT) {
      return __atomic_load_n(&t->turn_word, __ATOMIC_ACQUIRE) == kTurn ? Outcome::kGiven : Outcome::kTimedOut;
    }
  }
}

// A thread that is over is still in libc, which takes back its memory. What others allocate depends on that, so the
// next turn begins when the thread is gone; but not if that takes suspiciously long, as under a debugger.
void await_departure() {
  u32 id = __atomic_exchange_n(&leaving_, 0, __ATOMIC_ACQ_REL);
  if (SOOTH_LIKELY(id == 0)) return;
  constexpr u32 kYields = 100, kPauses = 2000;
  long process = sys_call(SYS_getpid);
  for (u32 i = 0; i < kYields + kPauses && sys_call(SYS_tgkill, process, id, 0) == 0; ++i) {
    timespec pause = {0, 50'000};
    if (i < kYields)
      sys_call(SYS_sched_yield);
    else
      sys_call(SYS_nanosleep, reinterpret_cast<long>(&pause));
  }
}

// The thread has the turn: what it records from here on comes behind what all others have recorded.
void begin_turn(Thread* t) {
  await_departure();
  __atomic_store_n(&t->turn_state, kHasIt, __ATOMIC_RELAXED);
  write_turn(t);
  if (recorder.controlled) begin_stretch(t);
}

}  // namespace

void give_up(Thread* t) {
  __atomic_store_n(&t->turn_word, kNoTurn, __ATOMIC_RELAXED);
  __atomic_store_n(&t->turn_state, kQueues, __ATOMIC_RELAXED);
}

void await_turn(Thread* t) {
  await(t, nullptr, false);
  begin_turn(t);
}

namespace {

// The node of a thread that was announced and has not arrived; or nullptr.
Node* find_announced(u32 id) {
  auto is_it = [id](const Node* n) { return n->thread == nullptr && n->id == id; };
  if (holder_ != nullptr && is_it(holder_)) return holder_;
  for (Node* n = ready_.first(); n != nullptr; n = n->next) {
    if (is_it(n)) return n;
  }
  return nullptr;
}

// The node of a thread that arrives: announced by its creator, or, of one that nobody announced, a new one.
Node* arrive(Thread* t) {
  Node* n = find_announced(t->id);
  if (n == nullptr) {
    n = new_node(t->id);
    set_state(n, State::kOutside);
  }
  n->thread = t;
  n->system_id = static_cast<u32>(sys_call(SYS_gettid));
  t->turn_data[0] = reinterpret_cast<u64>(n);
  __atomic_fetch_add(&arrivals_, 1, __ATOMIC_RELEASE);
  futex_wake(&arrivals_, 1 << 30);
  return n;
}

// The moment on the clock of futex_wait().
u64 to_monotonic(const timespec& time, int clock) {
  timespec there;
  read_clock(clock, &there);
  auto rest = static_cast<__int128>(time.tv_sec - there.tv_sec) * static_cast<long>(virtual_clock::kSecond) +
              (time.tv_nsec - there.tv_nsec);
  if (rest <= 0) return 1;
  return rest >= kNever / 2 ? kNever : virtual_clock::real_now() + static_cast<u64>(rest);
}

u32 wake_blocked(uptr object, u32 count) {
  if (count == 1) {
    Node* n = wanted_among_waiting(object);
    if (n == nullptr) n = drawn_among_waiting(object, holder_);
    if (n != nullptr) {
      end_wait(n, Wake::kWoken);
      return 1;
    }
  }
  u32 woken = 0;
  for (Node* n = blocked_.first(); n != nullptr && woken < count;) {
    Node* next = n->next;
    if (n->object == object) {
      end_wait(n, Wake::kWoken);
      ++woken;
    }
    n = next;
  }
  return woken;
}

// `deadline` as in Node.
Wake wait_for(Thread* t, uptr object, BlockedOn on, u64 deadline, bool polls) {
  write_pending(t);
  Node* n = node_of(t);
  count_work(n);
  if (virtual_clock::is_on() && deadline <= virtual_clock::now()) {
    yield(t);
    return Wake::kTimedOut;
  }
  n->signalled = false;
  const u32* word = nullptr;
  {
    Locked locked(t);
    if (holder_ != n) return Wake::kWoken;  // it was taken away just now
    ownership::settle(t);
    give_up(t);
    begin_wait(n, object, on, deadline, polls);
    word = pass_on(n, StretchEnd::kBlocked);
  }
  wake_up(word);
  Outcome outcome;
  while ((outcome = await(t, &n->wake_at, true)) != Outcome::kGiven) {
    {
      Locked locked(t);
      if (n->state == State::kBlocked) {
        n->signalled = outcome == Outcome::kSignalled;
        if (n->signalled)
          end_wait(n, Wake::kWoken);
        else
          look_at_clock(n);
        if (n->state == State::kBlocked) continue;
        if (n->signalled && recorder.controlled) controlled::log_external(n->id, External::kSignal);
      }
      word = pass_on_if_free();
    }
    wake_up(word);
    await(t, nullptr, false);
    break;
  }
  Wake why = n->woken;
  begin_turn(t);
  if (__atomic_load_n(&t->pending_signals, __ATOMIC_RELAXED) != 0) deliver_pending_signals(t);
  return why;
}

// As in Node.
u64 moment_of(const timespec* deadline, int clock) {
  if (deadline == nullptr) return kNever;
  return virtual_clock::is_on() ? virtual_clock::moment_of(*deadline, clock) : to_monotonic(*deadline, clock);
}

}  // namespace

void start(Thread* first) {
  if (!taken()) return;
  lock_.reset();
  ready_ = blocked_ = postponed_ = outside_ = Queue();
  nodes_ = 0;
  free_nodes_ = nullptr;
  monitored_ = false;
  monitor_idle_ = 0;
  leaving_ = 0;
  restart_choices();
  restart_time();
  holder_ = new_node(first->id);
  holder_->thread = first;
  holder_->system_id = static_cast<u32>(sys_call(SYS_gettid));
  first->turn_data[0] = reinterpret_cast<u64>(holder_);
  begin_turn(first);
}

void announce(u32 id) {
  if (!taken()) return;
  bool second = false;
  {
    Locked locked(current());
    make_ready(new_node(id));
    second = !monitored_;
    monitored_ = true;
  }
  if (second) start_monitor();
}

void not_created(u32 id) {
  if (!taken()) return;
  const u32* word = nullptr;
  {
    Locked locked(current());
    Node* n = find_announced(id);
    if (n == nullptr) return;
    if (n == holder_)
      word = pass_on(nullptr, StretchEnd::kEnded);
    else
      ready_.remove(n);
    free_node(n);
  }
  wake_up(word);
}

void await_arrival(u32 id) {
  if (!taken()) return;
  Thread* t = current();
  ++t->busy;  // the monitor must not think that we are up to nothing
  for (;;) {
    u32 arrivals = __atomic_load_n(&arrivals_, __ATOMIC_ACQUIRE);
    bool arrived;
    {
      Locked locked(t);
      arrived = find_announced(id) == nullptr;
    }
    if (arrived) break;
    futex_wait(&arrivals_, arrivals);
  }
  --t->busy;
}

void enter(Thread* t) {
  if (!taken()) return;
  const u32* word = nullptr;
  bool given = false;
  {
    Locked locked(t);
    Node* n = node_of(t);
    if (n != nullptr && holder_ == n) {
      // Has it; or the monitor has changed its mind. Or it got it in a wait that never returned, by asynchronous cancellation.
      given = __atomic_load_n(&t->turn_state, __ATOMIC_RELAXED) == kQueues;
      if (!given) return;
    }
    if (n == nullptr) {
      n = arrive(t);
      given = holder_ == n;
    }
    if (!given) {
      give_up(t);
      if (recorder.controlled && n->state == State::kOutside && nodes_ > 1)
        controlled::log_external(n->id, External::kReturned);
      // It may come from such a wait.
      if (n->state == State::kPostponed) postponed_.remove(n);
      if (n->state == State::kBlocked)
        end_wait(n, Wake::kWoken);
      else if (n->state != State::kReady)
        make_ready(n);
      word = pass_on_if_free();
    }
  }
  wake_up(word);
  if (given)
    begin_turn(t);
  else
    await_turn(t);
}

void leave(Thread* t) {
  if (!taken() || is_outside(t)) return;
  write_pending(t);
  t->special &= ~kStill;
  const u32* word = nullptr;
  {
    Locked locked(t);
    Node* n = node_of(t);
    if (holder_ == n) {
      ownership::settle(t);
      set_state(n, State::kOutside);
      __atomic_store_n(&t->turn_state, kAway, __ATOMIC_RELAXED);
      word = pass_on(n, StretchEnd::kOutside);
    }
  }
  wake_up(word);
}

bool is_outside(const Thread* t) { return __atomic_load_n(&t->turn_state, __ATOMIC_RELAXED) == kAway && t->busy == 0; }

void finish(Thread* t) {
  if (!taken()) return;
  const u32* word = nullptr;
  {
    Locked locked(t);
    Node* n = node_of(t);
    t->turn_data[0] = 0;
    __atomic_store_n(&t->turn_state, kQueues, __ATOMIC_RELAXED);
    if (controlled::has_flag(sooth::control::kLogPoints))
      controlled::log_step(t, n->id, Op::kEnd, 0, reinterpret_cast<uptr>(&thread_info(n->id)), 1);
    wake_blocked(reinterpret_cast<uptr>(&thread_info(n->id)), kAll);
    // The first thread stays, as a zombie, until the process ends.
    if (n->system_id != static_cast<u32>(sys_call(SYS_getpid)))
      __atomic_store_n(&leaving_, n->system_id, __ATOMIC_RELEASE);
    word = holder_ == n ? pass_on(n, StretchEnd::kEnded) : pass_on_if_free();
    free_node(n);
  }
  wake_up(word);
}

void end_run(Thread* t) {
  Locked locked(t);
  if (holder_ == node_of(t)) end_stretch(holder_, StretchEnd::kRunEnded);
  if (holder_ != nullptr) log_events(holder_);
  for (const Queue* queue : {&ready_, &blocked_, &postponed_, &outside_})
    for (const Node* n = queue->first(); n != nullptr; n = n->next) log_events(n);
  publish_run();
}

Wake block(Thread* t, uptr object, BlockedOn on, const timespec* deadline, int clock) {
  return taken() ? wait_for(t, object, on, moment_of(deadline, clock), false) : Wake::kWoken;
}

Wake poll(Thread* t, uptr object, BlockedOn on, const timespec* deadline, int clock) {
  return taken() ? wait_for(t, object, on, moment_of(deadline, clock), true) : Wake::kWoken;
}

bool sleep(Thread* t, u64 moment) {
  for (;;) {
    // Nobody wakes it: its own word is nothing that others know of.
    bool slept =
        wait_for(t, reinterpret_cast<uptr>(&t->turn_word), BlockedOn::kUnknown, moment, false) == Wake::kTimedOut;
    if (slept || node_of(t)->signalled) return slept;
    pthread_testcancel();
  }
}

u32 wake(uptr object, u32 count) {
  if (!taken()) return 0;
  u32 woken = 0;
  const u32* word = nullptr;
  {
    Locked locked(current());
    woken = wake_blocked(object, count);
    // Whoever wakes has the turn, unless it is a thread that is not recorded.
    word = pass_on_if_free();
  }
  wake_up(word);
  return woken;
}

bool is_waited_for(uptr object) {
  if (!taken()) return false;
  Locked locked(current());
  for (Node* n = blocked_.first(); n != nullptr; n = n->next) {
    if (n->object == object) return true;
  }
  return false;
}

void interrupt(u32 id) {
  if (!taken()) return;
  const u32* word = nullptr;
  {
    Locked locked(current());
    for (Node* n = blocked_.first(); n != nullptr; n = n->next) {
      if (n->id != id) continue;
      end_wait(n, Wake::kWoken);
      break;
    }
    word = pass_on_if_free();
  }
  wake_up(word);
}

void notice_signal(Thread* t) {
  for (u32 word : {kNoTurn, kAsleep})
    __atomic_compare_exchange_n(&t->turn_word, &word, kDisturbed, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

Sample sample() {
  SpinGuard guard(lock_);
  Sample s{};
  s.others_wait = ready_.first() != nullptr || postponed_.first() != nullptr || is_time_awaited();
  if (!s.others_wait) __atomic_store_n(&monitor_idle_, 1, __ATOMIC_RELAXED);
  s.turns = turns_;
  if (holder_ == nullptr || holder_->thread == nullptr) return s;
  s.holder = holder_->thread;
  s.system_id = holder_->system_id;
  s.cursor = __atomic_load_n(&s.holder->cursor, __ATOMIC_RELAXED);
  s.top = __atomic_load_n(&s.holder->top, __ATOMIC_RELAXED);
  s.quantum = __atomic_load_n(&s.holder->quantum, __ATOMIC_RELAXED);
  s.events = __atomic_load_n(&s.holder->progress.events, __ATOMIC_RELAXED);
  return s;
}

const u32* idle_word() { return &monitor_idle_; }

void end_vain_wait(const Sample& seen) {
  const u32* word = nullptr;
  {
    SpinGuard guard(lock_);
    if (holder_ == nullptr && turns_ == seen.turns && stop_awaiting_return()) word = pass_on_if_free();
  }
  wake_up(word);
}

void take_away(const Sample& seen) {
  const u32* word = nullptr;
  {
    SpinGuard guard(lock_);
    if (holder_ == nullptr || holder_->thread != seen.holder || turns_ != seen.turns) return;
    Thread* t = seen.holder;
    u32 state = kHasIt;
    if (!__atomic_compare_exchange_n(&t->turn_state, &state, kBeingTaken, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
      return;
    // The holder sleeps, and not in a hook; so the first thing its next hook sees is that it has the turn no more.
    // Until then nobody but us writes to its stream.
    bool quiet = sleeps_in_kernel(seen.system_id) && __atomic_load_n(&t->busy, __ATOMIC_RELAXED) == 0 &&
                 __atomic_load_n(&t->cursor, __ATOMIC_RELAXED) == seen.cursor &&
                 __atomic_load_n(&t->quantum, __ATOMIC_RELAXED) == seen.quantum;
    if (quiet) {
      write_pending_now(t);
      ownership::settle(t);
      if (recorder.controlled) {
        controlled::log(RecordKind::kTurnTaken, holder_->id);
        controlled::log_external(holder_->id, External::kTurnTaken);
      }
      set_state(holder_, State::kOutside);
      word = pass_on(holder_, StretchEnd::kTaken);
    }
    __atomic_store_n(&t->turn_state, quiet ? kAway : kHasIt, __ATOMIC_SEQ_CST);
  }
  wake_up(word);
}

}  // namespace sooth::rt::turn
