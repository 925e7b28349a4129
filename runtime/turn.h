// One thread at a time. In serial recordings (and controlled runs) a thread runs only while it has the turn; nothing of
// the program happens in two threads at once, so the order of events and the values they see are exact.
//
// Nobody blocks in the kernel while it has the turn. A wrapper of a blocking function tries the operation, and when it
// would block waits with block() for another thread to wake() the object; functions that block outside our view (read,
// accept, sleep) are bracketed by leave() and enter(). All functions return at once when the recording is not serial.
//
// Who is next is up to a strategy (schedule/strategy.h), which is asked when the thread that has the turn gives it up,
// in front of every operation of synchronisation, and when a quantum of accesses is over. `Serial` here and in the rest
// of the library means one thread at a time, under any strategy.
#pragma once

#include <time.h>

#include "runtime/recorder.h"
#include "runtime/thread.h"
#include "schedule/directed.h"
#include "schedule/strategy.h"

namespace sooth::rt::turn {

SOOTH_INLINE bool taken() { return recorder.serial; }

// How threads take turns from the next start() on.
void set_strategy(const StrategySpec& spec, u64 seed);
// The first thread of the process has the turn from here on. In the child of a fork: again, and alone.
void start(Thread* first);
// A thread is being created: it is ready to run although it may not have reached enter() yet, so that the schedule does
// not depend on how fast the kernel starts threads. Called by the creator, which has the turn. `id` as in
// new_thread_id.
void announce(u32 id);
void not_created(u32 id);  // ... but pthread_create failed
// Waits until it has, so that what a new thread asks of the kernel before its first turn (memory, mostly) comes at the same point of every run.
void await_arrival(u32 id);
// Waits for the turn. For a new thread, first thing; and after leave().
void enter(Thread* t);
// Gives the turn up for a call that may block outside our view. Must not touch anything that is recorded until enter().
void leave(Thread* t);
// Between leave() and enter(); or the turn was taken away, because the thread blocked in a call that nobody brackets.
bool is_outside(const Thread* t);
// First thing in a hook or wrapper that is about to do something of the program: when the turn was taken away, waits
// for it. write_pending() does it, so everything that records does.
SOOTH_INLINE void hold(Thread* t) {
  if (SOOTH_UNLIKELY(__atomic_load_n(&t->turn_state, __ATOMIC_RELAXED) != 0)) enter(t);
}
// The thread is over.
void finish(Thread* t);

// Another thread may go on, this one stays ready. yield() is for one that has found nothing to do; preempt() for hooks
// whose quantum is over: it sets a new one.
void yield(Thread* t);
void preempt(Thread* t);

// What a thread is about to do, as far as whoever says it knows.
struct Step {
  Op op = Op::kCallBegin;
  uptr pc = 0;  // 0: unknown
  uptr object = 0;
  u64 bytes = 0;       // of the object; 0: it may be about anything
  bool tries = false;  // a compare-exchange: a look at the object if it fails
  uptr also = 0;       // another object that it is about; 0: none
  bool in_s = false;   // with weak memory: a sequentially consistent access or fence
};
// In front of an operation of synchronisation: the strategy may let others go first. Counts as many accesses, so that
// threads that wait for one another in a loop of atomic loads soon get on.
void step(Thread* t, const Step& what = {});

// kSpurious: of waits for a condition only, whose callers must expect it.
enum class Wake : u32 { kWoken, kTimedOut, kLook, kSpurious };
using control::BlockedOn;
// Gives the turn up until somebody wakes `object` and the turn comes back; or until the deadline (nullptr: none) on
// `clock`, which is one of virtual time if that is on. May be woken without a reason, as by a signal, whose handler has
// then run: the caller looks again at what it waits for.
Wake block(Thread* t, uptr object, BlockedOn on, const timespec* deadline = nullptr, int clock = 0);
// The same for what may come about without anybody waking the object: kLook when it is time to look again. That is a
// tenth of a second later; under virtual time only while nobody else is ready; and in a controlled run when nobody can
// go on, so a deadlock is one all the same.
Wake poll(Thread* t, uptr object, BlockedOn on, const timespec* deadline = nullptr, int clock = 0);
// Virtual time only: until that moment. False: a handler ran before. Can be cancelled.
bool sleep(Thread* t, u64 moment);
// Virtual time only: the moment it is, which costs time; and what the thread has worked.
u64 tell_time(Thread* t);
// In front of that, where every choice is told: what it sees depends on whose sleep is over.
void step_clock(Thread* t);
u64 worked(const Thread* t);
// By how much, at most, a deadline fired before others had run that could.
u64 longest_delay();
// In the handler of a signal that found this thread: logs where every thread is. Nobody goes on afterwards.
void tell_where_all_are(const Thread* asked);
// Makes up to `count` of the threads that are blocked on the object ready, in the order in which they blocked. Returns
// how many.
u32 wake(uptr object, u32 count);
// Some thread is blocked on the object.
bool is_waited_for(uptr object);
inline constexpr u32 kAll = ~0u;
// The thread of this id, if it is blocked, goes on without a reason: it was cancelled.
void interrupt(u32 id);
// The same by the dispatcher of signals, in the thread itself and at any moment: a handler waits to be run.
void notice_signal(Thread* t);

// Controlled runs only. In front of an access at a site of the pair: comes back when the access is to be done.
void approach(Thread* t, const SiteAccess& access);
// The process is about to end, and whatever other threads have not done by then never happens: they may go first.
// kBegins: in front of what runs at exit, kEnds: behind it. A chance, not a promise: whoever runs for ever does not
// keep the process alive, because strategies are fair.
enum class Ending : u8 { kBegins, kEnds };
void ending(Thread* t, Ending when);
// A thread was created; it may go first.
void created_thread(Thread* t);
// In front of a plain access, when each is a scheduling point.
void step_access(Thread* t, const Step& what);
// What it did at its turn wrote what was there already, or failed.
void changed_nothing(Thread* t);
// The thread was found to do nothing but look at the same things again.
void spun(Thread* t);
void operation_done(Thread* t);
// The strategy has goals about what comes right behind what (schedule/reads_from.h), and wants to know what happened: at
// that offset in its module.
bool has_goals();
void observe(Thread* t, u64 place, uptr object, bool writes);
void thread_created(u32 id, u32 parent, u32 child);
// The process is over.
void end_run(Thread* t);

}  // namespace sooth::rt::turn
