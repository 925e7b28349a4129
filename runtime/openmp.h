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
  u64 number;  // of no other region
  u32 threads;
  // Of the meeting that the threads of a serial recording have: used only by the one that has the turn.
  u32 arrived, meetings;
  void* origins;                                   // of taskloops that nobody waits for: wrap_openmp_tasks.cc
  char start, end, barrier, copy, ordered, tasks;  // messages, and the barrier, by their addresses
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
  bool final;          // tasks that it makes are parts of it
  bool reduces;        // it uses what its thread has collected of a reduction
  Fiber* task;         // it, if it is a thread of its own
  Fiber* runner;       // ... and what runs it
};

extern __thread Team* team_ __attribute__((tls_model("initial-exec")));
extern __thread Context* context_ __attribute__((tls_model("initial-exec")));

// Messages. Those of tasks, groups and regions are numbers from here on; of the places that dependences name, hashes.
u64 new_message();
inline void before(Thread* t, uptr pc, u64 message) { write_event(t, pc, Shape::of(Op::kHappensBefore), message); }
inline void after(Thread* t, uptr pc, u64 message) { write_event(t, pc, Shape::of(Op::kHappensAfter), message); }
inline u64 of(const void* p) { return reinterpret_cast<u64>(p); }
inline u64 mixed(u64 hash, u64 word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}
inline u64 hashed(u64 hash) { return (hash & ((u64{1} << 45) - 1)) | u64{1} << 45; }

// Where libgomp lies, once a region has been begun; empty before. What it frees nobody uses any more, which it knows by
// means that we do not see.
struct Library {
  uptr begin, end;
};
extern Library library_;
inline bool is_library(uptr pc) {
  return pc < __atomic_load_n(&library_.end, __ATOMIC_ACQUIRE) &&
         pc >= __atomic_load_n(&library_.begin, __ATOMIC_RELAXED);
}

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
