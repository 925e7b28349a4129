// Threads are born, joined and named.
//
// The end of a thread is the last round of its thread-specific destructors: those of the program, and of thread_local
// variables before them, are recorded as parts of the thread.
#include <errno.h>
#include <limits.h>
#include <sys/prctl.h>

#include "runtime/init.h"
#include "runtime/intercept.h"
#include "runtime/locks.h"
#include "runtime/stream_writer.h"
#include "runtime/sync.h"

using namespace sooth;
using namespace sooth::rt;

namespace {

// What a new thread needs to know. On a page of its own: its creator may be gone before it starts, and it may not use
// the heap.
struct Start {
  void* (*routine)(void*);
  void* argument;
  Thread* thread;
  u32 id;
  bool returns_int;
};

pthread_key_t end_key_;

// The value counts the rounds that are left.
void end_of_round(void* value) {
  uptr rounds = reinterpret_cast<uptr>(value);
  if (rounds > 1 && pthread_setspecific(end_key_, reinterpret_cast<void*>(rounds - 1)) == 0) return;
  if (Thread* t = current()) holder_ends(t);
  detach_thread();
}

// In the thread itself.
void arm_end() { pthread_setspecific(end_key_, reinterpret_cast<void*>(uptr{PTHREAD_DESTRUCTOR_ITERATIONS})); }

void* run_thread(void* argument) {
  auto* from_creator = static_cast<Start*>(argument);
  Start start = *from_creator;
  unmap_memory(from_creator, sizeof(Start));
  set_thread_handle(start.id, static_cast<u64>(pthread_self()));
  attach_thread(start.thread, start.id);
  arm_end();
  if (!start.returns_int) return start.routine(start.argument);
  int result = reinterpret_cast<int (*)(void*)>(reinterpret_cast<void*>(start.routine))(start.argument);
  return reinterpret_cast<void*>(static_cast<uptr>(static_cast<unsigned>(result)));
}

SOOTH_REAL Real<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)> real_create{"pthread_create"};
SOOTH_REAL Real<int(pthread_t, void**)> real_join{"pthread_join"};
SOOTH_REAL Real<int(pthread_t)> real_detach{"pthread_detach"};
SOOTH_REAL Real<void()> real_testcancel{"pthread_testcancel"};

bool is_detached(const pthread_attr_t* attributes) {
  int state = PTHREAD_CREATE_JOINABLE;
  if (attributes != nullptr) pthread_attr_getdetachstate(attributes, &state);
  return state == PTHREAD_CREATE_DETACHED;
}

constexpr u32 kUnknown = ~0u;

u32 state_of(u32 id) { return __atomic_load_n(&thread_info(id).state, __ATOMIC_ACQUIRE); }
bool has_ended(u32 id) { return state_of(id) == static_cast<u32>(ThreadState::kEnded); }

// Can be waited for in turn. A thread that joins itself, or one that is detached, gets its error at once from the real
// function.
bool is_joinable(u32 id, pthread_t thread) {
  return id != kUnknown && (state_of(id) & kDetachedBit) == 0 && pthread_equal(thread, pthread_self()) == 0;
}

// In turn, until the thread has ended. False: the deadline came first.
bool await_end(Thread* t, u32 id, Deadline deadline) {
  test_cancel();
  while (!has_ended(id)) {
    turn::Wake wake =
        turn::block(t, address_of(&thread_info(id)), turn::BlockedOn::kJoin, deadline.time, deadline.clock);
    test_cancel();
    if (wake == turn::Wake::kTimedOut && !has_ended(id)) return false;
  }
  return true;
}

// `join` is the real function. A thread that has ended is joined without waiting to speak of: it has only to leave
// libc.
template <typename F>
int join_with(Thread* t, uptr pc, pthread_t thread, void** result, Deadline deadline, F join) {
  u32 announced = turn::taken() ? find_thread(static_cast<u64>(thread)) : kUnknown;
  begin_operation(t, pc, Op::kJoin, announced == kUnknown ? 0 : address_of(&thread_info(announced)));
  // Looked up first: afterwards the handle may be another thread's.
  u32 id = find_thread(static_cast<u64>(thread));
  int error;
  if (turn::taken() && is_joinable(id, thread) && deadline.is_valid()) {
    error = await_end(t, id, deadline) ? real_join(thread, result) : ETIMEDOUT;
  } else {
    error = call_outside(t, join);
  }
  if (error == 0 && id != kUnknown) {
    __atomic_store_n(&thread_info(id).state, static_cast<u32>(ThreadState::kJoined), __ATOMIC_RELEASE);
    write_event(t, pc, Shape::of(Op::kJoin), id);
  }
  if (error == 0 && result != nullptr) write_range(t, pc, Op::kWrite, address_of(result), sizeof *result);
  return error;
}

}  // namespace

namespace sooth::rt {

void watch_thread_ends() {
  if (pthread_key_create(&end_key_, end_of_round) != 0) fatal("there is no thread-specific key");
}

int create_thread(Thread* t, uptr pc, pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*),
                  void* argument, bool returns_int) {
  begin_operation(t, pc, Op::kFork, address_of(thread));
  // The first thread may end by pthread_exit, which makes a difference only when there are others.
  if (t->id == 0) arm_end();
  Thread* fresh = new_thread();
  auto* start = static_cast<Start*>(map_memory(sizeof(Start)));
  if (fresh == nullptr || start == nullptr) {
    // As libc says it.
    if (fresh != nullptr) give_back(fresh);
    if (start != nullptr) unmap_memory(start, sizeof(Start));
    turn::yield(t);  // a program that tries again waits for others to end
    return EAGAIN;
  }
  // The handle is stored, at a moment that only libc knows and before the thread can see it: a write of an unknown
  // value.
  access_specially(t, address_of(thread), pc, Shape::sized(Op::kWrite), 0, sizeof *thread);
  u32 id = new_thread_id(t, pc);
  if (is_detached(attributes)) __atomic_fetch_or(&thread_info(id).state, kDetachedBit, __ATOMIC_RELAXED);
  turn::announce(id);
  *start = {routine, argument, fresh, id, returns_int};
  // What libc frees in there, thread-local memory of threads whose stack it takes, nobody uses any more.
  ++t->ignore_writes;
  int error = real_create(thread, attributes, run_thread, start);
  --t->ignore_writes;
  if (error != 0) {
    unmap_memory(start, sizeof(Start));
    give_back(fresh);
    __atomic_store_n(&thread_info(id).state, static_cast<u32>(ThreadState::kNone), __ATOMIC_RELAXED);
    turn::not_created(id);
    turn::yield(t);  // as above
    return error;
  }
  // The thread does it, too; but whoever gets the handle from us must find it.
  set_thread_handle(id, static_cast<u64>(*thread));
  turn::await_arrival(id);
  turn::created_thread(t);
  return 0;
}

Thread* adopt_thread(u32 asked_by, uptr pc) {
  if (current() != nullptr || !recording()) return nullptr;
  Thread* t = new_thread();
  if (t == nullptr) return nullptr;
  u32 id = new_thread_id(nullptr, pc);
  __atomic_fetch_or(&thread_info(id).state, kDetachedBit, __ATOMIC_RELAXED);
  if (recorder.controlled) {
    // A controlled run knows threads by who made them. When this one comes is up to the kernel, so its number is apart from
    // those of the threads that the program creates.
    static u32 adopted;
    constexpr u32 kFirst = 1u << 20;
    controlled::thread_created(id, asked_by, kFirst + __atomic_fetch_add(&adopted, 1, __ATOMIC_RELAXED));
  }
  turn::announce(id);
  set_thread_handle(id, static_cast<u64>(pthread_self()));
  attach_thread(t, id);
  arm_end();
  return t;
}

void test_cancel() { real_testcancel(); }

int join_thread(Thread* t, uptr pc, pthread_t thread, void** result) {
  return join_with(t, pc, thread, result, {}, [&] { return real_join(thread, result); });
}

int detach_other_thread(Thread* t, pthread_t thread) {
  u32 announced = turn::taken() ? find_thread(static_cast<u64>(thread)) : kUnknown;
  begin_operation(t, 0, Op::kCallBegin, announced == kUnknown ? 0 : address_of(&thread_info(announced)));
  u32 id = find_thread(static_cast<u64>(thread));
  int error = real_detach(thread);
  if (error == 0 && id != kUnknown) __atomic_fetch_or(&thread_info(id).state, kDetachedBit, __ATOMIC_RELAXED);
  return error;
}

}  // namespace sooth::rt

SOOTH_EXPORT int sooth_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*),
                                      void* argument) asm("pthread_create");
int sooth_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*), void* argument) {
  SOOTH_UNSAFE(pthread_create);
  Thread* t = current();
  if (t == nullptr) return real_create(thread, attributes, routine, argument);
  uptr pc = t->start_caller != 0 ? t->start_caller : SOOTH_CALLER;
  t->start_caller = 0;
  return create_thread(t, pc, thread, attributes, routine, argument, false);
}

// std::thread::_M_start_thread(std::unique_ptr<_State>, void (*)()), a part of the library that the constructor calls, which
// is inlined into the program: whoever calls this creates the thread. The pointer is passed by reference.
#define SOOTH_START_THREAD "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE"
SOOTH_REAL static Real<void(void*, void*, void (*)())> real_start_thread{SOOTH_START_THREAD};
SOOTH_EXPORT void sooth_start_thread(void* self, void* state, void (*depend)()) asm(SOOTH_START_THREAD);
void sooth_start_thread(void* self, void* state, void (*depend)()) {
  if (Thread* t = current(); t != nullptr) t->start_caller = SOOTH_CALLER;
  real_start_thread(self, state, depend);
}

SOOTH_EXPORT int sooth_pthread_join(pthread_t thread, void** result) asm("pthread_join");
int sooth_pthread_join(pthread_t thread, void** result) {
  SOOTH_UNSAFE(pthread_join);
  Thread* t = current();
  return t == nullptr ? real_join(thread, result) : join_thread(t, SOOTH_CALLER, thread, result);
}

SOOTH_INTERCEPT(int, pthread_timedjoin_np, pthread_t thread, void** result, const timespec* time) {
  Thread* t = current();
  if (t == nullptr) return real_pthread_timedjoin_np(thread, result, time);
  return join_with(t, SOOTH_CALLER, thread, result, {time},
                   [&] { return real_pthread_timedjoin_np(thread, result, RealDeadline(time, CLOCK_REALTIME)); });
}

SOOTH_INTERCEPT(int, pthread_clockjoin_np, pthread_t thread, void** result, clockid_t clock, const timespec* time) {
  Thread* t = current();
  if (t == nullptr || (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC))
    return real_pthread_clockjoin_np(thread, result, clock, time);
  return join_with(t, SOOTH_CALLER, thread, result, {time, clock},
                   [&] { return real_pthread_clockjoin_np(thread, result, clock, RealDeadline(time, clock)); });
}

SOOTH_INTERCEPT(int, pthread_tryjoin_np, pthread_t thread, void** result) {
  Thread* t = current();
  if (t == nullptr) return real_pthread_tryjoin_np(thread, result);
  u32 id = find_thread(static_cast<u64>(thread));
  if (turn::taken() && is_joinable(id, thread) && !has_ended(id)) {
    turn::yield(t);
    if (!has_ended(id)) return EBUSY;
  }
  return join_with(t, SOOTH_CALLER, thread, result, {}, [&] { return real_pthread_tryjoin_np(thread, result); });
}

SOOTH_EXPORT int sooth_pthread_detach(pthread_t thread) asm("pthread_detach");
int sooth_pthread_detach(pthread_t thread) {
  Thread* t = current();
  return t == nullptr ? real_detach(thread) : detach_other_thread(t, thread);
}

SOOTH_INTERCEPT(int, pthread_cancel, pthread_t thread) {
  Thread* t = current();
  if (t == nullptr) return real_pthread_cancel(thread);
  begin_operation(t);
  u32 id = find_thread(static_cast<u64>(thread));
  int error = real_pthread_cancel(thread);
  // In serial recordings it does not block where libc could cancel it.
  if (error == 0 && id != kUnknown) turn::interrupt(id);
  return error;
}

// A loop of nothing else waits for another thread, which must get its turn.
SOOTH_EXPORT void sooth_pthread_testcancel(void) asm("pthread_testcancel");
void sooth_pthread_testcancel(void) {
  if (Thread* t = current()) turn::step(t);
  real_testcancel();
}

// The other way to name a thread: the calling one.
SOOTH_INTERCEPT(int, prctl, int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d) {
  int result = real_prctl(option, a, b, c, d);
  Thread* t = current();
  if (option == PR_SET_NAME && result == 0 && t != nullptr)
    write_name(t, ObjectKind::kThread, t->id, reinterpret_cast<const char*>(a));
  return result;
}

SOOTH_INTERCEPT(int, pthread_setname_np, pthread_t thread, const char* name) {
  Thread* t = current();
  int error = real_pthread_setname_np(thread, name);
  if (t == nullptr || error != 0) return error;
  u32 id = find_thread(static_cast<u64>(thread));
  if (id != kUnknown) write_name(t, ObjectKind::kThread, id, name);
  return 0;
}
