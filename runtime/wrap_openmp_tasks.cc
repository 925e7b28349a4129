// OpenMP's tasks as GCC compiles them.
//
// A task is a thread of its own to the analyses, whichever thread of the region happens to run it: made where the program
// makes it, ordered by what the specification says and by nothing else. Tasks that are parts of the one that makes them
// (`if(0)`, or inside of a final one) and those of a region of one thread are not: nothing runs beside them.
//
// libgomp copies the arguments of a task, and writes into the first words of the copy. What we have to know of a task goes
// in front of them, with room for those words.
#include <link.h>

#include "runtime/fibers.h"
#include "runtime/intercept.h"
#include "runtime/locks.h"
#include "runtime/openmp.h"

using namespace sooth;
using namespace sooth::rt;
using namespace sooth::rt::openmp;

namespace sooth::rt::openmp {

namespace {

constexpr u32 kKinds = 4;

u64 channel(const Order& order, uptr place, Kind kind) {
  return hashed(mixed(mixed(order.parent, place), static_cast<u64>(kind)));
}

SpinLock origins_lock_;  // of lists of them

// The variables that the thread has for itself: a task that it runs next sees what the last one left there, without a race.
struct Range {
  uptr begin, end;
};
int add_module(dl_phdr_info* module, std::size_t, void* data) {
  auto* range = static_cast<Range*>(data);
  for (int i = 0; module->dlpi_tls_data != nullptr && i < module->dlpi_phnum; ++i) {
    if (module->dlpi_phdr[i].p_type != PT_TLS) continue;
    uptr begin = reinterpret_cast<uptr>(module->dlpi_tls_data), end = begin + module->dlpi_phdr[i].p_memsz;
    // In the block that the thread began with: next to where the thread pointer points.
    constexpr uptr kNear = 1 << 20;
    if (kThreadLocalsBelow) {
      if (end <= range->end && range->end - begin <= kNear && begin < range->begin) range->begin = begin;
    } else {
      if (begin >= range->begin && end - range->begin <= kNear && end > range->end) range->end = end;
    }
  }
  return 0;
}
Range own_variables() {
  static __thread Range range __attribute__((tls_model("initial-exec")));
  if (range.end == 0) {
    range.begin = range.end = thread_pointer();
    dl_iterate_phdr(add_module, &range);
  }
  return range;
}

}  // namespace

void renew_own_memory(Thread* t, uptr pc, uptr top) {
  constexpr uptr kStack = 1 << 20;
  uptr low =
      t->stack_begin != 0 && t->stack_begin < top && top - t->stack_begin < kStack ? t->stack_begin : top - kStack;
  write_event(t, pc, Shape::sized(Op::kAlloc), low, top - low);
  Range own = own_variables();
  if (own.begin < own.end) write_event(t, pc, Shape::sized(Op::kAlloc), own.begin, own.end - own.begin);
}

void receive(Thread* t, const Order& order) {
  for (u32 i = 0; i < order.dependences; ++i) {
    Dependence d = order.places[i];
    for (u32 kind = 0; kind < kKinds; ++kind) {
      if (static_cast<Kind>(kind) != d.kind || d.kind == Kind::kWrites)
        after(t, order.pc, channel(order, d.place, static_cast<Kind>(kind)));
    }
  }
}

void receive_all(Thread* t, uptr pc, void** depend) {
  for (u32 i = 0; i < count_dependences(depend); ++i) {
    Dependence place = dependence(depend, i);
    receive(t, {context_->children, 0, nullptr, pc, 1, &place});
  }
}

void exclude(Thread* t, const Order& order) {
  for (u32 i = 0; i < order.dependences; ++i)
    if (order.places[i].kind == Kind::kExcludes)
      lock_acquired(t, order.pc, channel(order, order.places[i].place, Kind::kExcludes));
}
void include(Thread* t, const Order& order) {
  for (u32 i = order.dependences; i > 0; --i)
    if (order.places[i - 1].kind == Kind::kExcludes)
      lock_releasing(t, order.pc, channel(order, order.places[i - 1].place, Kind::kExcludes));
}

void tell_done(Thread* t, const Order& order) {
  for (u32 i = 0; i < order.dependences; ++i)
    before(t, order.pc, channel(order, order.places[i].place, order.places[i].kind));
  before(t, order.pc, order.parent);
  if (order.group != 0) before(t, order.pc, order.group);
  if (order.team != nullptr) before(t, order.pc, order.team->tasks());
}

Origin* make_origin(Thread* t, uptr pc) {
  auto* origin = static_cast<Origin*>(map_memory(sizeof(Origin)));
  if (origin == nullptr) fatal("out of memory for another taskloop");
  origin->fiber = create_fiber(t, pc);
  return origin;
}
void drop_origin(Thread* t, uptr pc, Origin* origin) {
  destroy_fiber(t, pc, origin->fiber);
  unmap_memory(origin, sizeof *origin);
}
void keep_origin(Team& team, Origin* origin) {
  SpinGuard guard(origins_lock_);
  origin->next = static_cast<Origin*>(team.origins);
  team.origins = origin;
}
Fiber* create_fiber_of(Thread* t, uptr pc, Origin& origin) {
  SpinGuard guard(origin.lock);
  Fiber* maker = current_fiber(t);
  switch_to_fiber(t, pc, origin.fiber, false);
  Fiber* fiber = create_fiber(t, pc);
  switch_to_fiber(t, pc, maker, false);
  return fiber;
}
void drop_origins(Thread* t, uptr pc, Team& team) {
  while (auto* origin = static_cast<Origin*>(team.origins)) {
    team.origins = origin->next;
    drop_origin(t, pc, origin);
  }
}

bool is_part_of_maker(bool deferred) {
  return !deferred || team_ == nullptr || team_->threads < 2 || context_ == nullptr || context_->final;
}

void open_group() {
  u64 group = new_message();
  Context& context = *context_;
  if (context.depth < Context::kGroups) context.outer[context.depth] = context.group;
  ++context.depth;
  context.group = group;
}
void close_group(Thread* t, uptr pc) {
  Context& context = *context_;
  after(t, pc, context.group);
  if (--context.depth < Context::kGroups) context.group = context.outer[context.depth];
}

// { count, writers, places... }, or { 0, count, writers, excluding, readers, places..., objects... } where an object is
// { place, kind }. Writers come first.
u32 count_dependences(void** depend) {
  return depend == nullptr ? 0 : static_cast<u32>(reinterpret_cast<uptr>(depend[depend[0] == nullptr ? 1 : 0]));
}
Dependence dependence(void** depend, u32 i) {
  constexpr uptr kObjectReads = 1, kObjectExcludes = 4, kObjectShares = 5;
  auto number = [&](u32 at) { return static_cast<u32>(reinterpret_cast<uptr>(depend[at])); };
  bool extended = depend[0] == nullptr;
  void* place = depend[(extended ? 5 : 2) + i];
  u32 writers = number(extended ? 2 : 1), excluding = extended ? number(3) : 0;
  if (i < writers) return {reinterpret_cast<uptr>(place), Kind::kWrites};
  if (i < writers + excluding) return {reinterpret_cast<uptr>(place), Kind::kExcludes};
  if (!extended || i < writers + excluding + number(4)) return {reinterpret_cast<uptr>(place), Kind::kReads};
  auto* object = static_cast<uptr*>(place);
  return {object[0], object[1] == kObjectReads      ? Kind::kReads
                     : object[1] == kObjectExcludes ? Kind::kExcludes
                     : object[1] == kObjectShares   ? Kind::kShares
                                                    : Kind::kWrites};
}

}  // namespace sooth::rt::openmp

namespace {

using Body = void (*)(void*);
using Copy = void (*)(void*, void*);

// Of libgomp's interface.
constexpr unsigned kFinal = 1 << 1, kDepends = 1 << 3, kIf = 1 << 10, kNoGroup = 1 << 11, kReduces = 1 << 12,
                   kDetaches = 1 << 13;

struct Task {
  uptr words[3];  // libgomp's: the event of a task that can be detached, or the range and reductions of a taskloop's
  u32 own_words;  // how many of them it has written: the arguments have them, too
  u32 offset;     // of the arguments
  u32 dependences;
  bool final;
  bool reduces;  // a part of what its thread collects of a reduction, from its first step on
  Body body;
  Copy copy;
  void* original;  // the arguments as the program gave them
  Team* team;
  Fiber* fiber;    // nullptr: it is part of whoever runs it
  Origin* origin;  // of a taskloop
  u64 message, parent, group;
  uptr pc;

  Dependence* places() { return reinterpret_cast<Dependence*>(this + 1); }
  char* arguments() { return reinterpret_cast<char*>(this) + offset; }
  Order order() { return {parent, group, team, pc, dependences, places()}; }
};

// Tasks that can be detached, by libgomp's name of their event.
struct Detached {
  uptr event;  // 0: free
  Task* task;  // nullptr: it has not begun
  Team* team;
  u64 parent, group;
};
constexpr u32 kDetached = 4096, kNeighbours = 64;
Detached* detached_ = nullptr;
SpinLock detached_lock_;

// Under the lock. nullptr: unknown, or (with `add`) no room.
Detached* find_detached(uptr event, bool add) {
  if (detached_ == nullptr) detached_ = static_cast<Detached*>(map_memory(kDetached * sizeof(Detached)));
  Detached* room = nullptr;
  for (u32 i = 0; detached_ != nullptr && i < kNeighbours; ++i) {
    Detached& d = detached_[(event / 16 + i) % kDetached];
    if (d.event == event) return &d;
    if (d.event == 0 && room == nullptr) room = &d;
  }
  return add ? room : nullptr;
}
void note_detached(uptr event, const Task& task, Task* begun) {
  SpinGuard guard(detached_lock_);
  Detached* d = find_detached(event, true);
  if (d == nullptr || (d->event == event && begun == nullptr)) return;
  *d = {event, begun, task.team, task.parent, task.group};
}

// What a thread has collected of a reduction is handed from task to task that it runs: a message of its own.
__thread char collected_ __attribute__((tls_model("initial-exec")));

// `all`: the region collects, so the part of the thread in the region may have added to it, too.
void join_collected(Thread* t, uptr pc, bool all) {
  if (context_->reduces) return;
  if (all && context_->task != nullptr) {
    switch_to_fiber(t, pc, context_->runner, false);
    before(t, pc, of(&collected_));
    switch_to_fiber(t, pc, context_->task, false);
  }
  after(t, pc, of(&collected_));
  context_->reduces = true;
}

void run_body(Task* task) {
  Thread* t = current();
  if (t != nullptr) {
    after(t, task->pc, task->message);
    receive(t, task->order());
    exclude(t, task->order());
  }
  task->body(task->arguments());
  if ((t = current()) != nullptr) {
    include(t, task->order());
    tell_done(t, task->order());
  }
}

void run_task(void* p) {
  auto* task = static_cast<Task*>(p);
  Thread* t = current();
  Inside inside(t);
  Context context{};
  context.children = new_message();
  context.group = task->group;
  context.final = task->final;
  Context* outer = context_;
  Team* outer_team = team_;
  context_ = &context;
  team_ = task->team;
  copy_memory(task->arguments(), task->words, task->own_words * sizeof(uptr));
  if (task->own_words == 1) note_detached(task->words[0], *task, task);
  Fiber* before_it = nullptr;
  if (t != nullptr && task->fiber != nullptr) {
    before_it = current_fiber(t);
    switch_to_fiber(t, task->pc, task->fiber, false);
    renew_own_memory(t, task->pc, of(__builtin_frame_address(0)));
  }
  context.task = task->fiber;
  context.runner = before_it;
  if (task->reduces && t != nullptr) join_collected(t, task->pc, false);
  run_body(task);
  if (context.reduces && (t = current()) != nullptr) before(t, task->pc, of(&collected_));
  if (before_it != nullptr && (t = current()) != nullptr) {
    switch_to_fiber(t, task->pc, before_it, false);
    destroy_fiber(t, task->pc, task->fiber);
    renew_own_memory(t, task->pc, of(__builtin_frame_address(0)));
  }
  context_ = outer;
  team_ = outer_team;
}

void run_task_of_loop(void* p) {
  auto* task = static_cast<Task*>(p);
  Thread* t = current();
  Inside inside(t);
  if (t != nullptr) task->fiber = create_fiber_of(t, task->pc, *task->origin);
  run_task(p);
}

void copy_task(void* to, void* from) {
  auto* task = static_cast<Task*>(from);
  copy_memory(to, task, task->offset);
  if (task->own_words == 1) *static_cast<uptr*>(task->original) = task->words[0];
  task->copy(static_cast<char*>(to) + task->offset, task->original);
}

// Memory for a task with `size` bytes of arguments: how much, and where in it the arguments begin.
struct Layout {
  long alignment;
  u32 offset;

  Layout(long wanted, u32 dependences) : alignment(wanted < 16 ? 16 : wanted) {
    long header = static_cast<long>(sizeof(Task) + dependences * sizeof(Dependence));
    offset = static_cast<u32>((header + alignment - 1) / alignment * alignment);
  }
  std::size_t bytes(long size) const { return static_cast<std::size_t>(offset + size + alignment); }
  Task* place(char* buffer) const {
    auto unit = static_cast<uptr>(alignment);
    return reinterpret_cast<Task*>((reinterpret_cast<uptr>(buffer) + unit - 1) / unit * unit);
  }
};

void describe(Thread* t, Task& task, uptr pc, Body body, void* data, Copy copy, long size, unsigned flags, u32 offset) {
  zero_memory(&task, sizeof task);
  task.body = body;
  task.copy = copy;
  task.original = data;
  task.offset = offset;
  task.team = team_;
  task.parent = context_ != nullptr ? context_->children : 0;
  task.group = context_ != nullptr ? context_->group : 0;
  task.final = (flags & kFinal) != 0 || (context_ != nullptr && context_->final);
  task.message = new_message();
  task.pc = pc;
  if (copy == nullptr) copy_memory(task.arguments(), data, static_cast<std::size_t>(size));
  before(t, pc, task.message);
}

}  // namespace

SOOTH_INTERCEPT(void, GOMP_task, Body body, void* data, Copy copy, long size, long alignment, bool deferred,
                unsigned flags, void** depend, int priority, void* detach) {
  Thread* t = current_in_libgomp();
  if (t == nullptr) return real_GOMP_task(body, data, copy, size, alignment, deferred, flags, depend, priority, detach);
  u32 dependences = (flags & kDepends) != 0 ? count_dependences(depend) : 0;
  Layout layout(alignment, dependences);
  Task* task = layout.place(static_cast<char*>(__builtin_alloca_with_align(layout.bytes(size), 128)));
  describe(t, *task, SOOTH_CALLER, body, data, copy, size, flags, layout.offset);
  task->own_words = (flags & kDetaches) != 0 ? 1 : 0;
  task->dependences = dependences;
  for (u32 i = 0; i < dependences; ++i) task->places()[i] = dependence(depend, i);
  if (!is_part_of_maker(deferred)) task->fiber = create_fiber(t, task->pc);
  const auto call = [&] {
    real_GOMP_task(run_task, task, copy == nullptr ? nullptr : copy_task, layout.offset + size, layout.alignment,
                   deferred, flags, depend, priority, detach);
  };
  uptr pc = task->pc;
  u64 done = task->parent;
  if (deferred)
    call();
  else
    call_waiting(t, pc, call);  // for what it depends on
  if (task->own_words == 1) note_detached(*static_cast<uptr*>(detach), *task, nullptr);
  if (!deferred && dependences != 0) after(t, pc, done);
}

namespace {

template <typename Number, typename Real>
SOOTH_INLINE void run_taskloop(Real& real, uptr pc, Body body, void* data, Copy copy, long size, long alignment,
                               unsigned flags, unsigned long tasks, int priority, Number from, Number to, Number step) {
  Thread* t = current_in_libgomp();
  if (t == nullptr || context_ == nullptr || team_ == nullptr)
    return real(body, data, copy, size, alignment, flags, tasks, priority, from, to, step);
  bool grouped = (flags & kNoGroup) == 0;
  if (grouped) open_group();
  Layout layout(alignment, 0);
  Task* task = layout.place(static_cast<char*>(__builtin_alloca_with_align(layout.bytes(size), 128)));
  describe(t, *task, pc, body, data, copy, size, flags, layout.offset);
  task->own_words = 2;
  task->reduces = (flags & kReduces) != 0;
  if (task->reduces) task->words[2] = static_cast<uptr*>(data)[2];
  bool apart = !is_part_of_maker((flags & kIf) != 0);
  if (apart) task->origin = make_origin(t, pc);
  call_waiting(t, pc, [&] {
    real(apart ? run_task_of_loop : run_task, task, copy == nullptr ? nullptr : copy_task, layout.offset + size,
         layout.alignment, flags, tasks, priority, from, to, step);
  });
  if (grouped) close_group(t, pc);
  if (apart && grouped) drop_origin(t, pc, task->origin);
  if (apart && !grouped) keep_origin(*team_, task->origin);
}

}  // namespace

SOOTH_INTERCEPT(void, GOMP_taskloop, Body body, void* data, Copy copy, long size, long alignment, unsigned flags,
                unsigned long tasks, int priority, long from, long to, long step) {
  run_taskloop(real_GOMP_taskloop, SOOTH_CALLER, body, data, copy, size, alignment, flags, tasks, priority, from, to,
               step);
}
SOOTH_INTERCEPT(void, GOMP_taskloop_ull, Body body, void* data, Copy copy, long size, long alignment, unsigned flags,
                unsigned long tasks, int priority, unsigned long long from, unsigned long long to,
                unsigned long long step) {
  run_taskloop(real_GOMP_taskloop_ull, SOOTH_CALLER, body, data, copy, size, alignment, flags, tasks, priority, from,
               to, step);
}

SOOTH_INTERCEPT(void, GOMP_taskwait, void) {
  Thread* t = current_in_libgomp();
  call_waiting(t, SOOTH_CALLER, [] { real_GOMP_taskwait(); });
  if (t != nullptr && context_ != nullptr) after(t, SOOTH_CALLER, context_->children);
}
SOOTH_INTERCEPT(void, GOMP_taskwait_depend, void** depend) {
  Thread* t = current_in_libgomp();
  call_waiting(t, SOOTH_CALLER, [&] { real_GOMP_taskwait_depend(depend); });
  if (t != nullptr && context_ != nullptr) receive_all(t, SOOTH_CALLER, depend);
}
SOOTH_INTERCEPT(void, GOMP_taskgroup_start, void) {
  real_GOMP_taskgroup_start();
  if (current_in_libgomp() != nullptr && context_ != nullptr) open_group();
}
SOOTH_INTERCEPT(void, GOMP_taskgroup_end, void) {
  Thread* t = current_in_libgomp();
  call_waiting(t, SOOTH_CALLER, [] { real_GOMP_taskgroup_end(); });
  if (t != nullptr && context_ != nullptr && context_->depth != 0) close_group(t, SOOTH_CALLER);
}
SOOTH_INTERCEPT(void, GOMP_task_reduction_remap, std::size_t count, std::size_t originals, void** places) {
  real_GOMP_task_reduction_remap(count, originals, places);
  Thread* t = current_in_libgomp();
  if (t == nullptr || context_ == nullptr) return;
  join_collected(t, SOOTH_CALLER, true);
}
SOOTH_INTERCEPT(void, omp_fulfill_event, uptr event) {
  Thread* t = current();
  if (t != nullptr) {
    Detached found{};
    {
      SpinGuard guard(detached_lock_);
      if (Detached* d = find_detached(event, false)) {
        found = *d;
        d->event = 0;
      }
    }
    if (found.event != 0) {
      uptr pc = SOOTH_CALLER;
      if (found.task != nullptr) {
        tell_done(t, found.task->order());
      } else {
        before(t, pc, found.parent);
        if (found.group != 0) before(t, pc, found.group);
        if (found.team != nullptr) before(t, pc, found.team->tasks());
      }
    }
  }
  // It may free the task, by a jump that looks like the program's call.
  if (t != nullptr) ++t->ignore_writes;
  real_omp_fulfill_event(event);
  if (t != nullptr) --t->ignore_writes;
}
