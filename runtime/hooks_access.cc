// What compilers insert for plain accesses and for entering and leaving functions: __tsan_read4(address) and its like.
#include "runtime/calls.h"
#include "runtime/intercept.h"
#include "runtime/stream_writer.h"

using namespace sooth;
using namespace sooth::rt;

namespace {

template <Op op, unsigned size>
SOOTH_INLINE void hook(const void* address, uptr pc, uptr stack) {
  access(reinterpret_cast<uptr>(address), pc, Shape::of(op, MemoryOrder::kNotAtomic, size), stack);
}

SOOTH_INLINE void range_hook(Op op, const void* address, uptr size, uptr pc) {
  if (Thread* t = current()) write_range(t, pc, op, reinterpret_cast<uptr>(address), size);
}

// Of hooks that are told where they were called from. A program counter is never 0.
SOOTH_INLINE uptr told(const void* pc) {
  auto address = reinterpret_cast<uptr>(pc);
  return address > 1 ? address - 1 : kNoSite;
}

}  // namespace

#define SOOTH_STACK reinterpret_cast<uptr>(__builtin_dwarf_cfa())

#define SOOTH_HOOKS(size)                                                                                           \
  SOOTH_EXPORT void __tsan_read##size(void* p) { hook<Op::kRead, size>(p, SOOTH_CALLER, SOOTH_STACK); }             \
  SOOTH_EXPORT void __tsan_write##size(void* p) { hook<Op::kWrite, size>(p, SOOTH_CALLER, SOOTH_STACK); }           \
  SOOTH_EXPORT void __tsan_unaligned_read##size(void* p) { hook<Op::kRead, size>(p, SOOTH_CALLER, SOOTH_STACK); }   \
  SOOTH_EXPORT void __tsan_unaligned_write##size(void* p) { hook<Op::kWrite, size>(p, SOOTH_CALLER, SOOTH_STACK); } \
  SOOTH_EXPORT void __tsan_volatile_read##size(void* p) { hook<Op::kRead, size>(p, SOOTH_CALLER, SOOTH_STACK); }    \
  SOOTH_EXPORT void __tsan_volatile_write##size(void* p) { hook<Op::kWrite, size>(p, SOOTH_CALLER, SOOTH_STACK); }  \
  SOOTH_EXPORT void __tsan_unaligned_volatile_read##size(void* p) {                                                 \
    hook<Op::kRead, size>(p, SOOTH_CALLER, SOOTH_STACK);                                                            \
  }                                                                                                                 \
  SOOTH_EXPORT void __tsan_unaligned_volatile_write##size(void* p) {                                                \
    hook<Op::kWrite, size>(p, SOOTH_CALLER, SOOTH_STACK);                                                           \
  }                                                                                                                 \
  SOOTH_EXPORT void __tsan_read_write##size(void* p) {                                                              \
    hook<Op::kRead, size>(p, SOOTH_CALLER, SOOTH_STACK);                                                            \
    hook<Op::kWrite, size>(p, SOOTH_CALLER, SOOTH_STACK);                                                           \
  }                                                                                                                 \
  SOOTH_EXPORT void __tsan_unaligned_read_write##size(void* p) {                                                    \
    hook<Op::kRead, size>(p, SOOTH_CALLER, SOOTH_STACK);                                                            \
    hook<Op::kWrite, size>(p, SOOTH_CALLER, SOOTH_STACK);                                                           \
  }                                                                                                                 \
  SOOTH_EXPORT void __tsan_read##size##_pc(void* p, void* pc) { hook<Op::kRead, size>(p, told(pc), SOOTH_STACK); }  \
  SOOTH_EXPORT void __tsan_write##size##_pc(void* p, void* pc) { hook<Op::kWrite, size>(p, told(pc), SOOTH_STACK); }

SOOTH_HOOKS(1)
SOOTH_HOOKS(2)
SOOTH_HOOKS(4)
SOOTH_HOOKS(8)
SOOTH_HOOKS(16)

// Of functions built with --deep. At most 8 bytes: what is longer is rare.
#define SOOTH_DEEP_HOOKS(size)                                                        \
  SOOTH_EXPORT void __sooth_deep_read##size(void* p) {                                \
    access_deeply<size, false>(reinterpret_cast<uptr>(p), SOOTH_CALLER, SOOTH_STACK); \
  }                                                                                   \
  SOOTH_EXPORT void __sooth_deep_write##size(void* p) {                               \
    access_deeply<size, true>(reinterpret_cast<uptr>(p), SOOTH_CALLER, SOOTH_STACK);  \
  }

SOOTH_DEEP_HOOKS(1)
SOOTH_DEEP_HOOKS(2)
SOOTH_DEEP_HOOKS(4)
SOOTH_DEEP_HOOKS(8)

SOOTH_EXPORT void __tsan_read_range(void* p, uptr size) { range_hook(Op::kRead, p, size, SOOTH_CALLER); }
SOOTH_EXPORT void __tsan_write_range(void* p, uptr size) { range_hook(Op::kWrite, p, size, SOOTH_CALLER); }
SOOTH_EXPORT void __tsan_read_range_pc(void* p, uptr size, void* pc) { range_hook(Op::kRead, p, size, told(pc)); }
SOOTH_EXPORT void __tsan_write_range_pc(void* p, uptr size, void* pc) { range_hook(Op::kWrite, p, size, told(pc)); }

// sanitizer_common's names, which clang uses for unaligned accesses of other runtimes: performed here.
#define SOOTH_UNALIGNED(bits, type, size)                                    \
  SOOTH_EXPORT type __sanitizer_unaligned_load##bits(const type* p) {        \
    hook<Op::kRead, size>(p, SOOTH_CALLER, SOOTH_STACK);                     \
    type value;                                                              \
    __builtin_memcpy(&value, p, size);                                       \
    return value;                                                            \
  }                                                                          \
  SOOTH_EXPORT void __sanitizer_unaligned_store##bits(type* p, type value) { \
    hook<Op::kWrite, size>(p, SOOTH_CALLER, SOOTH_STACK);                    \
    __builtin_memcpy(p, &value, size);                                       \
  }
SOOTH_UNALIGNED(16, u16, 2)
SOOTH_UNALIGNED(32, u32, 4)
SOOTH_UNALIGNED(64, u64, 8)

SOOTH_EXPORT void __tsan_vptr_read(void** p) { hook<Op::kRead, 8>(p, SOOTH_CALLER, SOOTH_STACK); }
SOOTH_EXPORT void __tsan_vptr_update(void** p, void* value) {
  // Destructors store the pointer of their own class first: the same again, mostly, and harmless then.
  if (*p != value) hook<Op::kWrite, 8>(p, SOOTH_CALLER, SOOTH_STACK);
}

SOOTH_EXPORT void __tsan_func_entry(void* call) {
  Thread* t = current();
  if (SOOTH_UNLIKELY(t == nullptr)) return;
  uptr stack = SOOTH_STACK;
  Frame* top = t->top;
  // Frames that a longjmp or an exception left behind lie below this one.
  while (SOOTH_UNLIKELY(top > t->frames && top[-1].stack <= stack)) --top;
  if (SOOTH_UNLIKELY(top < t->low)) t->low = top;
  if (SOOTH_LIKELY(top < t->frames + kMaxFrames)) *top++ = {reinterpret_cast<uptr>(call) - 1, stack, SOOTH_CALLER};
  t->top = top;
  if (SOOTH_UNLIKELY((t->special & kControlled) != 0)) return;  // only who asks where it waits wants to know
  t->special |= kStackChanged;
  if (SOOTH_UNLIKELY(recorder.watches_calls)) calls::entered(t, SOOTH_CALLER);
}

SOOTH_EXPORT void __tsan_func_exit() {
  Thread* t = current();
  if (SOOTH_UNLIKELY(t == nullptr)) return;
  uptr stack = SOOTH_STACK;
  Frame* top = t->top;
  bool left = false;
  // Frames below were left by a longjmp, or by a jump to this hook instead of a call: then we return to where the
  // frame's function was called from.
  while (SOOTH_UNLIKELY(!left && top > t->frames && top[-1].stack < stack)) left = (--top)->call == SOOTH_CALLER;
  // Functions deeper than kMaxFrames were not remembered.
  if (SOOTH_LIKELY(!left && top > t->frames && top[-1].stack <= stack)) --top;
  if (top < t->low) t->low = top;
  t->top = top;
  if (SOOTH_UNLIKELY((t->special & kControlled) != 0)) return;
  t->special |= kStackChanged;
  if (SOOTH_UNLIKELY(t->call_frame != nullptr)) calls::left(t);
}

// Instrumented by some compilers to skip what a callee does.
SOOTH_EXPORT void __tsan_ignore_thread_begin() {
  if (Thread* t = current()) {
    ++t->ignore_reads, ++t->ignore_writes;
    t->special |= kIgnoreReads | kIgnoreWrites;
  }
}
SOOTH_EXPORT void __tsan_ignore_thread_end() {
  Thread* t = current();
  if (t == nullptr || t->ignore_reads == 0 || t->ignore_writes == 0) return;
  if (--t->ignore_reads == 0) t->special &= ~kIgnoreReads;
  if (--t->ignore_writes == 0) t->special &= ~kIgnoreWrites;
}
