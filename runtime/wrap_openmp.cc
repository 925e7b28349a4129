// OpenMP as GCC compiles it: the synchronisation of libgomp, seen at its entry points. Its threads come from
// pthread_create and are recorded as usual; what happens inside libgomp itself is not instrumented. Tasks are in
// wrap_openmp_tasks.cc, Clang's libomp in ompt.cc.
//
// In a serial recording a thread gives its turn up wherever libgomp may wait, asleep or spinning. It takes part again when
// libgomp calls back or returns.
#include <link.h>
#include <stdarg.h>

#include "runtime/intercept.h"
#include "runtime/locks.h"
#include "runtime/openmp.h"
#include "trace/openmp_messages.h"

using namespace sooth;
using namespace sooth::rt;
using namespace sooth::rt::openmp;

extern "C" __attribute__((weak)) int omp_get_num_threads();

SOOTH_REAL static Real<void(void (*)(void*), void*, unsigned, unsigned)> libgomp_code{"GOMP_parallel"};

namespace sooth::rt::openmp {

__thread Team* team_ __attribute__((tls_model("initial-exec"))) = nullptr;
__thread Context* context_ __attribute__((tls_model("initial-exec"))) = nullptr;

Library libgomp_, libomp_;

namespace {

struct Search {
  Library& library;
  uptr code;
};
int look_at_module(dl_phdr_info* module, std::size_t, void* data) {
  auto [library, code] = *static_cast<Search*>(data);
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = module->dlpi_phdr[i];
    uptr begin = module->dlpi_addr + segment.p_vaddr, end = begin + segment.p_memsz;
    if (segment.p_type != PT_LOAD || code < begin || code >= end) continue;
    __atomic_store_n(&library.begin, begin, __ATOMIC_RELAXED);
    __atomic_store_n(&library.end, end, __ATOMIC_RELEASE);
    return 1;
  }
  return 0;
}

u64 next_message_ = 0;

}  // namespace

u64 new_message(u32 count) {
  return kFirstOpenMpMessage + 1 + __atomic_fetch_add(&next_message_, count, __ATOMIC_RELAXED);
}

Thread* current_in_libgomp() {
  if (SOOTH_UNLIKELY(__atomic_load_n(&libgomp_.end, __ATOMIC_ACQUIRE) == 0))
    find_library(libgomp_, reinterpret_cast<uptr>(libgomp_code.address()));
  return libgomp_.begin == libomp_.begin && libomp_.end != 0 ? nullptr : current();
}

void find_library(Library& library, uptr code) {
  Search search = {library, code};
  dl_iterate_phdr(look_at_module, &search);
}

// Threads come back from libgomp when the kernel lets them. In a serial recording none goes on before all are there, so
// that the schedule does not depend on that.
void assemble(Thread* t, Team* team) {
  if (!turn::taken() || team->threads < 2 || !team->assembles) return;
  u32 meeting = team->meetings;
  if (++team->arrived == team->threads) {
    team->arrived = 0;
    ++team->meetings;
    turn::wake(of(&team->meetings), turn::kAll);
    turn::yield(t);  // whoever came last is as good as the others
    return;
  }
  while (team->meetings == meeting) turn::block(t, of(&team->meetings), turn::BlockedOn::kBarrier);
}

void between_chunks(Thread* t, uptr pc) {
  if (t == nullptr || !turn::taken() || team_ == nullptr || team_->threads < 2) return;
  begin_operation(t, pc);
  // Who is about to begin the loop as well comes back when the kernel lets it, and should find something left to do.
  constexpr u32 kPatience = 1000;
  for (u32 i = 0; i < kPatience && __atomic_load_n(&team_->beginning, __ATOMIC_ACQUIRE) != 0; ++i) {
    timespec pause = {0, 100'000};
    sys_call(SYS_nanosleep, reinterpret_cast<long>(&pause));
    turn::yield(t);
  }
  // A loop of very many has borders of all kinds among the first ones, and a turn costs microseconds.
  constexpr u32 kAllOf = 4096, kOneIn = 64;
  static __thread u32 chunks __attribute__((tls_model("initial-exec")));
  if (++chunks < kAllOf || chunks % kOneIn == 0) turn::yield(t);
}

}  // namespace sooth::rt::openmp

namespace {

// The body of a parallel region in each of its threads.
void run_member(void* p) {
  auto* team = static_cast<Team*>(p);
  Thread* t = current();
  Team* outer = team_;
  Context* outer_context = context_;
  Context context{};
  context.children = new_message();
  team_ = team;
  context_ = &context;
  uptr pc = reinterpret_cast<uptr>(team->body);
  if (t != nullptr) {
    turn::hold(t);
    // With libomp in the same process the answer may be that one's.
    bool known = omp_get_num_threads != nullptr && libgomp_.contains(reinterpret_cast<uptr>(&omp_get_num_threads));
    team->threads = known ? static_cast<u32>(omp_get_num_threads()) : 2;
    team->assembles = known;
    after(t, pc, team->start());
    assemble(t, team);
  }
  team->body(team->data);
  if ((t = current()) != nullptr) {
    before(t, pc, team->end());
    begin_operation(t, pc);
    turn::leave(t);  // to where the threads of libgomp wait for each other, and for the next region
  }
  team_ = outer;
  context_ = outer_context;
}

// All threads of the region meet, and all its tasks are done. `all`: none of them is left out because of a cancellation.
template <typename Call>
SOOTH_INLINE auto meet(uptr pc, bool all, Call call) {
  Thread* t = current_in_libgomp();
  Team* team = team_;
  if (t == nullptr || team == nullptr) return call();
  write_event(t, pc, Shape::of(Op::kBarrierArrive), team->barrier());
  const auto met = [&] {
    write_event(t, pc, Shape::of(Op::kBarrierLeave), team->barrier());
    after(t, pc, team->tasks());
    if (all) assemble(t, team);
  };
  if constexpr (__is_same(decltype(call()), void)) {
    call_waiting(t, pc, call);
    met();
  } else {
    auto result = call_waiting(t, pc, call);
    met();
    return result;
  }
}

// Runs a region: `call` gets the body and data to hand to libgomp.
template <typename Call>
SOOTH_INLINE auto run_region(uptr pc, void (*body)(void*), void* data, bool reduces, Call call) {
  Thread* t = current_in_libgomp();
  if (t == nullptr) return call(body, data);
  Team team{};
  team.reductions = reduces ? *static_cast<uptr*>(data) : 0;
  team.body = body;
  team.data = data;
  team.number = new_message(Team::kMessages);
  before(t, pc, team.start());
  const auto over = [&] {
    turn::enter(t);
    after(t, pc, team.end());
    after(t, pc, team.tasks());
    drop_origins(t, pc, team);
  };
  if constexpr (__is_same(decltype(call(body, data)), void)) {
    call(run_member, &team);
    over();
  } else {
    auto result = call(run_member, &team);
    over();
    return result;
  }
}

}  // namespace

using Body = void (*)(void*);

SOOTH_INTERCEPT(void, GOMP_parallel, Body body, void* data, unsigned threads, unsigned flags) {
  run_region(SOOTH_CALLER, body, data, false, [&](Body b, void* d) { real_GOMP_parallel(b, d, threads, flags); });
}
SOOTH_INTERCEPT(unsigned, GOMP_parallel_reductions, Body body, void* data, unsigned threads, unsigned flags) {
  return run_region(SOOTH_CALLER, body, data, true,
                    [&](Body b, void* d) { return real_GOMP_parallel_reductions(b, d, threads, flags); });
}
SOOTH_INTERCEPT(void, GOMP_parallel_sections, Body body, void* data, unsigned threads, unsigned count, unsigned flags) {
  run_region(SOOTH_CALLER, body, data, false,
             [&](Body b, void* d) { real_GOMP_parallel_sections(b, d, threads, count, flags); });
}
#define SOOTH_LOOP(name)                                                                                          \
  SOOTH_INTERCEPT(void, name, Body body, void* data, unsigned threads, long from, long to, long step, long chunk, \
                  unsigned flags) {                                                                               \
    run_region(SOOTH_CALLER, body, data, false,                                                                   \
               [&](Body b, void* d) { real_##name(b, d, threads, from, to, step, chunk, flags); });               \
  }
SOOTH_LOOP(GOMP_parallel_loop_static)
SOOTH_LOOP(GOMP_parallel_loop_dynamic)
SOOTH_LOOP(GOMP_parallel_loop_guided)
SOOTH_LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
SOOTH_LOOP(GOMP_parallel_loop_nonmonotonic_guided)
#define SOOTH_LOOP_AT_RUN_TIME(name)                                                                  \
  SOOTH_INTERCEPT(void, name, Body body, void* data, unsigned threads, long from, long to, long step, \
                  unsigned flags) {                                                                   \
    run_region(SOOTH_CALLER, body, data, false,                                                       \
               [&](Body b, void* d) { real_##name(b, d, threads, from, to, step, flags); });          \
  }
SOOTH_LOOP_AT_RUN_TIME(GOMP_parallel_loop_runtime)
SOOTH_LOOP_AT_RUN_TIME(GOMP_parallel_loop_nonmonotonic_runtime)
SOOTH_LOOP_AT_RUN_TIME(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

#define SOOTH_CHUNK(name)                                \
  SOOTH_INTERCEPT(bool, name, long* first, long* last) { \
    between_chunks(current_in_libgomp(), SOOTH_CALLER);  \
    return real_##name(first, last);                     \
  }
SOOTH_CHUNK(GOMP_loop_dynamic_next)
SOOTH_CHUNK(GOMP_loop_guided_next)
SOOTH_CHUNK(GOMP_loop_runtime_next)
SOOTH_CHUNK(GOMP_loop_nonmonotonic_dynamic_next)
SOOTH_CHUNK(GOMP_loop_nonmonotonic_guided_next)
SOOTH_CHUNK(GOMP_loop_nonmonotonic_runtime_next)
SOOTH_CHUNK(GOMP_loop_maybe_nonmonotonic_runtime_next)
SOOTH_CHUNK(GOMP_loop_ull_dynamic_next)
SOOTH_CHUNK(GOMP_loop_ull_guided_next)
SOOTH_CHUNK(GOMP_loop_ull_runtime_next)
SOOTH_CHUNK(GOMP_loop_ull_nonmonotonic_dynamic_next)
SOOTH_CHUNK(GOMP_loop_ull_nonmonotonic_guided_next)
SOOTH_CHUNK(GOMP_loop_ull_nonmonotonic_runtime_next)
SOOTH_CHUNK(GOMP_loop_ull_maybe_nonmonotonic_runtime_next)
SOOTH_INTERCEPT(unsigned, GOMP_sections_next, void) {
  between_chunks(current_in_libgomp(), SOOTH_CALLER);
  return real_GOMP_sections_next();
}

#define SOOTH_MEETING(result, name, all)                          \
  SOOTH_INTERCEPT(result, name, void) {                           \
    return meet(SOOTH_CALLER, all, [] { return real_##name(); }); \
  }
SOOTH_MEETING(void, GOMP_barrier, true)
SOOTH_MEETING(bool, GOMP_barrier_cancel, false)
SOOTH_MEETING(void, GOMP_loop_end, true)
SOOTH_MEETING(bool, GOMP_loop_end_cancel, false)
SOOTH_MEETING(void, GOMP_sections_end, true)
SOOTH_MEETING(bool, GOMP_sections_end_cancel, false)
SOOTH_INTERCEPT(void, GOMP_workshare_task_reduction_unregister, bool cancelled) {
  if (cancelled) return real_GOMP_workshare_task_reduction_unregister(cancelled);  // nobody waits then
  meet(SOOTH_CALLER, false, [&] { real_GOMP_workshare_task_reduction_unregister(cancelled); });
}

// Locks: known to the trace by the address of what libgomp is given. `tries` takes it if it is free.
namespace {

template <typename Try, typename Wait>
SOOTH_INLINE void lock_in_turn(uptr pc, uptr lock, Try tries, Wait waits) {
  Thread* t = current();
  if (t == nullptr) return waits();
  if (!turn::taken()) {
    waits();
  } else {
    begin_operation(t, pc, Op::kAcquire, lock);
    begin_waiting(t, pc, lock, {});
    while (!tries()) turn::block(t, lock, turn::BlockedOn::kMutex);
  }
  lock_acquired(t, pc, lock);
}
template <typename Give>
SOOTH_INLINE void unlock_in_turn(uptr pc, uptr lock, Give gives) {
  Thread* t = current();
  if (t == nullptr) return gives();
  if (turn::taken()) begin_operation(t, pc, Op::kRelease, lock);
  lock_releasing(t, pc, lock);
  gives();
  if (turn::taken()) turn::wake(lock, turn::kAll);
}

// libgomp has no function that tries to enter a critical section. The section without a name is a word of ours in a serial
// recording; one with a name is the word that libgomp uses, which is 1 where nobody waits inside libgomp.
bool take_word(int* word) {
  int free = 0;
  return __atomic_compare_exchange_n(word, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}
void give_word(int* word) { __atomic_store_n(word, 0, __ATOMIC_RELEASE); }

int critical_ = 0, atomic_ = 0;

}  // namespace

#define SOOTH_OMP_SECTION(start, end, word)                                                               \
  SOOTH_INTERCEPT(void, start, void) {                                                                    \
    lock_in_turn(                                                                                         \
        SOOTH_CALLER, of(&(word)), [] { return take_word(&(word)); }, [] { real_##start(); });            \
  }                                                                                                       \
  SOOTH_INTERCEPT(void, end, void) {                                                                      \
    unlock_in_turn(SOOTH_CALLER, of(&(word)), [] { turn::taken() ? give_word(&(word)) : real_##end(); }); \
  }
SOOTH_OMP_SECTION(GOMP_critical_start, GOMP_critical_end, critical_)
SOOTH_OMP_SECTION(GOMP_atomic_start, GOMP_atomic_end, atomic_)
SOOTH_INTERCEPT(void, GOMP_critical_name_start, void** name) {
  lock_in_turn(
      SOOTH_CALLER, of(name), [&] { return take_word(reinterpret_cast<int*>(name)); },
      [&] { real_GOMP_critical_name_start(name); });
}
SOOTH_INTERCEPT(void, GOMP_critical_name_end, void** name) {
  unlock_in_turn(SOOTH_CALLER, of(name), [&] { real_GOMP_critical_name_end(name); });
}

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

#define SOOTH_OMP_LOCK(set, test, unset)                                                            \
  SOOTH_INTERCEPT(int, test, void* lock) {                                                          \
    if (Thread* t = current(); t != nullptr && turn::taken())                                       \
      begin_operation(t, SOOTH_CALLER, Op::kAcquire, of(lock));                                     \
    int taken = real_##test(lock);                                                                  \
    tested(SOOTH_CALLER, of(lock), taken != 0);                                                     \
    return taken;                                                                                   \
  }                                                                                                 \
  SOOTH_INTERCEPT(void, set, void* lock) {                                                          \
    lock_in_turn(                                                                                   \
        SOOTH_CALLER, of(lock), [&] { return real_##test(lock) != 0; }, [&] { real_##set(lock); }); \
  }                                                                                                 \
  SOOTH_INTERCEPT(void, unset, void* lock) {                                                        \
    unlock_in_turn(SOOTH_CALLER, of(lock), [&] { real_##unset(lock); });                            \
  }
SOOTH_OMP_LOCK(omp_set_lock, omp_test_lock, omp_unset_lock)
SOOTH_OMP_LOCK(omp_set_nest_lock, omp_test_nest_lock, omp_unset_nest_lock)

SOOTH_INTERCEPT(void*, GOMP_single_copy_start, void) {
  Thread* t = current_in_libgomp();
  void* data = call_waiting(t, SOOTH_CALLER, [] { return real_GOMP_single_copy_start(); });
  if (t != nullptr && team_ != nullptr && data != nullptr) after(t, SOOTH_CALLER, team_->copy());
  return data;
}
SOOTH_INTERCEPT(void, GOMP_single_copy_end, void* data) {
  Thread* t = current_in_libgomp();
  if (t != nullptr && team_ != nullptr) before(t, SOOTH_CALLER, team_->copy());
  call_waiting(t, SOOTH_CALLER, [&] { real_GOMP_single_copy_end(data); });
}
SOOTH_INTERCEPT(void, GOMP_ordered_start, void) {
  Thread* t = current_in_libgomp();
  call_waiting(t, SOOTH_CALLER, [] { real_GOMP_ordered_start(); });
  if (t != nullptr && team_ != nullptr) after(t, SOOTH_CALLER, team_->ordered());
}
SOOTH_INTERCEPT(void, GOMP_ordered_end, void) {
  if (Thread* t = current_in_libgomp(); t != nullptr && team_ != nullptr) before(t, SOOTH_CALLER, team_->ordered());
  real_GOMP_ordered_end();
}

namespace {

constexpr unsigned kDimensions = 16;  // that are handed on

__thread unsigned dimensions_ __attribute__((tls_model("initial-exec"))) = 0;

void begin_doacross(unsigned dimensions) {
  dimensions_ = dimensions < kDimensions ? dimensions : kDimensions;
  if (current_in_libgomp() != nullptr && context_ != nullptr) ++context_->loops;
}

}  // namespace

// The functions for loops over unsigned long long differ in their names only.
#define SOOTH_DOACROSS(name)                                                                            \
  SOOTH_INTERCEPT(bool, name, unsigned dimensions, void* counts, long chunk, long* first, long* last) { \
    begin_doacross(dimensions);                                                                         \
    return real_##name(dimensions, counts, chunk, first, last);                                         \
  }
#define SOOTH_DOACROSS_AT_RUN_TIME(name)                                                    \
  SOOTH_INTERCEPT(bool, name, unsigned dimensions, void* counts, long* first, long* last) { \
    begin_doacross(dimensions);                                                             \
    return real_##name(dimensions, counts, first, last);                                    \
  }
#define SOOTH_DOACROSS_THAT_REDUCES(name)                                                                            \
  SOOTH_INTERCEPT(bool, name, unsigned dimensions, void* counts, long schedule, long chunk, long* first, long* last, \
                  uptr* reductions, void** memory) {                                                                 \
    begin_doacross(dimensions);                                                                                      \
    return real_##name(dimensions, counts, schedule, chunk, first, last, reductions, memory);                        \
  }
SOOTH_DOACROSS(GOMP_loop_doacross_static_start)
SOOTH_DOACROSS(GOMP_loop_doacross_dynamic_start)
SOOTH_DOACROSS(GOMP_loop_doacross_guided_start)
SOOTH_DOACROSS_AT_RUN_TIME(GOMP_loop_doacross_runtime_start)
SOOTH_DOACROSS_THAT_REDUCES(GOMP_loop_doacross_start)
SOOTH_DOACROSS(GOMP_loop_ull_doacross_static_start)
SOOTH_DOACROSS(GOMP_loop_ull_doacross_dynamic_start)
SOOTH_DOACROSS(GOMP_loop_ull_doacross_guided_start)
SOOTH_DOACROSS_AT_RUN_TIME(GOMP_loop_ull_doacross_runtime_start)
SOOTH_DOACROSS_THAT_REDUCES(GOMP_loop_ull_doacross_start)

namespace {

bool is_in_doacross(const Thread* t) { return t != nullptr && team_ != nullptr && context_ != nullptr; }

using Wait = Real<void(long, long, long, long, long, long, long, long, long, long, long, long, long, long, long, long)>;

void wait_for_iteration(uptr pc, Wait& real, const long* c) {
  Thread* t = current_in_libgomp();
  call_waiting(t, pc, [&] {
    real(c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8], c[9], c[10], c[11], c[12], c[13], c[14], c[15]);
  });
  if (is_in_doacross(t)) after(t, pc, iteration(team_, context_, c, dimensions_));
}

}  // namespace

#define SOOTH_DOACROSS_POST(name)                                                                    \
  SOOTH_INTERCEPT(void, name, long* counts) {                                                        \
    Thread* t = current_in_libgomp();                                                                \
    if (is_in_doacross(t)) before(t, SOOTH_CALLER, iteration(team_, context_, counts, dimensions_)); \
    real_##name(counts);                                                                             \
  }
#define SOOTH_DOACROSS_WAIT(name)                                              \
  SOOTH_REAL static Wait real_##name{#name};                                   \
  SOOTH_EXPORT void sooth_##name(long first, ...) asm(#name);                  \
  void sooth_##name(long first, ...) {                                         \
    long counts[kDimensions] = {first};                                        \
    va_list rest;                                                              \
    va_start(rest, first);                                                     \
    for (unsigned i = 1; i < dimensions_; ++i) counts[i] = va_arg(rest, long); \
    va_end(rest);                                                              \
    wait_for_iteration(SOOTH_CALLER, real_##name, counts);                     \
  }
SOOTH_DOACROSS_POST(GOMP_doacross_post)
SOOTH_DOACROSS_POST(GOMP_doacross_ull_post)
SOOTH_DOACROSS_WAIT(GOMP_doacross_wait)
SOOTH_DOACROSS_WAIT(GOMP_doacross_ull_wait)
