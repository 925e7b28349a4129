// OpenMP as Clang compiles it: libomp, by the callbacks of OpenMP's own interface for tools (OMPT, chapter "Tool support" of
// the specification), which it looks for in every library of the process. What the callbacks leave open is seen at the entry
// points: wrap_libomp.cc. Teams, tasks and messages are those of libgomp: wrap_openmp.cc.
//
// Workers get the end of a region only when they begin the next one. So what they have done is told at the begin of the
// barrier at its end, and only the thread that made the region waits for it.
#include "runtime/ompt.h"

#include <stdlib.h>

#include "runtime/intercept.h"
#include "runtime/openmp.h"
#include "runtime/options.h"

using namespace sooth;
using namespace sooth::rt;
using namespace sooth::rt::openmp;

namespace sooth::rt::openmp {
SpinLock handing_on_;
__thread InLibomp in_libomp_ __attribute__((tls_model("initial-exec"))) = {};
uptr program_pc(uptr pc) { return in_libomp_.pc != 0 ? in_libomp_.pc : pc; }
}  // namespace sooth::rt::openmp

namespace {

SOOTH_REAL Real<int(const char*, const char*, int)> real_setenv{"setenv"};

union Data {
  u64 value;
  void* ptr;
};

struct ToolDependence {
  Data variable;
  int type;
};

enum Callback : int {
  kThreadBegin = 1,
  kParallelBegin = 3,
  kParallelEnd = 4,
  kTaskCreate = 5,
  kTaskSchedule = 6,
  kImplicitTask = 7,
  kSyncRegionWait = 16,
  kDependences = 18,
  kSyncRegion = 23,
};
enum Scope : int { kBegin = 1, kEnd = 2 };
enum Region : int { kTaskwait = 5, kTaskgroup = 6, kReduction = 7 };  // all others are barriers
enum Status : int { kComplete = 1, kYield, kCancel, kDetach, kEarlyFulfill, kLateFulfill, kSwitch, kTaskwaitComplete };
enum Flag : u32 { kInitial = 1, kExplicit = 4, kUndeferred = 0x08000000, kFinal = 0x20000000, kMerged = 0x80000000 };
enum ParallelFlag : u32 { kLeague = 0x40000000 };
enum ThreadType : int { kWorker = 2 };

bool is_barrier(int kind) { return kind != kTaskwait && kind != kTaskgroup && kind != kReduction; }

// A task, implicit or explicit. Those of the same size are used again, and never given back.
struct Task {
  static constexpr u32 kPlaces = 12;
  Context context;
  Team* team;
  // Of an explicit one.
  bool is_explicit, begun, was_outside;
  Fiber* fiber;  // nullptr: it is part of whoever runs it
  Fiber* before_it;
  Context* outer;
  Team* outer_team;
  u64 message, parent, group;
  uptr pc, memory;
  u64 bytes;
  u32 dependences;
  Dependence* places;
  u64 room;  // bytes of places that are mapped; 0: they are here
  Dependence few[kPlaces];
  Task* next;

  Order order() const { return {parent, group, team, pc, dependences, places}; }
};

template <typename T>
class Pool {
 public:
  T* get() {
    T* one = nullptr;
    {
      SpinGuard guard(lock_);
      if ((one = free_) != nullptr) free_ = next(one);
    }
    if (one == nullptr) {
      one = static_cast<T*>(map_memory(sizeof(T)));
      if (one == nullptr) fatal("out of memory for OpenMP's tasks");
    } else {
      zero_memory(one, sizeof(T));
    }
    return one;
  }
  void give(T* one) {
    SpinGuard guard(lock_);
    next(one) = free_;
    free_ = one;
  }

 private:
  static T*& next(T* one) { return one->next; }
  SpinLock lock_;
  T* free_;
};

struct PooledTeam : Team {
  uptr pc;
  bool nested;     // other threads may run regions beside it
  bool is_league;  // its threads are the first ones of teams
  bool in_league;  // a team of one: only its first thread comes, whatever number libomp names
  PooledTeam* next;
};

Pool<Task> tasks_;
Pool<PooledTeam> teams_;

using GetTaskMemory = int (*)(void** address, std::size_t* size, int block);
GetTaskMemory get_task_memory_ = nullptr;

Task* task_of(const Data* data) { return data == nullptr ? nullptr : static_cast<Task*>(data->ptr); }

// Every event has a place. Some callbacks have none: then it is where the thread last was, or here.
uptr place_of(const void* codeptr) {
  if (codeptr != nullptr) in_libomp_.pc = reinterpret_cast<uptr>(codeptr) - 1;
  return in_libomp_.pc != 0 ? in_libomp_.pc : reinterpret_cast<uptr>(&place_of);
}

void enter_task(Task* task) {
  task->outer = context_;
  task->outer_team = team_;
  task->context.around = context_;
  context_ = &task->context;
  team_ = task->team;
}
void leave_task(Task* task) {
  context_ = task->outer;
  team_ = task->outer_team;
}

void give_task(Task* task) {
  if (task->room != 0) unmap_memory(task->places, task->room);
  tasks_.give(task);
}

// Regions.

void thread_begins(int type, Data*) {
  Thread* t = current();
  if (t != nullptr && type == kWorker) turn::leave(t);  // to where it waits for its first region
}

void parallel_begins(Data*, const void*, Data* parallel, unsigned, int flags, const void* codeptr) {
  Thread* t = current();
  if (t == nullptr) return;
  PooledTeam* team = teams_.get();
  team->number = new_message(Team::kMessages);
  team->pc = place_of(codeptr);
  team->is_league = (static_cast<u32>(flags) & kLeague) != 0;
  if (team->is_league) in_libomp_.league = team;
  const auto* around = static_cast<PooledTeam*>(team_);
  team->in_league = around != nullptr && around->is_league;
  team->nested = around != nullptr && (around->threads > 1 || around->in_league);
  parallel->ptr = static_cast<Team*>(team);
  before(t, team->pc, team->start());
}

void parallel_ends(Data* parallel, Data*, int, const void* codeptr) {
  Thread* t = current();
  auto* team = static_cast<Team*>(parallel->ptr);
  if (t == nullptr || team == nullptr) return;
  turn::hold(t);
  uptr pc = place_of(codeptr);
  after(t, pc, team->end());
  after(t, pc, team->tasks());
  drop_origins(t, pc, *team);
  if (in_libomp_.league == team) in_libomp_.league = nullptr;
  parallel->ptr = nullptr;
  teams_.give(static_cast<PooledTeam*>(team));
}

// One worker may run parts of two regions that nothing orders, if they are inside of others: threads of their own. (Giving
// one to every part would be dear, and tell no more.)
void make_apart(Thread* t, Task* task, uptr top) {
  task->pc = place_of(nullptr);
  task->before_it = current_fiber(t);
  task->fiber = create_fiber(t, task->pc);
  switch_to_fiber(t, task->pc, task->fiber, false);
  renew_own_memory(t, task->pc, top);
}
void end_apart(Thread* t, Task* task, uptr pc) {
  switch_to_fiber(t, pc, task->before_it, false);
  destroy_fiber(t, pc, task->fiber);
  task->fiber = nullptr;
}

void implicit_task(int scope, Data* parallel, Data* data, unsigned threads, unsigned index, int flags) {
  Thread* t = current();
  if (t == nullptr) return;
  if (scope == kBegin) {
    turn::hold(t);
    Task* task = tasks_.get();
    task->team = parallel == nullptr ? nullptr : static_cast<Team*>(parallel->ptr);
    // libomp does not tell it where the league has one team.
    if (task->team == nullptr && (flags & kInitial) != 0) task->team = in_libomp_.league;
    task->context.children = new_message();
    data->ptr = task;
    enter_task(task);
    if (Team* team = task->team) {
      bool is_league = (flags & kInitial) != 0;
      in_libomp_.pc = static_cast<PooledTeam*>(team)->pc;
      if (index != 0 && static_cast<PooledTeam*>(team)->nested)
        make_apart(t, task, of(__builtin_frame_address(0)) + 2 * sizeof(uptr));
      after(t, place_of(nullptr), team->start());
      if (!is_league) {
        team->threads = static_cast<PooledTeam*>(team)->in_league ? 1 : threads;
        team->assembles = true;
        assemble(t, team);
      }
    }
    return;
  }
  Task* task = task_of(data);
  if (task == nullptr) return;
  // Of a worker the team is gone: it is nowhere until its next region.
  if (context_ == &task->context) leave_task(task);
  data->ptr = nullptr;
  give_task(task);
}

// Barriers, taskwait and taskgroup.

void sync_region(int kind, int scope, Data* parallel, Data* data, const void* codeptr) {
  Thread* t = current();
  if (t == nullptr || context_ == nullptr) return;
  uptr pc = place_of(codeptr);
  if (!is_barrier(kind)) {
    if (kind == kTaskwait && scope == kEnd) after(t, pc, context_->children);
    if (kind == kTaskgroup && scope == kBegin) open_group();
    if (kind == kTaskgroup && scope == kEnd && context_->depth != 0) close_group(t, pc);
    return;
  }
  Team* team = team_;
  if (team == nullptr || in_libomp_.reduces) return;
  if (in_libomp_.barrier == 0) {
    // At the end of the region. What comes behind it is not of this one any more.
    if (scope == kBegin) {
      begin_operation(t, pc);
      before(t, pc, team->end());
      if (Task* task = task_of(data); task != nullptr && !task->is_explicit && task->fiber != nullptr)
        end_apart(t, task, pc);
    }
  } else if (scope == kBegin) {
    write_event(t, pc, Shape::of(Op::kBarrierArrive), team->barrier());
  } else if (parallel != nullptr) {
    write_event(t, pc, Shape::of(Op::kBarrierLeave), team->barrier());
    after(t, pc, team->tasks());
  }
}

void sync_region_wait(int kind, int scope, Data* parallel, Data*, const void* codeptr) {
  Thread* t = current();
  if (t == nullptr) return;
  uptr pc = place_of(codeptr);
  if (scope == kBegin) {
    turn::leave(t);
    return;
  }
  // A worker at the end of a region waits on, for the next one.
  if (is_barrier(kind) && parallel == nullptr) return;
  turn::hold(t);
  // What they have collected is used before the region ends.
  if (kind == kTaskgroup && context_ != nullptr && context_->group != 0) after(t, pc, context_->group);
  if (kind == kTaskgroup && in_libomp_.handed_on != 0) {
    if (!turn::taken()) handing_on_.lock();
    before(t, pc, in_libomp_.handed_on);
    after(t, pc, in_libomp_.handed_on);
    in_libomp_.handed_on = 0;
  }
}

// Explicit tasks.

void task_created(Data* maker, const void*, Data* data, int flags_, int, const void* codeptr) {
  Thread* t = current();
  u32 flags = static_cast<u32>(flags_);
  data->ptr = nullptr;
  if (t == nullptr || (flags & kExplicit) == 0 || context_ == nullptr) return;
  Task* parent = task_of(maker);
  Context& context = parent != nullptr ? parent->context : *context_;
  Task* task = tasks_.get();
  task->team = parent != nullptr ? parent->team : team_;
  task->is_explicit = true;
  task->pc = place_of(codeptr);
  task->parent = context.children;
  task->group = context.group;
  task->context.final = context.final || (flags & kFinal) != 0;
  task->places = task->few;
  auto* origin = static_cast<Origin*>(context.origin);
  task->message = origin != nullptr ? context.loop : new_message();
  if (origin == nullptr) before(t, task->pc, task->message);
  if ((flags & (kUndeferred | kMerged)) == 0 && task->team != nullptr && task->team->threads > 1 && !context.final)
    task->fiber = origin == nullptr ? create_fiber(t, task->pc) : create_fiber_of(t, task->pc, *origin);
  data->ptr = task;
}

Kind kind_of(int type) {
  switch (type) {
    case 1: return Kind::kReads;
    case 4: return Kind::kExcludes;
    case 7: return Kind::kShares;
    default: return Kind::kWrites;
  }
}

void task_depends(Data* data, const ToolDependence* places, int count) {
  constexpr int kSource = 5, kSink = 6;  // of doacross loops: wrap_libomp.cc
  Task* task = task_of(data);
  if (current() == nullptr || task == nullptr || !task->is_explicit || count <= 0) return;
  if (places[0].type == kSource || places[0].type == kSink) return;
  auto n = static_cast<u32>(count);
  if (n > Task::kPlaces) {
    task->room = n * sizeof(Dependence);
    task->places = static_cast<Dependence*>(map_memory(task->room));
    if (task->places == nullptr) fatal("out of memory for OpenMP's tasks");
  }
  for (u32 i = 0; i < n; ++i) task->places[i] = {places[i].variable.value, kind_of(places[i].type)};
  task->dependences = n;
}

void begin_task(Thread* t, Task* task) {
  task->was_outside = turn::taken() && turn::is_outside(t);
  turn::hold(t);
  enter_task(task);
  task->before_it = nullptr;
  if (task->fiber != nullptr) {
    task->before_it = current_fiber(t);
    switch_to_fiber(t, task->pc, task->fiber, false);
  }
  task->context.task = task->fiber;
  task->context.runner = task->before_it;
  if (task->begun) return;
  task->begun = true;
  task->context.children = new_message();
  task->context.group = task->group;
  after(t, task->pc, task->message);
  receive(t, task->order());
  exclude(t, task->order());
  void* memory = nullptr;
  std::size_t bytes = 0;
  if (get_task_memory_ != nullptr && get_task_memory_(&memory, &bytes, 0) >= 0 && memory != nullptr) {
    task->memory = of(memory);
    task->bytes = bytes;
  }
}

// The thread goes on with what it did before. `over`: the task will not be run again.
void end_task(Thread* t, Task* task, bool over) {
  if (over) {
    for (u32 i = 0; i < task->context.collected_count; ++i) before(t, task->pc, task->context.collected[i]);
    include(t, task->order());
    tell_done(t, task->order());
    // libomp gives the memory to another task.
    if (task->bytes != 0) write_event(t, task->pc, Shape::sized(Op::kAlloc), task->memory, task->bytes);
  }
  if (task->before_it != nullptr) {
    switch_to_fiber(t, task->pc, task->before_it, false);
    if (over) {
      destroy_fiber(t, task->pc, task->fiber);
      task->fiber = nullptr;
    }
  }
  leave_task(task);
  if (task->was_outside) turn::leave(t);
}

void task_scheduled(Data* prior_data, int status, Data* next_data) {
  Thread* t = current();
  if (t == nullptr) return;
  Task *prior = task_of(prior_data), *next = task_of(next_data);
  switch (status) {
    case kEarlyFulfill:
    case kLateFulfill:
      if (prior == nullptr || !prior->is_explicit) return;
      tell_done(t, prior->order());
      if (status == kLateFulfill) {
        prior_data->ptr = nullptr;
        give_task(prior);
      }
      return;
    case kTaskwaitComplete: return;
    case kComplete:
    case kCancel:
    case kDetach:
      if (prior == nullptr || !prior->is_explicit) return;
      end_task(t, prior, true);
      if (status != kDetach) {
        prior_data->ptr = nullptr;
        give_task(prior);
      }
      return;
    default:
      // One that may go on in another thread is put back.
      if (prior != nullptr && prior->is_explicit && next != nullptr && prior->outer == &next->context)
        end_task(t, prior, false);
      else if (next != nullptr && next->is_explicit)
        begin_task(t, next);
  }
}

using Function = void (*)();
using Lookup = Function (*)(const char* name);
using SetCallback = int (*)(int event, Function callback);

int begin_tool(Lookup lookup, int, Data*) {
  auto set = reinterpret_cast<SetCallback>(lookup("ompt_set_callback"));
  if (set == nullptr) return 0;
  get_task_memory_ = reinterpret_cast<GetTaskMemory>(lookup("ompt_get_task_memory"));
  set(kThreadBegin, reinterpret_cast<Function>(thread_begins));
  set(kParallelBegin, reinterpret_cast<Function>(parallel_begins));
  set(kParallelEnd, reinterpret_cast<Function>(parallel_ends));
  set(kImplicitTask, reinterpret_cast<Function>(implicit_task));
  set(kSyncRegion, reinterpret_cast<Function>(sync_region));
  set(kSyncRegionWait, reinterpret_cast<Function>(sync_region_wait));
  set(kTaskCreate, reinterpret_cast<Function>(task_created));
  set(kDependences, reinterpret_cast<Function>(task_depends));
  set(kTaskSchedule, reinterpret_cast<Function>(task_scheduled));
  return 1;
}
void end_tool(Data*) {}

struct Tool {
  int (*begin)(Lookup, int, Data*);
  void (*end)(Data*);
  Data data;
};
Tool tool_ = {begin_tool, end_tool, {0}};

}  // namespace

// libomp asks for it when it is first used. A tool of the user's own comes first: without ours, as before, order that only
// libomp knows is missing.
SOOTH_EXPORT Tool* sooth_ompt_start_tool(unsigned, const char*) asm("ompt_start_tool");
Tool* sooth_ompt_start_tool(unsigned, const char*) {
  Thread* t = current();
  if (t == nullptr) return nullptr;
  find_library(libomp_, SOOTH_CALLER);
  // Threads that spin while they wait keep the processor from the one whose turn it is.
  if (turn::taken()) real_setenv("KMP_BLOCKTIME", "0", 0);
  // So do those that libomp starts for target regions with `nowait`. Without them any thread of the region runs these.
  real_setenv("LIBOMP_USE_HIDDEN_HELPER_TASK", "0", 1);
  return &tool_;
}
