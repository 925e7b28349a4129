#include "runtime/fibers.h"

#include "runtime/calls.h"
#include "runtime/recorder.h"
#include "runtime/stream_writer.h"

namespace sooth::rt {

// The part of a Thread that belongs to the logical thread. Its own stack of calls, because it continues where it was
// left.
struct Fiber {
  u32 id;
  bool started;
  Frame *frames, *bottom, *top;
  u32 held_count;
  HeldLock held[kMaxHeld];
  Frame* call_frame;
  uptr call_stack, call_pc, call_site;
  u32 call_function, call_count;
  bool call_unknown;
  Fiber* next;  // of those that threads run now
  Thread* running;
};

namespace {

SpinLock lock_;
Fiber* all_ = nullptr;

Fiber* make_fiber() {
  auto* fiber = static_cast<Fiber*>(map_memory(sizeof(Fiber)));
  if (fiber == nullptr) fatal("out of memory for another fiber");
  SpinGuard guard(lock_);
  fiber->next = all_;
  all_ = fiber;
  return fiber;
}

void save(Thread* t, Fiber* fiber) {
  fiber->frames = t->frames;
  fiber->bottom = t->bottom;
  fiber->top = t->top;
  fiber->held_count = t->held_count;
  for (u32 i = 0; i < t->held_count; ++i) fiber->held[i] = t->held[i];
  fiber->call_frame = t->call_frame;
  fiber->call_stack = t->call_stack;
  fiber->call_function = t->call_function;
  fiber->call_pc = t->call_pc;
  fiber->call_site = t->call_site;
  fiber->call_count = t->call_count;
  fiber->call_unknown = t->call_unknown;
  fiber->running = nullptr;
}

void load(Thread* t, Fiber* fiber) {
  t->frames = fiber->frames;
  t->bottom = fiber->bottom;
  // The reader knows the stack of a thread as of when it was left: all of it was written then.
  t->top = t->low = t->written = t->placed = fiber->top;
  t->held_count = fiber->held_count;
  for (u32 i = 0; i < fiber->held_count; ++i) t->held[i] = fiber->held[i];
  t->special &= ~kStackChanged;
  t->call_frame = fiber->call_frame;
  t->call_stack = fiber->call_stack;
  t->call_function = fiber->call_function;
  t->call_pc = fiber->call_pc;
  t->call_site = fiber->call_site;
  t->call_count = fiber->call_count;
  t->call_unknown = fiber->call_unknown;
  fiber->running = t;
}

}  // namespace

Fiber* current_fiber(Thread* t) {
  {
    SpinGuard guard(lock_);
    for (Fiber* f = all_; f != nullptr; f = f->next)
      if (f->running == t && f->id == t->id) return f;
  }
  // A thread becomes a fiber when it is first asked for.
  Fiber* fiber = make_fiber();
  fiber->id = t->id;
  fiber->started = true;
  save(t, fiber);
  fiber->running = t;
  return fiber;
}

Fiber* create_fiber(Thread* t, uptr pc) {
  Fiber* fiber = make_fiber();
  fiber->id = new_thread_id(t, pc);
  auto* frames = static_cast<Frame*>(map_memory((kMaxFrames + 1) * sizeof(Frame)));
  if (frames == nullptr) fatal("out of memory for another fiber");
  fiber->frames = fiber->bottom = fiber->top = frames;
  return fiber;
}

void switch_to_fiber(Thread* t, uptr pc, Fiber* fiber, bool ordered) {
  Fiber* from = current_fiber(t);
  if (from == fiber) return;
  if (ordered) write_event(t, pc, Shape::of(Op::kHappensBefore), reinterpret_cast<uptr>(fiber));
  calls::fiber_left(t);
  if ((t->special & kStackChanged) != 0) write_stack(t);
  save(t, from);
  load(t, fiber);
  switch_to_thread_id(t, fiber->id);
  if (!fiber->started) {
    fiber->started = true;
    write_event(t, pc, Shape::of(Op::kBegin), 0);
  }
  if (ordered) write_event(t, pc, Shape::of(Op::kHappensAfter), reinterpret_cast<uptr>(fiber));
}

void destroy_fiber(Thread* t, uptr pc, Fiber* fiber) {
  if (fiber->started) {
    Fiber* from = current_fiber(t);
    switch_to_fiber(t, pc, fiber, true);
    write_event(t, pc, Shape::of(Op::kEnd), 0);
    switch_to_fiber(t, pc, from, false);
  }
  thread_info(fiber->id).state = static_cast<u32>(ThreadState::kJoined);
  {
    SpinGuard guard(lock_);
    Fiber** at = &all_;
    while (*at != fiber) at = &(*at)->next;
    *at = fiber->next;
  }
  unmap_memory(fiber->bottom, (kMaxFrames + 1) * sizeof(Frame));
  unmap_memory(fiber, sizeof(Fiber));
}

void name_fiber(Thread* t, Fiber* fiber, const char* name) { write_name(t, ObjectKind::kThread, fiber->id, name); }

}  // namespace sooth::rt
