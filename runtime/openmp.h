// What the wrappers of OpenMP's parallel regions and of its tasks share.
#pragma once

#include "runtime/blocking.h"
#include "runtime/fibers.h"
#include "runtime/stream_writer.h"
#include "runtime/sync.h"
#include "runtime/thread.h"

namespace sooth::rt::openmp {

// A parallel region. libgomp hands its address to each of the threads in place of the program's data, and looks at the
// first word of what it hands on when the region has a task reduction.
struct Team {
  uptr reductions;
  void (*body)(void*);
  void* data;
  u64 number;  // of no other region, as are those behind it
  u32 threads;
  // Of the meeting that the threads of a serial recording have: used only by the one that has the turn.
  u32 arrived, meetings;
  bool assembles;  // `threads` is certain
  u32 beginning;   // atomic: threads that are inside of the library, where a loop begins, and not back
  void* origins;   // of taskloops that nobody waits for: wrap_openmp_tasks.cc

  // Messages, and the barrier.
  static constexpr u32 kMessages = 6;
  u64 start() const { return number; }
  u64 end() const { return number + 1; }
  u64 barrier() const { return number + 2; }
  u64 copy() const { return number + 3; }
  u64 ordered() const { return number + 4; }
  u64 tasks() const { return number + 5; }
};

// What a thread runs now: the part of a region that is its own, or a task. Messages are numbers that nothing else has: a
// task may outlive the one that made it.
struct Context {
  static constexpr u32 kGroups = 16;
  u64 children;        // message of the tasks that it makes, when they are done
  u64 group;           // ... of those in the innermost group; 0: none
  u64 outer[kGroups];  // the groups around it that this one has opened
  u32 depth;           // how many; those beyond kGroups count as the last
  u32 loops;           // doacross loops that it has begun
  u32 reductions;      // ... and reductions, as Clang compiles them
  bool final;          // tasks that it makes are parts of it
  bool reduces;        // it uses what its thread has collected of a reduction
  Fiber* task;         // it, if it is a thread of its own
  Fiber* runner;       // ... and what runs it
  // As Clang compiles it: the taskloop that it is in, with the message to its tasks; and what it has got of what its
  // thread collects for reductions.
  static constexpr u32 kCollected = 8;
  void* origin;
  u64 loop;
  u64 collected[kCollected];
  u32 collected_count;
  Context* around;  // what its thread did before, and goes on with

  bool collects(u64 place) const {
    for (u32 i = 0; i < collected_count; ++i)
      if (collected[i] == place) return true;
    return around != nullptr && around->collects(place);
  }
};

extern __thread Team* team_ __attribute__((tls_model("initial-exec")));
extern __thread Context* context_ __attribute__((tls_model("initial-exec")));

// Messages. Those of tasks, groups and regions are numbers from here on; of the places that dependences name, hashes.
u64 new_message(u32 count = 1);  // the first of them
inline void before(Thread* t, uptr pc, u64 message) { write_event(t, pc, Shape::of(Op::kHappensBefore), message); }
inline void after(Thread* t, uptr pc, u64 message) { write_event(t, pc, Shape::of(Op::kHappensAfter), message); }
inline u64 of(const void* p) { return reinterpret_cast<u64>(p); }
inline u64 mixed(u64 hash, u64 word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}
inline u64 hashed(u64 hash) { return (hash & ((u64{1} << 45) - 1)) | u64{1} << 45; }
// Loops whose iterations wait for named other ones. Every thread of a region comes by its loops in the same order, so
// their number tells them apart.
inline u64 iteration(const Team* team, const Context* context, const long* counts, u32 dimensions) {
  u64 hash = mixed(team->number, context->loops);
  for (u32 i = 0; i < dimensions; ++i) hash = mixed(hash, static_cast<u64>(counts[i]));
  return hashed(hash);
}

// Where libgomp and libomp lie, once they are used; empty before. What they free nobody uses any more, which they know by
// means that we do not see; and libomp's own locks and conditions are no business of ours.
struct Library {
  uptr begin, end;

  bool contains(uptr pc) const {
    return pc < __atomic_load_n(&end, __ATOMIC_ACQUIRE) && pc >= __atomic_load_n(&begin, __ATOMIC_RELAXED);
  }
};
extern Library libgomp_, libomp_;
void find_library(Library& library, uptr code);  // that has this code
inline bool is_library(uptr pc) { return libgomp_.contains(pc) || libomp_.contains(pc); }
// The thread whose call is to be recorded; nullptr: it is not.
inline Thread* current_but_libomp(uptr pc) { return SOOTH_UNLIKELY(libomp_.contains(pc)) ? nullptr : current(); }

// Where the program called libomp, if that is known; else `pc`.
uptr program_pc(uptr pc);

// nullptr also where it is libomp that has the functions of libgomp, too: ompt.cc sees what they do.
Thread* current_in_libgomp();

// In a serial recording the threads of a region wait for each other in here, all of them.
void assemble(Thread* t, Team* team);

// A thread asks for the next chunk of a loop, which any of them may run. In a serial recording it lets others go first: what
// one thread would run in sequence is shared out.
void between_chunks(Thread* t, uptr pc);

// What kind of access to a place a task says it makes. Those of one kind wait for all others; kWrites also for its like,
// kExcludes runs at no time with its like.
enum class Kind : u32 { kReads, kWrites, kExcludes, kShares };

struct Dependence {
  uptr place;
  Kind kind;
};

// What a task waits for, and who waits for it.
struct Order {
  u64 parent, group;  // messages to them; group 0: none
  Team* team;
  uptr pc;
  u32 dependences;
  const Dependence* places;
};
void receive(Thread* t, const Order& order);    // what its dependences wait for is done
void exclude(Thread* t, const Order& order);    // ... and its like does not run now
void include(Thread* t, const Order& order);    // ... but may again
void tell_done(Thread* t, const Order& order);  // it is done, or the event that it waits for came about

// The places that a construct depends on, as libgomp's interface has them; `depend` may be nullptr.
u32 count_dependences(void** depend);
Dependence dependence(void** depend, u32 i);
// What the thread's own tasks did to them is done.
void receive_all(Thread* t, uptr pc, void** depend);

// Two tasks that a thread runs one after the other have the same stack and thread-local variables, and neither sees what is
// the other's: as if it were allocated anew.
// The stack: all below `top`.
void renew_own_memory(Thread* t, uptr pc, uptr top);

// Tasks that are made by something that is no task itself: all are made by a fiber which does nothing else.
struct Origin {
  Fiber* fiber;
  SpinLock lock;  // only one thread can be it
  Origin* next;   // of those that nobody has waited for
};
Origin* make_origin(Thread* t, uptr pc);
void drop_origin(Thread* t, uptr pc, Origin* origin);
void keep_origin(Team& team, Origin* origin);  // until the region is over
Fiber* create_fiber_of(Thread* t, uptr pc, Origin& origin);

// Groups of tasks that the thread's task opens and closes.
void open_group();
void close_group(Thread* t, uptr pc);
// Tasks that it makes now are parts of it, unless `deferred` and there are other threads.
bool is_part_of_maker(bool deferred);

// The region is over.
void drop_origins(Thread* t, uptr pc, Team& team);

// The program's code, called by libgomp while the thread that libgomp was called in waits: in a serial recording, without
// the turn.
class Inside {
 public:
  explicit Inside(Thread* t) : t_(t), was_outside_(t != nullptr && turn::taken() && turn::is_outside(t)) {
    if (was_outside_) turn::enter(t_);
  }
  ~Inside() {
    if (was_outside_) turn::leave(t_);
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  Thread* t_;
  bool was_outside_;
};

// A call of libgomp that may wait for other threads, or run tasks.
template <typename F>
auto call_waiting(Thread* t, uptr pc, F call) {
  if (t == nullptr) return call();
  begin_operation(t, pc);
  Blocking blocking(t);
  return call();
}

}  // namespace sooth::rt::openmp
