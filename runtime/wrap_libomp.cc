// The entry points of Clang's libomp, for what OMPT (ompt.cc) does not tell: which barriers all threads come to, the order
// inside of reductions, loops whose iterations wait for each other, the memory of tasks. And in serial recordings, where a
// thread may wait.
#include "runtime/intercept.h"
#include "runtime/locks.h"
#include "runtime/ompt.h"
#include "runtime/sync.h"

using namespace sooth;
using namespace sooth::rt;
using namespace sooth::rt::openmp;

namespace {

bool is_in_region(const Thread* t) { return t != nullptr && team_ != nullptr && context_ != nullptr; }

// `call` has a barrier in it.
template <typename Call>
SOOTH_INLINE auto meet_in_libomp(Thread* t, uptr pc, bool all, Call call) {
  if (!is_in_region(t)) return call();
  in_libomp_.pc = pc;
  ++in_libomp_.barrier;
  Team* team = team_;
  const auto over = [&] {
    if (--in_libomp_.barrier == 0 && all) assemble(t, team);
  };
  if constexpr (__is_same(decltype(call()), void)) {
    call_waiting(t, pc, call);
    over();
  } else {
    auto result = call_waiting(t, pc, call);
    over();
    return result;
  }
}

}  // namespace

SOOTH_INTERCEPT(void, __kmpc_barrier, void* where, int thread) {
  meet_in_libomp(current_but_libomp(SOOTH_CALLER), SOOTH_CALLER, true, [&] { real___kmpc_barrier(where, thread); });
}
SOOTH_INTERCEPT(int, __kmpc_cancel_barrier, void* where, int thread) {
  return meet_in_libomp(current(), SOOTH_CALLER, false, [&] { return real___kmpc_cancel_barrier(where, thread); });
}
SOOTH_INTERCEPT(void, __kmpc_copyprivate, void* where, int thread, std::size_t size, void* data,
                void (*copy)(void*, void*), int gives) {
  // The copy is between two barriers.
  meet_in_libomp(current(), SOOTH_CALLER, true,
                 [&] { real___kmpc_copyprivate(where, thread, size, data, copy, gives); });
}

// Critical sections. In a serial recording the lock is ours: a word that libomp does not use.
namespace {

constexpr u32 kOwnWord = 7;  // of 8

bool take_section(int* name) {
  int free = 0;
  return __atomic_compare_exchange_n(&name[kOwnWord], &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

template <typename Wait>
SOOTH_INLINE void enter_section(uptr pc, int* name, Wait waits) {
  Thread* t = current();
  if (t == nullptr) return waits();
  if (!turn::taken()) {
    waits();
  } else {
    begin_operation(t, pc, Op::kAcquire, of(name));
    begin_waiting(t, pc, of(name), {});
    while (!take_section(name)) turn::block(t, of(name), turn::BlockedOn::kMutex);
  }
  lock_acquired(t, pc, of(name));
}

}  // namespace

SOOTH_INTERCEPT(void, __kmpc_critical, void* where, int thread, int* name) {
  enter_section(SOOTH_CALLER, name, [&] { real___kmpc_critical(where, thread, name); });
}
SOOTH_INTERCEPT(void, __kmpc_critical_with_hint, void* where, int thread, int* name, unsigned hint) {
  enter_section(SOOTH_CALLER, name, [&] { real___kmpc_critical_with_hint(where, thread, name, hint); });
}
SOOTH_INTERCEPT(void, __kmpc_end_critical, void* where, int thread, int* name) {
  Thread* t = current();
  if (t == nullptr) return real___kmpc_end_critical(where, thread, name);
  if (turn::taken()) begin_operation(t, SOOTH_CALLER, Op::kRelease, of(name));
  lock_releasing(t, SOOTH_CALLER, of(name));
  if (!turn::taken()) return real___kmpc_end_critical(where, thread, name);
  __atomic_store_n(&name[kOwnWord], 0, __ATOMIC_RELEASE);
  turn::wake(of(name), turn::kAll);
}

SOOTH_INTERCEPT(void, __kmpc_ordered, void* where, int thread) {
  Thread* t = current();
  call_waiting(t, SOOTH_CALLER, [&] { real___kmpc_ordered(where, thread); });
  if (is_in_region(t)) after(t, SOOTH_CALLER, team_->ordered());
}
SOOTH_INTERCEPT(void, __kmpc_end_ordered, void* where, int thread) {
  if (Thread* t = current(); is_in_region(t)) before(t, SOOTH_CALLER, team_->ordered());
  real___kmpc_end_ordered(where, thread);
}

// A fence. Whether it orders anything depends on the atomics around it.
SOOTH_INTERCEPT(void, __kmpc_flush, void* where) {
  if (current() == nullptr) return real___kmpc_flush(where);
  fence(__ATOMIC_SEQ_CST, SOOTH_CALLER);
}

// Reductions. With few threads each adds what it has, atomically or under a lock. With more they are the leaves of a tree:
// a thread adds what another has collected, by a function of the program's. Every thread comes by the reductions of its
// region in the same order.
namespace {

constexpr int kLocked = 1;  // result: the caller adds what it has

u64 reduction_message(bool added) { return hashed(mixed(mixed(team_->number, context_->reductions), added ? 2u : 1u)); }

void combine(void* into, void* from) {
  Thread* t = current();
  Inside inside(t);
  if (t != nullptr) after(t, in_libomp_.pc, of(from));
  in_libomp_.combine(into, from);
  if ((t = current()) != nullptr) before(t, in_libomp_.pc, of(into));
}

template <typename Call>
SOOTH_INLINE int reduce(uptr pc, bool waits, void* data, void (*function)(void*, void*), void* lock, Call call) {
  Thread* t = current();
  if (!is_in_region(t)) return call(function);
  ++context_->reductions;
  in_libomp_.pc = pc;
  before(t, pc, of(data));
  if (waits) before(t, pc, reduction_message(false));
  auto* outer = in_libomp_.combine;
  in_libomp_.combine = function;
  in_libomp_.reduces = true;
  int result = call_waiting(t, pc, [&] { return call(function == nullptr ? nullptr : combine); });
  in_libomp_.reduces = false;
  in_libomp_.combine = outer;
  if (result == kLocked && team_->threads > 1) lock_acquired(t, pc, of(lock));
  if (result == 0 && waits) {
    after(t, pc, reduction_message(false));
    after(t, pc, reduction_message(true));
  }
  return result;
}

template <typename Call>
SOOTH_INLINE void end_reduce(uptr pc, bool waits, void* lock, Call call) {
  Thread* t = current();
  if (!is_in_region(t)) return call();
  if (holds_lock(t, of(lock))) lock_releasing(t, pc, of(lock));
  if (!waits) return call();
  before(t, pc, reduction_message(true));
  in_libomp_.reduces = true;
  call_waiting(t, pc, call);
  in_libomp_.reduces = false;
  after(t, pc, reduction_message(false));
  after(t, pc, reduction_message(true));
  after(t, pc, team_->tasks());
}

}  // namespace

#define SOOTH_REDUCTION(name, end, waits)                                                                           \
  SOOTH_INTERCEPT(int, name, void* where, int thread, int count, std::size_t size, void* data,                      \
                  void (*function)(void*, void*), void* lock) {                                                     \
    return reduce(SOOTH_CALLER, waits, data, function, lock,                                                        \
                  [&](void (*f)(void*, void*)) { return real_##name(where, thread, count, size, data, f, lock); }); \
  }                                                                                                                 \
  SOOTH_INTERCEPT(void, end, void* where, int thread, void* lock) {                                                 \
    end_reduce(SOOTH_CALLER, waits, lock, [&] { real_##end(where, thread, lock); });                                \
  }
SOOTH_REDUCTION(__kmpc_reduce, __kmpc_end_reduce, true)
SOOTH_REDUCTION(__kmpc_reduce_nowait, __kmpc_end_reduce_nowait, false)

// What a thread has collected for the tasks that it runs is handed from task to task.
SOOTH_INTERCEPT(void*, __kmpc_task_reduction_get_th_data, int thread, void* group, void* data) {
  void* collected = real___kmpc_task_reduction_get_th_data(thread, group, data);
  Thread* t = current();
  if (!is_in_region(t) || collected == nullptr) return collected;
  Context& context = *context_;
  for (u32 i = 0; i < context.collected_count; ++i)
    if (context.collected[i] == of(collected)) return collected;
  if (context.task != nullptr && context.collects(of(collected))) {
    switch_to_fiber(t, SOOTH_CALLER, context.runner, false);
    before(t, SOOTH_CALLER, of(collected));
    switch_to_fiber(t, SOOTH_CALLER, context.task, false);
  }
  after(t, SOOTH_CALLER, of(collected));
  if (context.collected_count < Context::kCollected) context.collected[context.collected_count++] = of(collected);
  return collected;
}

// One thread of the region prepares it, and the others wait.
#define SOOTH_TASK_REDUCTION(name)                                                                                 \
  SOOTH_INTERCEPT(void*, name, void* where, int thread, int shares, int count, void* data) {                       \
    return call_waiting(current(), SOOTH_CALLER, [&] { return real_##name(where, thread, shares, count, data); }); \
  }
SOOTH_TASK_REDUCTION(__kmpc_taskred_modifier_init)
SOOTH_TASK_REDUCTION(__kmpc_task_reduction_modifier_init)
SOOTH_INTERCEPT(void, __kmpc_task_reduction_modifier_fini, void* where, int thread, int shares) {
  Thread* t = current();
  if (!is_in_region(t)) return real___kmpc_task_reduction_modifier_fini(where, thread, shares);
  in_libomp_.pc = SOOTH_CALLER;
  in_libomp_.handed_on = hashed(mixed(team_->number, static_cast<u64>(shares)));
  begin_operation(t, SOOTH_CALLER);
  real___kmpc_task_reduction_modifier_fini(where, thread, shares);
  if (in_libomp_.handed_on == 0 && !turn::taken()) handing_on_.unlock();
  in_libomp_.handed_on = 0;
}

// Tasks.

namespace {

// What the compiler knows of a task: its own variables follow, then those that it shares.
struct KmpTask {
  char* shared;
  int (*body)(int thread, KmpTask* task);
};
using TaskBody = int (*)(int, KmpTask*);

// In the place of the program's function, which is kept in front of what it shares: from here on the stack is the task's.
[[gnu::noinline]] int run_task_of_libomp(int thread, KmpTask* task) {
  auto body = *reinterpret_cast<TaskBody*>(task->shared - sizeof(TaskBody));
  Thread* t = current();
  if (t != nullptr && context_ != nullptr && context_->task != nullptr)
    renew_own_memory(t, in_libomp_.pc, of(__builtin_frame_address(0)));
  int result = body(thread, task);
  t = current();
  if (t != nullptr && context_ != nullptr && context_->task != nullptr)
    renew_own_memory(t, in_libomp_.pc, of(__builtin_frame_address(0)));
  return result;
}

}  // namespace

SOOTH_INTERCEPT(KmpTask*, __kmpc_omp_task_alloc, void* where, int thread, int flags, std::size_t size,
                std::size_t shared, TaskBody body) {
  Thread* t = current();
  if (t == nullptr) return real___kmpc_omp_task_alloc(where, thread, flags, size, shared, body);
  in_libomp_.pc = SOOTH_CALLER;
  std::size_t more = (size + 7) / 8 * 8 + sizeof(TaskBody);
  KmpTask* task = real___kmpc_omp_task_alloc(where, thread, flags, more, shared == 0 ? sizeof(TaskBody) : shared, body);
  if (task == nullptr) return task;
  // libomp uses memory of other tasks, without free and malloc.
  write_event(t, SOOTH_CALLER, Shape::sized(Op::kAlloc), of(task), more + shared);
  if (task->shared == reinterpret_cast<char*>(task) + more) {
    *reinterpret_cast<TaskBody*>(task->shared - sizeof(TaskBody)) = body;
    task->body = run_task_of_libomp;
  }
  return task;
}

namespace {

// libomp's description of a dependence.
struct KmpDependence {
  uptr place;
  std::size_t size;
  u8 flags;  // 1: in, 2: out, 4: in a set that excludes, 8: in one that shares

  Dependence read() const {
    Kind kind = (flags & 2) != 0   ? Kind::kWrites
                : (flags & 4) != 0 ? Kind::kExcludes
                : (flags & 8) != 0 ? Kind::kShares
                                   : Kind::kReads;
    return {place, kind};
  }
};

template <typename Call>
SOOTH_INLINE void wait_for_places(uptr pc, int count, const KmpDependence* places, int others,
                                  const KmpDependence* other_places, Call call) {
  Thread* t = current();
  call_waiting(t, pc, call);
  if (!is_in_region(t)) return;
  const auto receive_one = [&](const KmpDependence& d) {
    Dependence place = d.read();
    receive(t, {context_->children, 0, nullptr, pc, 1, &place});
  };
  for (int i = 0; i < count; ++i) receive_one(places[i]);
  for (int i = 0; i < others; ++i) receive_one(other_places[i]);
}

}  // namespace

SOOTH_INTERCEPT(void, __kmpc_omp_wait_deps, void* where, int thread, int count, const KmpDependence* places, int others,
                const KmpDependence* other_places) {
  wait_for_places(SOOTH_CALLER, count, places, others, other_places,
                  [&] { real___kmpc_omp_wait_deps(where, thread, count, places, others, other_places); });
}
SOOTH_INTERCEPT(void, __kmpc_omp_taskwait_deps_51, void* where, int thread, int count, const KmpDependence* places,
                int others, const KmpDependence* other_places, int nowait) {
  wait_for_places(SOOTH_CALLER, nowait != 0 ? 0 : count, places, nowait != 0 ? 0 : others, other_places, [&] {
    real___kmpc_omp_taskwait_deps_51(where, thread, count, places, others, other_places, nowait);
  });
}

// Some tasks of a taskloop are made by other threads, in tasks of libomp's own.
namespace {

template <typename Call>
SOOTH_INLINE void run_taskloop_of_libomp(uptr pc, bool grouped, Call call) {
  Thread* t = current();
  if (!is_in_region(t) || team_->threads < 2) return call();
  Context& context = *context_;
  in_libomp_.pc = pc;
  Origin* origin = make_origin(t, pc);
  void* outer = context.origin;
  u64 outer_loop = context.loop;
  context.origin = origin;
  context.loop = new_message();
  before(t, pc, context.loop);
  call_waiting(t, pc, call);
  context.origin = outer;
  context.loop = outer_loop;
  if (grouped)
    drop_origin(t, pc, origin);
  else
    keep_origin(*team_, origin);
}

}  // namespace

SOOTH_INTERCEPT(void, __kmpc_taskloop, void* where, int thread, void* task, int deferred, u64* from, u64* to, long step,
                int nogroup, int schedule, u64 grain, void* copy) {
  run_taskloop_of_libomp(SOOTH_CALLER, nogroup == 0, [&] {
    real___kmpc_taskloop(where, thread, task, deferred, from, to, step, nogroup, schedule, grain, copy);
  });
}
SOOTH_INTERCEPT(void, __kmpc_taskloop_5, void* where, int thread, void* task, int deferred, u64* from, u64* to,
                long step, int nogroup, int schedule, u64 grain, int modifier, void* copy) {
  run_taskloop_of_libomp(SOOTH_CALLER, nogroup == 0, [&] {
    real___kmpc_taskloop_5(where, thread, task, deferred, from, to, step, nogroup, schedule, grain, modifier, copy);
  });
}

// Loops.

SOOTH_INTERCEPT(void, __kmpc_doacross_init, void* where, int thread, int dimensions, void* bounds) {
  if (Thread* t = current(); is_in_region(t)) {
    in_libomp_.dimensions = static_cast<u32>(dimensions);
    ++context_->loops;
    return call_waiting(t, SOOTH_CALLER, [&] { real___kmpc_doacross_init(where, thread, dimensions, bounds); });
  }
  real___kmpc_doacross_init(where, thread, dimensions, bounds);
}
SOOTH_INTERCEPT(void, __kmpc_doacross_wait, void* where, int thread, const long* counts) {
  Thread* t = current();
  call_waiting(t, SOOTH_CALLER, [&] { real___kmpc_doacross_wait(where, thread, counts); });
  if (is_in_region(t)) after(t, SOOTH_CALLER, iteration(team_, context_, counts, in_libomp_.dimensions));
}
SOOTH_INTERCEPT(void, __kmpc_doacross_post, void* where, int thread, const long* counts) {
  Thread* t = current();
  if (is_in_region(t)) before(t, SOOTH_CALLER, iteration(team_, context_, counts, in_libomp_.dimensions));
  real___kmpc_doacross_post(where, thread, counts);
}

// There are few buffers for loops that nobody waits at the end of. The numbers are of 4 or 8 bytes, which are handed on alike.
namespace {

// libomp gives each thread a part of a dynamic loop, from which others steal when they have nothing left: in a serial recording
// they never would. In the order of the iterations chunks are shared out one by one, which is as good.
int share_out(int schedule) {
  constexpr int kDynamic = 35, kAtRunTime = 37, kMonotonic = 1 << 29, kNonMonotonic = 1 << 30;
  int kind = schedule & ~(kMonotonic | kNonMonotonic);
  if (!turn::taken() || kind < kDynamic || kind > kAtRunTime) return schedule;
  return kind | kMonotonic;
}

template <typename Call>
SOOTH_INLINE void begin_loop(Thread* t, uptr pc, Call call) {
  Team* team = is_in_region(t) ? team_ : nullptr;
  if (team != nullptr) __atomic_fetch_add(&team->beginning, 1, __ATOMIC_ACQ_REL);
  call_waiting(t, pc, call);
  if (team != nullptr) __atomic_fetch_sub(&team->beginning, 1, __ATOMIC_ACQ_REL);  // it has the turn again
}

}  // namespace

#define SOOTH_DISPATCH(name)                                                                                      \
  SOOTH_INTERCEPT(void, name, void* where, int thread, int schedule, long from, long to, long step, long chunk) { \
    begin_loop(current(), SOOTH_CALLER,                                                                           \
               [&] { real_##name(where, thread, share_out(schedule), from, to, step, chunk); });                  \
  }
SOOTH_DISPATCH(__kmpc_dispatch_init_4)
SOOTH_DISPATCH(__kmpc_dispatch_init_4u)
SOOTH_DISPATCH(__kmpc_dispatch_init_8)
SOOTH_DISPATCH(__kmpc_dispatch_init_8u)

#define SOOTH_DISPATCH_NEXT(name)                                                                    \
  SOOTH_INTERCEPT(int, name, void* where, int thread, int* last, void* from, void* to, void* step) { \
    between_chunks(current(), SOOTH_CALLER);                                                         \
    return real_##name(where, thread, last, from, to, step);                                         \
  }
SOOTH_DISPATCH_NEXT(__kmpc_dispatch_next_4)
SOOTH_DISPATCH_NEXT(__kmpc_dispatch_next_4u)
SOOTH_DISPATCH_NEXT(__kmpc_dispatch_next_8)
SOOTH_DISPATCH_NEXT(__kmpc_dispatch_next_8u)
