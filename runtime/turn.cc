#include "runtime/turn.h"

#include <errno.h>

#include "runtime/monitor.h"
#include "runtime/options.h"
#include "runtime/signals.h"
#include "runtime/stream_writer.h"

namespace sooth::rt::turn {
namespace {

// Thread::turn_state. Hooks compare it with 0 only.
constexpr u32 kHasIt = 0;
constexpr u32 kBeingTaken = 1;  // the monitor is about to take the turn away; it has the lock
constexpr u32 kAway = 2;        // left, or the turn was taken away
constexpr u32 kQueues = 3;      // ready or blocked

// Thread::turn_word, the futex on which a thread waits for the turn.
constexpr u32 kNoTurn = 0;
constexpr u32 kTurn = 1;
constexpr u32 kAsleep = 2;     // whoever gives the turn must wake the thread
constexpr u32 kDisturbed = 3;  // a handler waits to be run

// A switch is a few microseconds when the other thread is awake: not worth a system call if it is shorter than one.
constexpr u32 kSpins = 100;
// What an operation counts of the quantum.
constexpr u32 kOperationWeight = 64;

enum class State : u32 { kRunning, kReady, kBlocked, kOutside };

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
SpinLock lock_;
Queue ready_;             // in the order in which they became ready
Queue blocked_;           // in the order in which they blocked
Node* holder_ = nullptr;  // has the turn. Nobody: then nobody is ready
u64 turns_ = 0;
StrategySpec strategy_spec_;
u64 seed_ = 0;
Strategy strategy_;
Node* free_nodes_ = nullptr;
u32 leaving_ = 0;         // the kernel's id of a thread that is over, but perhaps not gone; 0: none
u32 arrivals_ = 0;        // futex of those who wait for a thread to arrive
bool monitored_ = false;
u32 monitor_idle_ = 0;  // futex; 1: the monitor sleeps until somebody is ready

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

Node* node_of(const Thread* t) { return reinterpret_cast<Node*>(t->turn_data[0]); }

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
  strategy_.admit(n->standing);
  return n;
}

void free_node(Node* n) {
  strategy_.dismiss();
  n->next = free_nodes_;
  free_nodes_ = n;
}

void make_ready(Node* n) {
  n->state = State::kReady;
  ready_.push_back(n);
  if (SOOTH_UNLIKELY(monitor_idle_ != 0)) {
    __atomic_store_n(&monitor_idle_, 0, __ATOMIC_RELEASE);
    futex_wake(&monitor_idle_, 1);
  }
}

// Gives the turn to a thread that is ready, or to nobody. Returns the futex to wake when the lock is free again, or nullptr.
const u32* pass_on_to(Node* n) {
  holder_ = n;
  ++turns_;
  if (n == nullptr) return nullptr;
  ready_.remove(n);
  n->state = State::kRunning;
  // One that has not arrived yet finds that it has the turn when it does.
  if (n->thread == nullptr) return nullptr;
  u32 old = __atomic_exchange_n(&n->thread->turn_word, kTurn, __ATOMIC_ACQ_REL);
  return old == kAsleep ? &n->thread->turn_word : nullptr;
}

// The thread that had the turn cannot go on.
const u32* pass_on() { return pass_on_to(strategy_.choose<Node>(ready_.first(), nullptr, SchedulingPoint::kBlocked)); }

const u32* pass_on_if_free() { return holder_ == nullptr ? pass_on() : nullptr; }

void wake_up(const u32* word) {
  if (word != nullptr) futex_wake(word, 1);
}

enum class Outcome { kGiven, kTimedOut, kSignalled };

// Sleeps until the turn is given to the thread; or until the deadline; or, if that is wanted, until a handler waits.
Outcome await(Thread* t, const timespec* deadline, bool heed_signals) {
  for (u32 spins = 0;; ++spins) {
    u32 word = __atomic_load_n(&t->turn_word, __ATOMIC_ACQUIRE);
    if (word == kTurn) return Outcome::kGiven;
    if (heed_signals && __atomic_load_n(&t->pending_signals, __ATOMIC_RELAXED) != 0) return Outcome::kSignalled;
    if (spins < kSpins) {
      cpu_relax();
      continue;
    }
    if (word != kAsleep && !__atomic_compare_exchange_n(&t->turn_word, &word, kAsleep, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) continue;
    if (futex_wait(&t->turn_word, kAsleep, deadline) == ETIMEDOUT) {
      return __atomic_load_n(&t->turn_word, __ATOMIC_ACQUIRE) == kTurn ? Outcome::kGiven : Outcome::kTimedOut;
    }
  }
}

// A thread that is over is still in libc, which takes back its memory. What others allocate depends on that, so the next turn
// begins when the thread is gone; but not if that takes suspiciously long, as under a debugger.
void await_departure() {
  u32 id = __atomic_exchange_n(&leaving_, 0, __ATOMIC_ACQ_REL);
  if (SOOTH_LIKELY(id == 0)) return;
  constexpr u32 kYields = 100, kPauses = 2000;
  long process = sys_call(SYS_getpid);
  for (u32 i = 0; i < kYields + kPauses && sys_call(SYS_tgkill, process, id, 0) == 0; ++i) {
    timespec pause = {0, 50'000};
    if (i < kYields) sys_call(SYS_sched_yield);
    else sys_call(SYS_nanosleep, reinterpret_cast<long>(&pause));
  }
}

// The thread has the turn: what it records from here on comes behind what all others have recorded.
void begin_turn(Thread* t) {
  await_departure();
  __atomic_store_n(&t->turn_state, kHasIt, __ATOMIC_RELAXED);
  write_turn(t);
}

// Waits for the turn in the ready queue.
void await_turn(Thread* t) {
  await(t, nullptr, false);
  begin_turn(t);
}

// The thread has the turn and could go on: the strategy says whether it does.
void reschedule(Thread* t, SchedulingPoint point) {
  write_pending(t);
  const u32* word = nullptr;
  {
    Locked locked(t);
    Node* n = node_of(t);
    if (point == SchedulingPoint::kQuantum) t->quantum = strategy_.grant(n->standing);
    if (holder_ != n) return;  // it was taken away just now
    Node* next = strategy_.choose(ready_.first(), n, point);
    if (next == n) return;
    __atomic_store_n(&t->turn_word, kNoTurn, __ATOMIC_RELAXED);
    __atomic_store_n(&t->turn_state, kQueues, __ATOMIC_RELAXED);
    word = pass_on_to(next);
    make_ready(n);
  }
  wake_up(word);
  await_turn(t);
}

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
    n->state = State::kOutside;
  }
  n->thread = t;
  n->system_id = static_cast<u32>(sys_call(SYS_gettid));
  t->turn_data[0] = reinterpret_cast<u64>(n);
  __atomic_fetch_add(&arrivals_, 1, __ATOMIC_RELEASE);
  futex_wake(&arrivals_, 1 << 30);
  return n;
}

constexpr long kSecond = 1'000'000'000;

timespec now(int clock) {
  timespec time;
  read_clock(clock, &time);
  return time;
}

// The moment on the clock of futex_wait().
timespec to_monotonic(const timespec& time, int clock) {
  if (clock == CLOCK_MONOTONIC) return time;
  timespec there = now(clock), here = now(CLOCK_MONOTONIC);
  timespec result = {here.tv_sec + time.tv_sec - there.tv_sec, here.tv_nsec + time.tv_nsec - there.tv_nsec};
  for (; result.tv_nsec < 0; --result.tv_sec) result.tv_nsec += kSecond;
  for (; result.tv_nsec >= kSecond; ++result.tv_sec) result.tv_nsec -= kSecond;
  if (result.tv_sec < 0) return {0, 0};
  return result;
}

u32 wake_blocked(uptr object, u32 count) {
  u32 woken = 0;
  for (Node* n = blocked_.first(); n != nullptr && woken < count;) {
    Node* next = n->next;
    if (n->object == object) {
      blocked_.remove(n);
      make_ready(n);
      ++woken;
    }
    n = next;
  }
  return woken;
}

}  // namespace

void set_strategy(const StrategySpec& spec, u64 seed) {
  strategy_spec_ = spec;
  seed_ = seed;
}

void start(Thread* first) {
  if (!taken()) return;
  lock_.reset();
  ready_ = Queue();
  blocked_ = Queue();
  free_nodes_ = nullptr;
  monitored_ = false;
  monitor_idle_ = 0;
  leaving_ = 0;
  strategy_ = Strategy(strategy_spec_, seed_, options.quantum < 1 ? 1 : static_cast<u32>(options.quantum));
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
    if (n == holder_) word = pass_on();
    else ready_.remove(n);
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
    if (n != nullptr && holder_ == n) return;  // has it; or the monitor has changed its mind
    if (n == nullptr) {
      n = arrive(t);
      given = holder_ == n;
    }
    if (!given) {
      __atomic_store_n(&t->turn_word, kNoTurn, __ATOMIC_RELAXED);
      __atomic_store_n(&t->turn_state, kQueues, __ATOMIC_RELAXED);
      if (n->state != State::kReady) make_ready(n);
      word = pass_on_if_free();
    }
  }
  wake_up(word);
  if (given) begin_turn(t);
  else await_turn(t);
}

void leave(Thread* t) {
  if (!taken() || is_outside(t)) return;
  write_pending(t);
  const u32* word = nullptr;
  {
    Locked locked(t);
    Node* n = node_of(t);
    if (holder_ == n) {
      n->state = State::kOutside;
      __atomic_store_n(&t->turn_state, kAway, __ATOMIC_RELAXED);
      word = pass_on();
    }
  }
  wake_up(word);
}

bool is_outside(const Thread* t) {
  return __atomic_load_n(&t->turn_state, __ATOMIC_RELAXED) == kAway && t->busy == 0;
}

void finish(Thread* t) {
  if (!taken()) return;
  const u32* word = nullptr;
  {
    Locked locked(t);
    Node* n = node_of(t);
    t->turn_data[0] = 0;
    __atomic_store_n(&t->turn_state, kQueues, __ATOMIC_RELAXED);
    wake_blocked(reinterpret_cast<uptr>(&thread_info(n->id)), kAll);
    // The first thread stays, as a zombie, until the process ends.
    if (n->system_id != static_cast<u32>(sys_call(SYS_getpid))) __atomic_store_n(&leaving_, n->system_id, __ATOMIC_RELEASE);
    word = holder_ == n ? pass_on() : pass_on_if_free();
    free_node(n);
  }
  wake_up(word);
}

void yield(Thread* t) {
  if (taken()) reschedule(t, SchedulingPoint::kYield);
}

void preempt(Thread* t) { reschedule(t, SchedulingPoint::kQuantum); }

void step(Thread* t) {
  if (!taken()) return;
  hold(t);
  if (t->quantum <= kOperationWeight) {
    preempt(t);
    return;
  }
  t->quantum -= kOperationWeight;
  if (strategy_spec_.kind != StrategyKind::kSerial) reschedule(t, SchedulingPoint::kOperation);
}

Wake block(Thread* t, uptr object, const timespec* deadline, int clock) {
  if (!taken()) return Wake::kWoken;
  write_pending(t);
  timespec monotonic;
  if (deadline != nullptr) monotonic = to_monotonic(*deadline, clock);
  Node* n = node_of(t);
  const u32* word = nullptr;
  {
    Locked locked(t);
    if (holder_ != n) return Wake::kWoken;  // it was taken away just now
    __atomic_store_n(&t->turn_word, kNoTurn, __ATOMIC_RELAXED);
    __atomic_store_n(&t->turn_state, kQueues, __ATOMIC_RELAXED);
    n->state = State::kBlocked;
    n->object = object;
    blocked_.push_back(n);
    word = pass_on();
  }
  wake_up(word);
  Outcome outcome = await(t, deadline == nullptr ? nullptr : &monotonic, true);
  bool timed_out = false;
  if (outcome != Outcome::kGiven) {
    {
      Locked locked(t);
      word = nullptr;
      if (n->state == State::kBlocked) {
        timed_out = outcome == Outcome::kTimedOut;
        blocked_.remove(n);
        make_ready(n);
        word = pass_on_if_free();
      }
    }
    wake_up(word);
    await(t, nullptr, false);
  }
  begin_turn(t);
  if (__atomic_load_n(&t->pending_signals, __ATOMIC_RELAXED) != 0) deliver_pending_signals(t);
  return timed_out ? Wake::kTimedOut : Wake::kWoken;
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

void interrupt(u32 id) {
  if (!taken()) return;
  const u32* word = nullptr;
  {
    Locked locked(current());
    for (Node* n = blocked_.first(); n != nullptr; n = n->next) {
      if (n->id != id) continue;
      blocked_.remove(n);
      make_ready(n);
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
  s.others_wait = ready_.first() != nullptr;
  if (!s.others_wait) __atomic_store_n(&monitor_idle_, 1, __ATOMIC_RELAXED);
  s.turns = turns_;
  if (holder_ == nullptr || holder_->thread == nullptr) return s;
  s.holder = holder_->thread;
  s.system_id = holder_->system_id;
  s.cursor = __atomic_load_n(&s.holder->cursor, __ATOMIC_RELAXED);
  s.top = __atomic_load_n(&s.holder->top, __ATOMIC_RELAXED);
  s.quantum = __atomic_load_n(&s.holder->quantum, __ATOMIC_RELAXED);
  return s;
}

const u32* idle_word() { return &monitor_idle_; }

void take_away(const Sample& seen) {
  const u32* word = nullptr;
  {
    SpinGuard guard(lock_);
    if (holder_ == nullptr || holder_->thread != seen.holder || turns_ != seen.turns) return;
    Thread* t = seen.holder;
    u32 state = kHasIt;
    if (!__atomic_compare_exchange_n(&t->turn_state, &state, kBeingTaken, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) return;
    // The holder sleeps, and not in a hook; so the first thing its next hook sees is that it has the turn no more. Until
    // then nobody but us writes to its stream.
    bool quiet = sleeps_in_kernel(seen.system_id) && __atomic_load_n(&t->busy, __ATOMIC_RELAXED) == 0 &&
                 __atomic_load_n(&t->cursor, __ATOMIC_RELAXED) == seen.cursor &&
                 __atomic_load_n(&t->quantum, __ATOMIC_RELAXED) == seen.quantum;
    if (quiet) {
      write_pending_now(t);
      holder_->state = State::kOutside;
      word = pass_on();
    }
    __atomic_store_n(&t->turn_state, quiet ? kAway : kHasIt, __ATOMIC_SEQ_CST);
  }
  wake_up(word);
}

}  // namespace sooth::rt::turn
