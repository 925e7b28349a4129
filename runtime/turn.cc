#include "runtime/turn.h"

#include <errno.h>
#include <pthread.h>

#include "runtime/clock.h"
#include "runtime/monitor.h"
#include "runtime/options.h"
#include "runtime/signals.h"
#include "runtime/stream_writer.h"

namespace sooth::rt::turn {
namespace {

using virtual_clock::kNever;

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
// How often a thread looks at what somebody unseen may have done.
constexpr u64 kLookEvery = 100'000'000;
// Of the option virtual_time.
constexpr long kBySchedule = 2;

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
  u64 deadline;    // of a blocked one: virtual time, or, without that, CLOCK_MONOTONIC in nanoseconds; kNever: none
  u64 wake_at;     // of a blocked one, atomic: CLOCK_MONOTONIC, when it must see whether its time has come; kNever: not by itself
  u64 waited;      // waited_ when it blocked
  u64 worked;      // virtual time
  bool looks;      // somebody whom we do not see may do what it is blocked on
  bool signalled;  // it was woken for a handler
  Wake woken;      // why it is blocked no more
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
u32 outside_ = 0;         // threads in State::kOutside
u64 alarm_ = kNever;      // virtual time, atomic: no deadline is earlier
u64 idle_since_ = 0;      // CLOCK_MONOTONIC: nobody is ready, and a deadline is waited for in real time. 0: not so
u64 waited_ = 0;          // real time that was idle, less what the virtual clock has jumped since
Node* keeper_ = nullptr;  // has the deadline that is waited for
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

void put_outside(Node* n) {
  n->state = State::kOutside;
  ++outside_;
}

void make_ready(Node* n) {
  if (n->state == State::kOutside) --outside_;
  n->state = State::kReady;
  ready_.push_back(n);
  if (SOOTH_UNLIKELY(monitor_idle_ != 0)) {
    __atomic_store_n(&monitor_idle_, 0, __ATOMIC_RELEASE);
    futex_wake(&monitor_idle_, 1);
  }
}

// Time, as clock.h has it.

Node* earliest_deadline() {
  Node* earliest = nullptr;
  for (Node* n = blocked_.first(); n != nullptr; n = n->next) {
    if (n->deadline < (earliest == nullptr ? kNever : earliest->deadline)) earliest = n;
  }
  return earliest;
}

void end_wait(Node* n, Wake why) {
  blocked_.remove(n);
  n->woken = why;
  make_ready(n);
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

// What is to be waited in real time until a deadline fires, from idle_since_ on.
u64 real_rest(const Node* n) {
  u64 now = virtual_clock::now();
  u64 rest = n->deadline > now ? n->deadline - now : 0;
  u64 waited = waited_ > n->waited ? waited_ - n->waited : 0;
  return rest > waited ? rest - waited : 0;
}

void set_wake_at(Node* n, u64 moment) {
  if (n->looks) {
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

void end_idling() {
  if (idle_since_ == 0) return;
  waited_ += virtual_clock::real_now() - idle_since_;
  idle_since_ = 0;
  set_wake_at(keeper_, kNever);
  keeper_ = nullptr;
}

// Nobody is ready.
void let_time_pass() {
  if (!virtual_clock::is_on()) return;
  Node* n = earliest_deadline();
  if (n == nullptr) return;
  if (outside_ == 0) jump_to(n->deadline);
  else begin_idling(n);
}

// The holder is at a scheduling point; `quantum`: the next one, which is as good a guess of the last as any.
void spend_time(Node* n, SchedulingPoint point, u32 quantum) {
  if (!virtual_clock::is_on()) return;
  u64 time = virtual_clock::kStep;
  if (point == SchedulingPoint::kYield) time = virtual_clock::kYield;
  if (point == SchedulingPoint::kQuantum) time += virtual_clock::kStep * (quantum / kOperationWeight);
  n->worked += time;
  virtual_clock::work(time);
  if (virtual_clock::now() >= alarm_) fire_due();
  if (point == SchedulingPoint::kYield && ready_.first() == nullptr && outside_ == 0) let_time_pass();
}

// Gives the turn to a thread that is ready, or to nobody. Returns the futex to wake when the lock is free again, or nullptr.
const u32* pass_on_to(Node* n) {
  holder_ = n;
  ++turns_;
  if (n == nullptr) return nullptr;
  end_idling();
  ready_.remove(n);
  n->state = State::kRunning;
  // One that has not arrived yet finds that it has the turn when it does.
  if (n->thread == nullptr) return nullptr;
  u32 old = __atomic_exchange_n(&n->thread->turn_word, kTurn, __ATOMIC_ACQ_REL);
  return old == kAsleep ? &n->thread->turn_word : nullptr;
}

// The thread that had the turn cannot go on.
const u32* pass_on() {
  if (ready_.first() == nullptr) let_time_pass();
  return pass_on_to(strategy_.choose<Node>(ready_.first(), nullptr, SchedulingPoint::kBlocked));
}

const u32* pass_on_if_free() { return holder_ == nullptr ? pass_on() : nullptr; }

void wake_up(const u32* word) {
  if (word != nullptr) futex_wake(word, 1);
}

enum class Outcome { kGiven, kTimedOut, kSignalled };

// Sleeps until the turn is given to the thread; or until *wake_at, which others may change if they disturb it (nullptr: for ever); or,
// if that is wanted, until a handler waits.
Outcome await(Thread* t, const u64* wake_at, bool heed_signals) {
  for (u32 spins = 0;; ++spins) {
    u32 word = __atomic_load_n(&t->turn_word, __ATOMIC_ACQUIRE);
    if (word == kTurn) return Outcome::kGiven;
    if (heed_signals && __atomic_load_n(&t->pending_signals, __ATOMIC_RELAXED) != 0) return Outcome::kSignalled;
    if (spins < kSpins) {
      cpu_relax();
      continue;
    }
    if (word != kAsleep && !__atomic_compare_exchange_n(&t->turn_word, &word, kAsleep, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) continue;
    u64 moment = wake_at == nullptr ? kNever : __atomic_load_n(wake_at, __ATOMIC_ACQUIRE);
    timespec deadline = virtual_clock::to_timespec(moment);
    if (futex_wait(&t->turn_word, kAsleep, moment >= kNever ? nullptr : &deadline) == ETIMEDOUT) {
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
    spend_time(n, point, t->quantum);
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
    put_outside(n);
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
  auto rest = static_cast<__int128>(time.tv_sec - there.tv_sec) * static_cast<long>(virtual_clock::kSecond) + (time.tv_nsec - there.tv_nsec);
  if (rest <= 0) return 1;
  return rest >= kNever / 2 ? kNever : virtual_clock::real_now() + static_cast<u64>(rest);
}

void begin_wait(Node* n, uptr object, u64 deadline, bool looks) {
  n->state = State::kBlocked;
  n->object = object;
  n->deadline = deadline;
  n->waited = waited_;
  n->looks = looks;
  set_wake_at(n, virtual_clock::is_on() ? kNever : deadline);
  blocked_.push_back(n);
  if (virtual_clock::is_on() && deadline < alarm_) __atomic_store_n(&alarm_, deadline, __ATOMIC_RELAXED);
}

// The thread is blocked, and the moment has come at which it wanted to see whether it can go on. If so, it is ready.
void look_at_clock(Node* n) {
  u64 now = virtual_clock::real_now();
  if (!virtual_clock::is_on()) {
    if (now >= n->deadline) end_wait(n, Wake::kTimedOut);
    else if (n->looks) end_wait(n, Wake::kLook);
    return;
  }
  // While others work, looking can wait: the moment would not be the same in another run.
  bool idle = holder_ == nullptr;
  if (idle && n == keeper_ && now >= idle_since_ + real_rest(n)) {
    virtual_clock::note_external();
    end_idling();
    jump_to(n->deadline);
  } else if (idle && n->looks) {
    end_wait(n, Wake::kLook);
  } else {
    set_wake_at(n, n == keeper_ ? idle_since_ + real_rest(n) : kNever);
  }
}

u32 wake_blocked(uptr object, u32 count) {
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
  outside_ = 0;
  alarm_ = kNever;
  idle_since_ = 0;
  keeper_ = nullptr;
  virtual_clock::start(options.virtual_time == kBySchedule ? strategy_spec_.kind != StrategyKind::kSerial : options.virtual_time != 0);
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
      put_outside(n);
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
    if (n->state == State::kOutside) --outside_;
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

// `deadline` as in Node.
Wake wait_until(Thread* t, uptr object, u64 deadline, bool looks) {
  if (virtual_clock::is_on() && deadline <= virtual_clock::now()) {
    yield(t);
    return Wake::kTimedOut;
  }
  write_pending(t);
  Node* n = node_of(t);
  n->signalled = false;
  const u32* word = nullptr;
  {
    Locked locked(t);
    if (holder_ != n) return Wake::kWoken;  // it was taken away just now
    __atomic_store_n(&t->turn_word, kNoTurn, __ATOMIC_RELAXED);
    __atomic_store_n(&t->turn_state, kQueues, __ATOMIC_RELAXED);
    begin_wait(n, object, deadline, looks);
    word = pass_on();
  }
  wake_up(word);
  Outcome outcome;
  while ((outcome = await(t, &n->wake_at, true)) != Outcome::kGiven) {
    {
      Locked locked(t);
      if (n->state == State::kBlocked) {
        n->signalled = outcome == Outcome::kSignalled;
        if (n->signalled) end_wait(n, Wake::kWoken);
        else look_at_clock(n);
        if (n->state == State::kBlocked) continue;
      }
      word = pass_on_if_free();
    }
    wake_up(word);
    await(t, nullptr, false);
    break;
  }
  begin_turn(t);
  return n->woken;
}

Wake block(Thread* t, uptr object, const timespec* deadline, int clock, bool looks) {
  if (!taken()) return Wake::kWoken;
  u64 moment = kNever;
  if (deadline != nullptr) moment = virtual_clock::is_on() ? virtual_clock::moment_of(*deadline, clock) : to_monotonic(*deadline, clock);
  Wake why = wait_until(t, object, moment, looks);
  if (__atomic_load_n(&t->pending_signals, __ATOMIC_RELAXED) != 0) deliver_pending_signals(t);
  return why;
}

bool sleep(Thread* t, u64 moment) {
  for (;;) {
    // Nobody wakes it: its own word is nothing that others know of.
    bool slept = wait_until(t, reinterpret_cast<uptr>(&t->turn_word), moment, false) == Wake::kTimedOut;
    if (__atomic_load_n(&t->pending_signals, __ATOMIC_RELAXED) != 0) deliver_pending_signals(t);
    if (slept || node_of(t)->signalled) return slept;
    pthread_testcancel();
  }
}

u64 tell_time(Thread* t) {
  hold(t);
  node_of(t)->worked += virtual_clock::kReading;
  virtual_clock::work(virtual_clock::kReading);
  if (virtual_clock::now() >= __atomic_load_n(&alarm_, __ATOMIC_RELAXED)) {
    Locked locked(t);
    fire_due();
  }
  return virtual_clock::now();
}

u64 worked(const Thread* t) { return node_of(t)->worked; }

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
      put_outside(holder_);
      word = pass_on();
    }
    __atomic_store_n(&t->turn_state, quiet ? kAway : kHasIt, __ATOMIC_SEQ_CST);
  }
  wake_up(word);
}

}  // namespace sooth::rt::turn
