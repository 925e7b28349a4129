// TBB, which std::execution::par runs on: its headers are instrumented with the program, its library is not. What the library
// does, seen at its entry points: a task that is spawned runs behind whoever spawned it, a wait is over behind the tasks
// that have counted it down (in the headers, so that is seen), and memory for tasks is handed from one to the next.
//
// The library calls tasks by their tables of virtual functions. A task that is spawned gets a table of ours in the place of
// its own, which it has back before its code runs.
#include "runtime/intercept.h"
#include "runtime/sync.h"

using namespace sooth;
using namespace sooth::rt;

namespace {

using Execute = void* (*)(struct Task*, void*);

struct Task {
  void** functions;
};
// tbb::detail::d1::task has these in this order, behind two words that every table has in front.
struct Functions {
  void* front[2];
  void *destroy, *destroy_and_free;
  Execute execute, cancel;
};
struct WaitContext {
  u64 version;
  u64 count;
};

struct Replacement {
  void** original;  // nullptr: free
  Functions functions;
};
constexpr int kReplacements = 512;
Replacement replacements_[kReplacements];
SpinLock replacements_lock_;

Functions& functions_at(void** table) { return *reinterpret_cast<Functions*>(table - 2); }
void** table_of(Replacement& replacement) { return &replacement.functions.destroy; }
Replacement& replacement_at(void** table) {
  return *reinterpret_cast<Replacement*>(reinterpret_cast<uptr>(table) - __builtin_offsetof(Replacement, functions) -
                                         sizeof(Functions::front));
}
bool is_ours(void** table) {
  auto address = reinterpret_cast<uptr>(table), begin = reinterpret_cast<uptr>(replacements_);
  return address >= begin && address < begin + sizeof replacements_;
}

// Other uses of the address as a message are apart.
u64 message_of(const Task* task) { return reinterpret_cast<uptr>(task) + 1; }

// Gives the task its own functions back, and puts what follows behind whoever spawned it.
Functions& begin(Task* task) {
  if (is_ours(task->functions)) task->functions = replacement_at(task->functions).original;
  Functions& own = functions_at(task->functions);
  if (Thread* t = current())
    write_event(t, reinterpret_cast<uptr>(own.execute), Shape::of(Op::kHappensAfter), message_of(task));
  return own;
}
void* execute(Task* task, void* data) { return begin(task).execute(task, data); }
void* cancel(Task* task, void* data) { return begin(task).cancel(task, data); }

// nullptr: there is no room.
Replacement* find_replacement(void** original) {
  SpinGuard guard(replacements_lock_);
  u32 place = static_cast<u32>(reinterpret_cast<uptr>(original) >> 4);
  for (int i = 0; i < kReplacements; ++i) {
    Replacement& each = replacements_[(place + static_cast<u32>(i)) % kReplacements];
    if (each.original == original) return &each;
    if (each.original != nullptr) continue;
    each = {original, functions_at(original)};
    each.functions.execute = execute;
    each.functions.cancel = cancel;
    return &each;
  }
  return nullptr;
}

void spawned(Task* task, uptr pc) {
  Thread* t = current();
  if (t == nullptr || is_ours(task->functions)) return;
  Replacement* replacement = find_replacement(task->functions);
  if (replacement == nullptr) return;
  write_event(t, pc, Shape::of(Op::kHappensBefore), message_of(task));
  task->functions = table_of(*replacement);
}

// New memory is a new variable, also when another thread has just given it back.
void* handed_out(void* block, std::size_t size, uptr pc) {
  Thread* t = current();
  if (t != nullptr && block != nullptr && size != 0)
    write_event(t, pc, Shape::sized(Op::kAlloc), reinterpret_cast<uptr>(block), size);
  return block;
}

}  // namespace

#define SOOTH_TBB(result, id, symbol, ...)                       \
  SOOTH_REAL static Real<result(__VA_ARGS__)> real_##id{symbol}; \
  SOOTH_EXPORT result sooth_##id(__VA_ARGS__) asm(symbol);       \
  result sooth_##id(__VA_ARGS__)
#define SOOTH_TBB_NAME(rest) "_ZN3tbb6detail2r1" rest

SOOTH_TBB(void, tbb_spawn, SOOTH_TBB_NAME("5spawnERNS0_2d14taskERNS2_18task_group_contextE"), Task* task,
          void* context) {
  spawned(task, SOOTH_CALLER);
  real_tbb_spawn(task, context);
}
SOOTH_TBB(void, tbb_spawn_at, SOOTH_TBB_NAME("5spawnERNS0_2d14taskERNS2_18task_group_contextEt"), Task* task,
          void* context, unsigned short place) {
  spawned(task, SOOTH_CALLER);
  real_tbb_spawn_at(task, context, place);
}
SOOTH_TBB(void, tbb_submit, SOOTH_TBB_NAME("6submitERNS0_2d14taskERNS2_18task_group_contextEPNS1_5arenaEm"), Task* task,
          void* context, void* arena, uptr critical) {
  spawned(task, SOOTH_CALLER);
  real_tbb_submit(task, context, arena, critical);
}
SOOTH_TBB(void, tbb_enqueue, SOOTH_TBB_NAME("7enqueueERNS0_2d14taskEPNS2_15task_arena_baseE"), Task* task,
          void* arena) {
  spawned(task, SOOTH_CALLER);
  real_tbb_enqueue(task, arena);
}
SOOTH_TBB(void, tbb_enqueue_in,
          SOOTH_TBB_NAME("7enqueueERNS0_2d14taskERNS2_18task_group_contextEPNS2_15task_arena_baseE"), Task* task,
          void* context, void* arena) {
  spawned(task, SOOTH_CALLER);
  real_tbb_enqueue_in(task, context, arena);
}
SOOTH_TBB(void, tbb_execute_and_wait,
          SOOTH_TBB_NAME("16execute_and_waitERNS0_2d14taskERNS2_18task_group_contextERNS2_12wait_contextES6_"),
          Task* task, void* context, WaitContext* wait, void* wait_context) {
  spawned(task, SOOTH_CALLER);
  real_tbb_execute_and_wait(task, context, wait, wait_context);
  acquire_through(&wait->count, SOOTH_CALLER);
}
SOOTH_TBB(void, tbb_wait, SOOTH_TBB_NAME("4waitERNS0_2d112wait_contextERNS2_18task_group_contextE"), WaitContext* wait,
          void* context) {
  real_tbb_wait(wait, context);
  acquire_through(&wait->count, SOOTH_CALLER);
}
SOOTH_TBB(void*, tbb_allocate, SOOTH_TBB_NAME("8allocateERPNS0_2d117small_object_poolEm"), void** pool,
          std::size_t size) {
  return handed_out(real_tbb_allocate(pool, size), size, SOOTH_CALLER);
}
SOOTH_TBB(void*, tbb_allocate_in, SOOTH_TBB_NAME("8allocateERPNS0_2d117small_object_poolEmRKNS2_14execution_dataE"),
          void** pool, std::size_t size, const void* data) {
  return handed_out(real_tbb_allocate_in(pool, size, data), size, SOOTH_CALLER);
}
SOOTH_TBB(void*, tbb_allocate_memory, SOOTH_TBB_NAME("15allocate_memoryEm"), std::size_t size) {
  return handed_out(real_tbb_allocate_memory(size), size, SOOTH_CALLER);
}
SOOTH_TBB(void*, tbb_allocate_aligned, SOOTH_TBB_NAME("22cache_aligned_allocateEm"), std::size_t size) {
  return handed_out(real_tbb_allocate_aligned(size), size, SOOTH_CALLER);
}
