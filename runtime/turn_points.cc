// The points at which the thread that has the turn asks whether it keeps it: in front of operations and accesses, where a
// quantum is over, where the process ends.
#include "runtime/options.h"
#include "runtime/stream_writer.h"
#include "runtime/turn.h"
#include "runtime/turn_state.h"

namespace sooth::rt::turn {

using sooth::control::RecordKind;
using sooth::control::StretchEnd;

namespace {

// For strategies that ask what is pending: `what` nullptr is nothing that others could tell.
void set_pending(Standing& standing, const Step* what, u64 place) {
  standing.object = what == nullptr ? 0 : what->object / sooth::control::kGranule;
  standing.writes = what != nullptr && (!is_access(what->op) || is_write(what->op));
  standing.is_event = what != nullptr;
  standing.place = place;
}

// The thread has the turn and could go on: the strategy says whether it does. `what` it is about to do.
void reschedule(Thread* t, SchedulingPoint point, StretchEnd how, bool at_operation, const Step* what = nullptr) {
  write_pending(t);
  u64 place = what != nullptr && what->pc != 0 && has_goals() ? controlled::module_offset(what->pc) : 0;
  const u32* word = nullptr;
  {
    Locked locked(t);
    Node* n = node_of(t);
    set_pending(n->standing, what, place);
    n->events += what != nullptr ? 1 : 0;
    if (point == SchedulingPoint::kQuantum) controlled::set_quantum(t, grant(n));
    if (holder_ != n) return;  // it was taken away just now
    spend_time(n, point, how, t->quantum);
    Node* next = choose_next(n, point, how, at_operation);
    if (next == n) {
      if (recorder.controlled) keep_turn(t);
      return;
    }
    end_stretch(n, how);
    ownership::settle(t);
    give_up(t);
    word = pass_on_to(next);
    make_ready(n);
  }
  wake_up(word);
  await_turn(t);
}

// What the thread is about to do, for whoever wants to know; and whether it spins.
void announce_step(Thread* t, const Step& what) {
  if (what.pc != 0) t->progress.pc = what.pc;  // else it is a step inside of one
  if (controlled::has_flag(sooth::control::kLogPoints)) {
    controlled::log_step(t, node_of(t)->id, what.op, what.pc, what.object, what.bytes,
                         what.in_s ? sooth::control::kInSequentialOrder : 0);
    if (what.also != 0) controlled::log_also(node_of(t)->id, what.op, what.also);
  }
  if ((t->special & kWatched) == 0 || is_access(what.op) != is_atomic(what.op)) return;
  bool looks = what.op == Op::kAtomicLoad || what.op == Op::kAtomicRmw;  // which may leave what it found
  bool spins = looks && t->spin.reads(what.object, what.pc);
  if (!looks) t->spin.stop();
  if (!t->spin.is_watching()) t->special &= ~kWatched;
  if (spins) spun(t);
}

}  // namespace

void yield(Thread* t) {
  if (!taken()) return;
  if (recorder.controlled) {
    hold(t);
    controlled::passes_point(t);
  }
  reschedule(t, SchedulingPoint::kYield, StretchEnd::kYielded, true);
}

void preempt(Thread* t) { reschedule(t, SchedulingPoint::kQuantum, StretchEnd::kPreempted, false); }

void step(Thread* t, const Step& what) {
  if (!taken()) return;
  hold(t);
  if (recorder.controlled) {
    controlled::passes_point(t);
    announce_step(t, what);
    if (what.pc != 0) {  // a sleep does not tell: it is where the loop around it looked last
      t->stepped_at = what.pc;
      t->stepped_in = t->top;
    }
  } else if (what.pc != 0) {
    t->progress.pc = what.pc;  // for who asks where it waits
  }
  if (t->quantum <= kOperationWeight) {
    reschedule(t, SchedulingPoint::kQuantum, StretchEnd::kPreempted, true, &what);
    return;
  }
  controlled::set_quantum(t, t->quantum - kOperationWeight);
  if (asks_at_operations()) reschedule(t, SchedulingPoint::kOperation, StretchEnd::kPreempted, true, &what);
}

void step_access(Thread* t, const Step& what) {
  announce_step(t, what);
  reschedule(t, SchedulingPoint::kOperation, StretchEnd::kPreempted, false, &what);
}

void ending(Thread* t, Ending when) {
  if (!taken() || nodes_ == 1 || t->busy != 0) return;
  hold(t);
  if (recorder.controlled) controlled::passes_point(t);
  if (controlled::has_flag(sooth::control::kLogPoints)) {
    // What runs at exit has points of its own: only the end itself is one more step.
    if (when == Ending::kBegins) return;
    announce_step(t, {});
  }
  if (recorder.controlled) {
    Locked locked(t);
    release_before_end();
  }
  // In turn means that everybody has one.
  if (asks_at_operations())
    reschedule(t, SchedulingPoint::kOperation, StretchEnd::kPreempted, true);
  else
    reschedule(t, SchedulingPoint::kYield, StretchEnd::kYielded, true);
}

void created_thread(Thread* t) {
  if (!taken()) return;
  hold(t);
  if (recorder.controlled) controlled::passes_point(t);
  // Where each access is a point there is one anyway before the thread does anything that others see.
  if (!asks_at_operations() || controlled::has_flag(sooth::control::kLogPoints)) return;
  // Not in front of an operation, but behind one.
  reschedule(t, SchedulingPoint::kOperation, StretchEnd::kPreempted, false);
  if (recorder.controlled) operation_done(t);
}

void step_clock(Thread* t) {
  if (!recorder.controlled) return;
  hold(t);
  if (controlled::has_flag(sooth::control::kLogPoints) || follows_stretches()) {
    announce_step(t, {Op::kAtomicRmw, 0, virtual_clock::object(), 1});
    reschedule(t, SchedulingPoint::kOperation, StretchEnd::kPreempted, false);
  }
  // Behind the point: nothing else tells the two sides of the reading apart. A schedule may end in front of the next
  // access.
  controlled::passes_point(t);
  operation_done(t);
}

void changed_nothing(Thread* t) {
  if (controlled::has_flag(sooth::control::kLogPoints)) controlled::log_step(t, node_of(t)->id, Op::kCallEnd, 0, 0, 0);
}

void spun(Thread* t) {
  controlled::log(RecordKind::kSpin, node_of(t)->id);
  reschedule(t, SchedulingPoint::kYield, StretchEnd::kSpun, true);
}

}  // namespace sooth::rt::turn
