// OpenMP as GCC compiles it: the synchronisation of libgomp, seen at its entry points. Its threads come from
// pthread_create and are recorded as usual; what happens inside libgomp itself is not instrumented. `taskloop` is not
// modelled (a note says so); nor is clang's libomp, which `sooth record` says of a program that needs it.
#include <stdarg.h>

#include "runtime/intercept.h"
#include "runtime/locks.h"
#include "runtime/stream_writer.h"

using namespace sooth;
using namespace sooth::rt;

namespace {

// A parallel region. Its fields' addresses are the messages and the barrier of the region.
struct Team {
  void (*body)(void*);
  void* data;
  char start, end, barrier, copy, ordered, tasks;
};

// What waits for the tasks of a task.
struct TaskContext {
  char children;
};

__thread Team* team_ __attribute__((tls_model("initial-exec"))) = nullptr;
__thread TaskContext* task_ __attribute__((tls_model("initial-exec"))) = nullptr;

constexpr u32 kMaxDependences = 16;
struct Task {
  void (*body)(void*);
  void (*copy)(void*, void*);
  void* original;  // the arguments as the program gave them
  u32 offset;      // of the arguments behind this header
  u32 dependences, outputs;
  Team* team;
  TaskContext* parent;
  u64 message;
  uptr pc;
  uptr addresses[kMaxDependences];
};

constexpr u64 kFirstTaskMessage = u64{1} << 44;
u64 next_task_ = 0;

void before(Thread* t, uptr pc, u64 message) { write_event(t, pc, Shape::of(Op::kHappensBefore), message); }
void after(Thread* t, uptr pc, u64 message) { write_event(t, pc, Shape::of(Op::kHappensAfter), message); }
u64 of(const void* p) { return reinterpret_cast<u64>(p); }
// Readers of a dependence and writers of it: two messages for an address.
u64 readers_of(uptr address) {
  return address ^ u64 { 1 } << 43;
}

// The body of a parallel region in each of its threads.
void run_member(void* p) {
  auto* team = static_cast<Team*>(p);
  Thread* t = current();
  Team* outer = team_;
  TaskContext* outer_task = task_;
  TaskContext context;
  team_ = team;
  task_ = &context;
  uptr pc = reinterpret_cast<uptr>(team->body);
  if (t != nullptr) after(t, pc, of(&team->start));
  team->body(team->data);
  if ((t = current()) != nullptr) before(t, pc, of(&team->end));
  team_ = outer;
  task_ = outer_task;
}

void run_task(void* p) {
  auto* task = static_cast<Task*>(p);
  TaskContext context;
  TaskContext* outer = task_;
  Team* outer_team = team_;
  task_ = &context;
  team_ = task->team;
  if (Thread* t = current()) {
    after(t, task->pc, task->message);
    for (u32 i = 0; i < task->dependences; ++i) {
      after(t, task->pc, task->addresses[i]);
      if (i < task->outputs) after(t, task->pc, readers_of(task->addresses[i]));
    }
  }
  task->body(static_cast<char*>(p) + task->offset);
  if (Thread* t = current()) {
    for (u32 i = 0; i < task->dependences; ++i)
      before(t, task->pc, i < task->outputs ? task->addresses[i] : readers_of(task->addresses[i]));
    if (task->parent != nullptr) before(t, task->pc, of(&task->parent->children));
    if (task->team != nullptr) before(t, task->pc, of(&task->team->tasks));
  }
  task_ = outer;
  team_ = outer_team;
}

void copy_task(void* to, void* from) {
  auto* task = static_cast<Task*>(from);
  copy_memory(to, task, sizeof *task);
  task->copy(static_cast<char*>(to) + task->offset, task->original);
}

// All threads of the region meet, and all its tasks are done.
template <typename Call>
SOOTH_INLINE auto meet(uptr pc, Call call) {
  Thread* t = current();
  Team* team = team_;
  if (t == nullptr || team == nullptr) return call();
  write_event(t, pc, Shape::of(Op::kBarrierArrive), of(&team->barrier));
  if constexpr (__is_same(decltype(call()), void)) {
    call();
    write_event(t, pc, Shape::of(Op::kBarrierLeave), of(&team->barrier));
    after(t, pc, of(&team->tasks));
  } else {
    auto result = call();
    write_event(t, pc, Shape::of(Op::kBarrierLeave), of(&team->barrier));
    after(t, pc, of(&team->tasks));
    return result;
  }
}

// Runs a region: `call` gets the body and data to hand to libgomp.
template <typename Call>
SOOTH_INLINE auto run_region(uptr pc, void (*body)(void*), void* data, Call call) {
  Thread* t = current();
  if (t == nullptr) return call(body, data);
  Team team{body, data, 0, 0, 0, 0, 0, 0};
  before(t, pc, of(&team.start));
  if constexpr (__is_same(decltype(call(body, data)), void)) {
    call(run_member, &team);
    after(t, pc, of(&team.end));
    after(t, pc, of(&team.tasks));
  } else {
    auto result = call(run_member, &team);
    after(t, pc, of(&team.end));
    after(t, pc, of(&team.tasks));
    return result;
  }
}

char critical_, atomic_;

}  // namespace

using Body = void (*)(void*);

SOOTH_INTERCEPT(void, GOMP_parallel, Body body, void* data, unsigned threads, unsigned flags) {
  run_region(SOOTH_CALLER, body, data, [&](Body b, void* d) { real_GOMP_parallel(b, d, threads, flags); });
}
SOOTH_INTERCEPT(unsigned, GOMP_parallel_reductions, Body body, void* data, unsigned threads, unsigned flags) {
  return run_region(SOOTH_CALLER, body, data,
                    [&](Body b, void* d) { return real_GOMP_parallel_reductions(b, d, threads, flags); });
}
SOOTH_INTERCEPT(void, GOMP_parallel_sections, Body body, void* data, unsigned threads, unsigned count, unsigned flags) {
  run_region(SOOTH_CALLER, body, data,
             [&](Body b, void* d) { real_GOMP_parallel_sections(b, d, threads, count, flags); });
}
#define SOOTH_LOOP(name)                                                                                          \
  SOOTH_INTERCEPT(void, name, Body body, void* data, unsigned threads, long from, long to, long step, long chunk, \
                  unsigned flags) {                                                                               \
    run_region(SOOTH_CALLER, body, data,                                                                          \
               [&](Body b, void* d) { real_##name(b, d, threads, from, to, step, chunk, flags); });               \
  }
SOOTH_LOOP(GOMP_parallel_loop_static)
SOOTH_LOOP(GOMP_parallel_loop_dynamic)
SOOTH_LOOP(GOMP_parallel_loop_guided)
SOOTH_LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
SOOTH_LOOP(GOMP_parallel_loop_nonmonotonic_guided)
#define SOOTH_LOOP_AT_RUN_TIME(name)                                                                                   \
  SOOTH_INTERCEPT(void, name, Body body, void* data, unsigned threads, long from, long to, long step,                  \
                  unsigned flags) {                                                                                    \
    run_region(SOOTH_CALLER, body, data, [&](Body b, void* d) { real_##name(b, d, threads, from, to, step, flags); }); \
  }
SOOTH_LOOP_AT_RUN_TIME(GOMP_parallel_loop_runtime)
SOOTH_LOOP_AT_RUN_TIME(GOMP_parallel_loop_nonmonotonic_runtime)
SOOTH_LOOP_AT_RUN_TIME(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

#define SOOTH_MEETING(result, name)                          \
  SOOTH_INTERCEPT(result, name, void) {                      \
    return meet(SOOTH_CALLER, [] { return real_##name(); }); \
  }
SOOTH_MEETING(void, GOMP_barrier)
SOOTH_MEETING(bool, GOMP_barrier_cancel)
SOOTH_MEETING(void, GOMP_loop_end)
SOOTH_MEETING(bool, GOMP_loop_end_cancel)
SOOTH_MEETING(void, GOMP_sections_end)
SOOTH_MEETING(bool, GOMP_sections_end_cancel)

// Locks: known to the trace by the address of what libgomp is given.
#define SOOTH_OMP_LOCK(name, parameters, arguments, lock)                                    \
  SOOTH_INTERCEPT(void, name, parameters) {                                                  \
    real_##name arguments;                                                                   \
    if (Thread* t = current()) lock_acquired(t, SOOTH_CALLER, reinterpret_cast<uptr>(lock)); \
  }
#define SOOTH_OMP_UNLOCK(name, parameters, arguments, lock)                                   \
  SOOTH_INTERCEPT(void, name, parameters) {                                                   \
    if (Thread* t = current()) lock_releasing(t, SOOTH_CALLER, reinterpret_cast<uptr>(lock)); \
    real_##name arguments;                                                                    \
  }
SOOTH_OMP_LOCK(GOMP_critical_start, void, (), &critical_)
SOOTH_OMP_UNLOCK(GOMP_critical_end, void, (), &critical_)
SOOTH_OMP_LOCK(GOMP_atomic_start, void, (), &atomic_)
SOOTH_OMP_UNLOCK(GOMP_atomic_end, void, (), &atomic_)
SOOTH_OMP_LOCK(GOMP_critical_name_start, void** name, (name), name)
SOOTH_OMP_UNLOCK(GOMP_critical_name_end, void** name, (name), name)
SOOTH_OMP_LOCK(omp_set_lock, void* lock, (lock), lock)
SOOTH_OMP_UNLOCK(omp_unset_lock, void* lock, (lock), lock)
SOOTH_OMP_LOCK(omp_set_nest_lock, void* lock, (lock), lock)
SOOTH_OMP_UNLOCK(omp_unset_nest_lock, void* lock, (lock), lock)
namespace {

void tested(uptr pc, uptr lock, bool taken) {
  Thread* t = current();
  if (t == nullptr) return;
  if (taken)
    lock_acquired(t, pc, lock, false, sooth::kTry);
  else
    lock_missed(t, pc, lock, false, sooth::kTry);
}

}  // namespace

SOOTH_INTERCEPT(int, omp_test_lock, void* lock) {
  int taken = real_omp_test_lock(lock);
  tested(SOOTH_CALLER, reinterpret_cast<uptr>(lock), taken != 0);
  return taken;
}
SOOTH_INTERCEPT(int, omp_test_nest_lock, void* lock) {
  int taken = real_omp_test_nest_lock(lock);
  tested(SOOTH_CALLER, reinterpret_cast<uptr>(lock), taken != 0);
  return taken;
}

SOOTH_INTERCEPT(void*, GOMP_single_copy_start, void) {
  void* data = real_GOMP_single_copy_start();
  Thread* t = current();
  if (t != nullptr && team_ != nullptr && data != nullptr) after(t, SOOTH_CALLER, of(&team_->copy));
  return data;
}
SOOTH_INTERCEPT(void, GOMP_single_copy_end, void* data) {
  if (Thread* t = current(); t != nullptr && team_ != nullptr) before(t, SOOTH_CALLER, of(&team_->copy));
  real_GOMP_single_copy_end(data);
}
SOOTH_INTERCEPT(void, GOMP_ordered_start, void) {
  real_GOMP_ordered_start();
  if (Thread* t = current(); t != nullptr && team_ != nullptr) after(t, SOOTH_CALLER, of(&team_->ordered));
}
SOOTH_INTERCEPT(void, GOMP_ordered_end, void) {
  if (Thread* t = current(); t != nullptr && team_ != nullptr) before(t, SOOTH_CALLER, of(&team_->ordered));
  real_GOMP_ordered_end();
}

// Dependences: { count, outputs, addresses... }, or { 0, count, outputs, mutexinoutset, in, addresses... }. Outputs
// come first.
static void read_dependences(Task& task, void** depend) {
  bool extended = depend[0] == nullptr;
  auto count = static_cast<u32>(reinterpret_cast<uptr>(depend[extended ? 1 : 0]));
  auto outputs = static_cast<u32>(reinterpret_cast<uptr>(depend[extended ? 2 : 1]));
  // Members of mutexinoutset exclude one another; ordering them is the nearest that is safe.
  if (extended) outputs += static_cast<u32>(reinterpret_cast<uptr>(depend[3]));
  void** addresses = depend + (extended ? 5 : 2);
  task.dependences = count < kMaxDependences ? count : kMaxDependences;
  task.outputs = outputs < task.dependences ? outputs : task.dependences;
  for (u32 i = 0; i < task.dependences; ++i) task.addresses[i] = reinterpret_cast<uptr>(addresses[i]);
}

SOOTH_INTERCEPT(void, GOMP_task, Body body, void* data, void (*copy)(void*, void*), long size, long alignment,
                bool deferred, unsigned flags, void** depend, int priority, void* detach) {
  Thread* t = current();
  if (t == nullptr) return real_GOMP_task(body, data, copy, size, alignment, deferred, flags, depend, priority, detach);
  constexpr unsigned kDepend = 8;
  long align = alignment < 16 ? 16 : alignment;
  auto offset = static_cast<u32>((static_cast<long>(sizeof(Task)) + align - 1) / align * align);
  auto* buffer = static_cast<char*>(__builtin_alloca_with_align(static_cast<std::size_t>(offset + size + align), 128));
  buffer = reinterpret_cast<char*>((reinterpret_cast<uptr>(buffer) + static_cast<uptr>(align) - 1) /
                                   static_cast<uptr>(align) * static_cast<uptr>(align));
  auto* task = reinterpret_cast<Task*>(buffer);
  zero_memory(task, sizeof *task);
  task->body = body;
  task->copy = copy;
  task->original = data;
  task->offset = offset;
  task->team = team_;
  task->parent = task_;
  task->message = kFirstTaskMessage + __atomic_add_fetch(&next_task_, 1, __ATOMIC_RELAXED);
  task->pc = SOOTH_CALLER;
  if ((flags & kDepend) != 0 && depend != nullptr) read_dependences(*task, depend);
  if (copy == nullptr) copy_memory(buffer + offset, data, static_cast<std::size_t>(size));
  before(t, task->pc, task->message);
  real_GOMP_task(run_task, buffer, copy == nullptr ? nullptr : copy_task, offset + size, align, deferred, flags, depend,
                 priority, detach);
}
SOOTH_INTERCEPT(void, GOMP_taskwait, void) {
  real_GOMP_taskwait();
  if (Thread* t = current(); t != nullptr && task_ != nullptr) after(t, SOOTH_CALLER, of(&task_->children));
}
SOOTH_INTERCEPT(void, GOMP_taskwait_depend, void** depend) {
  real_GOMP_taskwait_depend(depend);
  if (Thread* t = current(); t != nullptr && task_ != nullptr) after(t, SOOTH_CALLER, of(&task_->children));
}
SOOTH_INTERCEPT(void, GOMP_taskgroup_end, void) {
  real_GOMP_taskgroup_end();
  if (Thread* t = current(); t != nullptr && team_ != nullptr) after(t, SOOTH_CALLER, of(&team_->tasks));
}
SOOTH_INTERCEPT(void, GOMP_taskloop, Body body, void* data, void (*copy)(void*, void*), long size, long alignment,
                unsigned flags, unsigned long tasks, int priority, long from, long to, long step) {
  static bool warned = false;
  if (current() != nullptr && !warned) {
    warned = true;
    warn("OpenMP's taskloop is not modelled: races between its iterations and the rest may be false");
  }
  real_GOMP_taskloop(body, data, copy, size, alignment, flags, tasks, priority, from, to, step);
}
