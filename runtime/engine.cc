// Programs without hooks, under our tool of Valgrind (valgrind/): it calls what is here, as machine code, for each access
// and call of the program. See valgrind/engine.h.
#include "runtime/engine.h"

#include "runtime/control.h"
#include "runtime/intercept.h"
#include "runtime/modules.h"
#include "runtime/stream_writer.h"
#include "runtime/turn.h"
#include "valgrind/engine.h"

using namespace sooth;
using namespace sooth::rt;

static_assert(sizeof(SoothCall) == sizeof(Thread::engine_call));

namespace {

// From here to the slow way, no function may wait, use thread-local variables or call libc.

int access_controlled_natively(Thread* t, const SoothCall& call) {
  constexpr u32 kUnusual = kIgnoreReads | kIgnoreWrites | kIgnoreMemory | kEachAccess | kWatched;
  if ((t->special & kUnusual) != 0 || t->quantum <= 1 || controlled::boring_entry(call.pc) != call.pc ||
      (__atomic_load_n(&t->turn_state, __ATOMIC_RELAXED) | t->pending_signals) != 0)
    return SOOTH_SLOW;
  --t->quantum;
  return SOOTH_DONE;
}

int access_natively(void* thread, const SoothCall* call, unsigned long sp) {
  auto* t = static_cast<Thread*>(thread);
  // Functions that code left which we do not see.
  if (SOOTH_UNLIKELY(t->top > t->frames && t->top[-1].stack < sp)) engine::left(t, sp);
  if ((t->special & kControlled) != 0)
    return call->kind == SOOTH_RMW ? SOOTH_SLOW : access_controlled_natively(t, *call);
  if ((t->special & kStopped) != 0) return t->limit == nullptr ? SOOTH_SLOW : SOOTH_DONE;
  if (recorder.control->threads <= 1 && t->limit != nullptr) return SOOTH_DONE;  // whatever it does comes first
  if (call->kind == SOOTH_RMW) return SOOTH_SLOW;
  Op op = call->kind == SOOTH_WRITE ? Op::kWrite : Op::kRead;
  bool done = write_access_natively(t, call->address, call->pc, Shape::of(op, MemoryOrder::kNotAtomic, call->size));
  return done ? SOOTH_DONE : SOOTH_SLOW;
}

void entered_natively(void* thread, unsigned long call, unsigned long sp, unsigned long target) {
  auto* t = static_cast<Thread*>(thread);
  Frame* top = t->top;
  while (top > t->frames && top[-1].stack <= sp) --top;
  if (top < t->low) t->low = top;
  if (top < t->frames + kMaxFrames) *top++ = {call, sp, target};
  t->top = top;
  if ((t->special & kControlled) == 0) t->special |= kStackChanged;
}

void left_natively(void* thread, unsigned long sp) { engine::left(static_cast<Thread*>(thread), sp); }

}  // namespace

void sooth::rt::engine::left(Thread* t, uptr sp) {
  Frame* top = t->top;
  while (top > t->frames && top[-1].stack < sp) --top;
  if (top == t->top) return;
  if (top < t->low) t->low = top;
  t->top = top;
  if ((t->special & kControlled) == 0) t->special |= kStackChanged;
}

// The slow way: code of the program, in front of the instruction whose access is told of.

namespace {

void atomic_access(Thread* t, const SoothCall& call) {
  if (!is_synchronisation_seen(t)) return pass_over(t);
  if (recorder.serial) {
    turn::step(t, {Op::kAtomicRmw, call.pc, call.address, call.size, call.compares != 0});
    if (recorder.controlled) controlled::approach_atomic(t, call.pc, Op::kAtomicRmw, call.address, call.size);
  }
  // With the turn, nobody changes it before the instruction is executed.
  EventValue seen = read_memory(call.address, call.size);
  bool loads = call.compares != 0 && call.size <= 8 && seen.low != call.expected;
  if (recorder.controlled) loads ? turn::changed_nothing(t) : controlled::changed_atomic(t);
  write_event(t, call.pc, Shape::of(loads ? Op::kAtomicLoad : Op::kAtomicRmw, MemoryOrder::kSeqCst, call.size),
              call.address, 0, &seen);
}

}  // namespace

extern "C" __attribute__((visibility("hidden"), used)) void sooth_engine_slow() {
  Thread* t = current();
  if (t == nullptr) return;
  SoothCall call;
  __builtin_memcpy(&call, t->engine_call, sizeof call);
  if (call.kind == SOOTH_RMW) return atomic_access(t, call);
  if (t->cursor > t->limit) attend(t);
  access(call.address, call.pc,
         Shape::of(call.kind == SOOTH_WRITE ? Op::kWrite : Op::kRead, MemoryOrder::kNotAtomic, call.size), 0);
}

// The tool has kept all registers, and gives them back.
asm(R"(
  .text
  .globl sooth_engine_slow_entry
  .hidden sooth_engine_slow_entry
  .type sooth_engine_slow_entry, @function
sooth_engine_slow_entry:
  lea -256(%rsp), %rsp
  and $-64, %rsp
  cld
  call sooth_engine_slow
  sub $64, %rsp
  movq $0x534f0001, (%rsp)
  mov %rsp, %rax
  xor %edx, %edx
  rolq $3, %rdi
  rolq $13, %rdi
  rolq $61, %rdi
  rolq $51, %rdi
  xchgq %rbx, %rbx
  ud2
)");
static_assert(SOOTH_REQUEST_RESUME == 0x534f0001);
extern "C" __attribute__((visibility("hidden"))) const char sooth_engine_slow_entry[];

namespace sooth::rt::engine {

bool start() {
  static SoothEngine table;
  table.version = SOOTH_ENGINE_VERSION;
  table.thread_offset = static_cast<long>(reinterpret_cast<uptr>(&self_) - thread_pointer());
  table.call_offset = __builtin_offsetof(Thread, engine_call);
  table.slow_entry = reinterpret_cast<uptr>(sooth_engine_slow_entry);
  table.access = access_natively;
  table.entered = entered_natively;
  table.left = left_natively;
  volatile u64 request[6] = {SOOTH_REQUEST_START, reinterpret_cast<u64>(&table), 0, 0, 0, 0};
  u64 answer = 0;
  asm volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\txchgq %%rbx, %%rbx"
               : "=d"(answer)
               : "a"(&request[0]), "0"(answer)
               : "cc", "memory");
  return answer == 1;
}

}  // namespace sooth::rt::engine
