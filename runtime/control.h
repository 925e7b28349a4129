// A controlled run: schedule/protocol.h. Nothing is recorded; hooks count where their thread is, look whether an access
// is at a site of the pair, and ask for other threads to run when their quantum is over. turn.h takes it from there.
//
// Everything here is done by the thread that has the turn, so nothing is locked but what the log shares with other
// processes. No address and no time plays a part in a decision: program counters and addresses are compared for
// equality only.
#pragma once

#include "runtime/recorder.h"
#include "runtime/thread.h"
#include "schedule/directed.h"
#include "schedule/follow.h"
#include "schedule/protocol.h"

namespace sooth::rt::controlled {

// From start_recording(): reads the control file if there is one. False: the process is not controlled.
bool start();
// In the child of a fork: another process of the same log.
void restart_after_fork();
// A thread begins, in this process or, by a fork, alone in another.
void begin_thread(Thread* t);
// The process ends in an orderly way.
void finish(Thread* t);

// What the control file says. The process is controlled.
const sooth::control::ControlHeader& header();
SOOTH_INLINE bool has_flag(u32 flag) { return recorder.controlled && (header().flags & flag) != 0; }
// Of the first process only: others do as its strategy says.
sooth::control::Plan plan();
const char* strategy_text();
StretchFollower make_stretch_follower();
ChoiceFollower make_choice_follower();
// control::WakeChoice; 0 if none is for it.
u32 chosen_place(u32 thread, u32 number);
// control::MemoryChoice, so many; of the first process only.
const sooth::control::MemoryChoice* older(u32& count);
bool has_sites();
// Others of the same log, which may share memory with this one.
bool has_other_processes();

// The log. Any thread, at any time; takes no lock.
void log(sooth::control::RecordKind kind, u32 thread, u64 a = 0, u64 b = 0, u64 c = 0);
void log_external(u32 thread, sooth::control::External what);
void log_race(u32 thread, const SiteAccess& access, sooth::control::RecordKind kind, bool goes_first);
// What the thread, which is `id` to the scheduler, is about to do: kLogPoints only. `pc` 0: nobody knows where; `bytes`
// 0: everything, as far as anybody knows.
// `flags`: control::kInSequentialOrder or 0. A fence of weak memory is about nothing.
void log_step(const Thread* t, u32 id, Op op, uptr pc, uptr object, u64 bytes, u64 flags = 0);
void log_also(u32 id, Op op, uptr object);  // behind it: the step is about this, too
// A frame of the thread, behind the record of the thread.
void log_frame(u32 thread, uptr pc);
void set_state(sooth::control::RunState state);
void publish_counts(u64 hook_calls, u64 scheduling_points);
// Where a program counter is in its module, as in the ELF file; itself when it is in none.
u64 module_offset(uptr pc);
// One more than where in the program's file the variable is; 0: in none of its variables. Modules that are not known yet
// are not looked for: the loader may have to be asked, and the caller may hold our lock.
u64 variable_offset(uptr address);
// Whether it is in the program itself, not in a library.
bool is_in_program(uptr pc);
// dlclose returned.
void modules_changed();

// A thread was created, as Op::kFork says it.
void thread_created(u32 id, u32 parent, u32 child);

// How far the thread has come. In a hook: in front of what it is about.
SOOTH_INLINE Position position_of(const Thread* t) { return {t->progress.events, t->progress.origin - t->quantum}; }
// Hook calls of the thread so far.
SOOTH_INLINE u64 calls_of(const Thread* t) { return t->progress.calls + (t->progress.origin - t->quantum); }
// Changes the quantum, not the position.
SOOTH_INLINE void set_quantum(Thread* t, u32 quantum) {
  t->progress.origin += u64{quantum} - t->quantum;
  t->quantum = quantum;
}
// Of all operations of the process so far, and of the points in front of them; never 0.
u32 operations_hash();
// The thread came to a point at which others may go first. Such points need not lead to an operation, and count all the
// same.
void passes_point(Thread* t);
u64 operations();

// From write_event(), when the event has happened.
void operation(Thread* t, uptr pc, Op op, u64 object, u64 size);
// In front of an atomic access that turn::step() let pass.
void approach_atomic(Thread* t, uptr pc, Op op, uptr address, u32 bytes);
// Behind one that may have left another value.
SOOTH_INLINE void changed_atomic(Thread* t) {
  t->spin.stop();
  t->special &= ~(kQuiet | kStill);
}
// Likewise an acquire that may wait for ever.
void approach_acquire(Thread* t, uptr pc, uptr lock);

// Program counters of plain accesses that are of no interest: direct-mapped.
inline constexpr u32 kBoringEntries = 1u << 14;
extern uptr boring_[kBoringEntries];
SOOTH_INLINE uptr& boring_entry(uptr pc) { return boring_[(pc ^ pc >> 14) & (kBoringEntries - 1)]; }

// In front of a plain access.
void access_slowly(Thread* t, uptr address, uptr pc, Op op, u32 bytes);
SOOTH_INLINE void access(Thread* t, uptr address, uptr pc, Op op, u32 bytes) {
  constexpr u32 kUnusual =
      kIgnoreReads | kIgnoreWrites | kIgnoreMemory | kEachAccess | kWatched | kQuiet | kStill | kWeak;
  if (SOOTH_LIKELY((t->special & kUnusual) == 0 && t->quantum > 1 && boring_entry(pc) == pc &&
                   (__atomic_load_n(&t->turn_state, __ATOMIC_RELAXED) | t->pending_signals) == 0)) {
    --t->quantum;
    return;
  }
  access_slowly(t, address, pc, op, bytes);
}

}  // namespace sooth::rt::controlled
