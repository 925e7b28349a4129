// The rest of what programs may ask of ThreadSanitizer's library: the Java interface, a barrier for tests, the allocator's
// figures, and questions about reports, of which there are none inside the program.
#include <linux/futex.h>
#include <malloc.h>

#include "runtime/blocking.h"
#include "runtime/intercept.h"
#include "runtime/locks.h"
#include "runtime/stream_writer.h"

using namespace sooth;
using namespace sooth::rt;

#define SOOTH_API SOOTH_EXPORT

namespace {

void message(Op op, uptr m, uptr pc) {
  if (Thread* t = current()) write_event(t, pc, Shape::of(op), m);
}

void block(Op op, uptr p, uptr size, uptr pc) {
  if (Thread* t = current(); t != nullptr && size != 0) write_event(t, pc, Shape::sized(op), p, size);
}

void acquired(uptr lock, bool shared, int times, uptr pc) {
  if (Thread* t = current())
    for (int i = 0; i < times; ++i) lock_acquired(t, pc, lock, shared);
}

int released(uptr lock, bool all, uptr pc) {
  Thread* t = current();
  if (t == nullptr) return 1;
  if (all) return static_cast<int>(lock_release_all(t, pc, lock));
  lock_releasing(t, pc, lock);
  return 1;
}

}  // namespace

// Java: memory belongs to the collector, which stops everybody while it moves things.
SOOTH_API void __tsan_java_init(uptr, uptr) {}
SOOTH_API int __tsan_java_fini() { return 0; }
SOOTH_API void __tsan_java_alloc(uptr p, uptr size) { block(Op::kAlloc, p, size, SOOTH_CALLER); }
SOOTH_API void __tsan_java_free(uptr p, uptr size) { block(Op::kAlloc, p, size, SOOTH_CALLER); }
SOOTH_API void __tsan_java_move(uptr from, uptr to, uptr size) {
  block(Op::kAlloc, from, size, SOOTH_CALLER);
  block(Op::kAlloc, to, size, SOOTH_CALLER);
}
SOOTH_API uptr __tsan_java_find(uptr*, uptr) { return 0; }
SOOTH_API void __tsan_java_finalize() {}
SOOTH_API void __tsan_java_mutex_lock(uptr lock) { acquired(lock, false, 1, SOOTH_CALLER); }
SOOTH_API void __tsan_java_mutex_unlock(uptr lock) { released(lock, false, SOOTH_CALLER); }
SOOTH_API void __tsan_java_mutex_read_lock(uptr lock) { acquired(lock, true, 1, SOOTH_CALLER); }
SOOTH_API void __tsan_java_mutex_read_unlock(uptr lock) { released(lock, false, SOOTH_CALLER); }
SOOTH_API void __tsan_java_mutex_lock_rec(uptr lock, int times) { acquired(lock, false, times, SOOTH_CALLER); }
SOOTH_API int __tsan_java_mutex_unlock_rec(uptr lock) { return released(lock, true, SOOTH_CALLER); }
SOOTH_API void __tsan_java_acquire(uptr m) { message(Op::kHappensAfter, m, SOOTH_CALLER); }
SOOTH_API void __tsan_java_release(uptr m) { message(Op::kHappensBefore, m, SOOTH_CALLER); }
SOOTH_API void __tsan_java_release_store(uptr m) { message(Op::kHappensBefore, m, SOOTH_CALLER); }

// A barrier that orders nobody, for tests that want accesses in one order and unordered all the same. The low half counts
// arrivals, the high half has how many make a round.
SOOTH_API void __tsan_testonly_barrier_init(u64* barrier, u32 count) {
  __atomic_store_n(barrier, u64{count} << 32, __ATOMIC_RELAXED);
}
SOOTH_API void __tsan_testonly_barrier_wait(u64* barrier) {
  u64 count = __atomic_load_n(barrier, __ATOMIC_RELAXED) >> 32;
  if (count == 0) return;
  u64 round = (__atomic_fetch_add(barrier, 1, __ATOMIC_ACQ_REL) & 0xffffffff) / count;
  auto* arrivals = reinterpret_cast<u32*>(barrier);
  auto wait = [&] {
    for (u32 n; (n = __atomic_load_n(arrivals, __ATOMIC_ACQUIRE)) / count == round;)
      sys_call(SYS_futex, reinterpret_cast<long>(arrivals), FUTEX_WAIT, n, 0);
  };
  sys_call(SYS_futex, reinterpret_cast<long>(arrivals), FUTEX_WAKE, 0x7fffffff);
  if (__atomic_load_n(arrivals, __ATOMIC_ACQUIRE) / count != round) return;
  Thread* t = current();
  if (t == nullptr) return wait();
  Blocking blocking(t);
  wait();
}

// Findings come behind the run.
#define SOOTH_NO_REPORT(name) \
  SOOTH_API int name() { return 0; }
SOOTH_NO_REPORT(__tsan_get_report_stack)
SOOTH_NO_REPORT(__tsan_get_report_mop)
SOOTH_NO_REPORT(__tsan_get_report_loc)
SOOTH_NO_REPORT(__tsan_get_report_loc_object_type)
SOOTH_NO_REPORT(__tsan_get_report_mutex)
SOOTH_NO_REPORT(__tsan_get_report_thread)
SOOTH_NO_REPORT(__tsan_get_report_unique_tid)
SOOTH_NO_REPORT(__tsan_get_report_tag)
SOOTH_NO_REPORT(__tsan_get_alloc_stack)
SOOTH_API const char* __tsan_locate_address(void*, char* name, std::size_t room, void** begin, std::size_t* size) {
  if (room > 0) *name = 0;
  *begin = nullptr;
  *size = 0;
  return "";
}
SOOTH_API void __tsan_on_thread_idle() {}
SOOTH_API void __tsan_check_no_mutexes_held() {
  Thread* t = current();
  if (t != nullptr && t->held_count != 0) warn("__tsan_check_no_mutexes_held: this thread holds a lock");
}
SOOTH_API uptr __tsan_testonly_shadow_stack_current_size() {
  Thread* t = current();
  return t == nullptr ? 0 : static_cast<uptr>(t->top - t->bottom);
}
SOOTH_API void AnnotateMemoryIsInitialized(char*, int, uptr, uptr) {}
SOOTH_API void AnnotateMemoryIsUninitialized(char*, int, uptr, uptr) {}
SOOTH_API int ThreadSanitizerQuery(const char* query) { return text_equal(query, "pure_happens_before") ? 1 : 0; }

// The allocator is that of libc.
SOOTH_API int __sanitizer_get_ownership(const void* p) { return p != nullptr; }
SOOTH_API std::size_t __sanitizer_get_allocated_size(const void* p) { return malloc_usable_size(const_cast<void*>(p)); }
SOOTH_API std::size_t __sanitizer_get_allocated_size_fast(const void* p) {
  return malloc_usable_size(const_cast<void*>(p));
}
SOOTH_API const void* __sanitizer_get_allocated_begin(const void* p) { return p; }
SOOTH_API std::size_t __sanitizer_get_estimated_allocated_size(std::size_t size) { return size; }
SOOTH_API std::size_t __sanitizer_get_current_allocated_bytes() { return mallinfo2().uordblks; }
SOOTH_API std::size_t __sanitizer_get_heap_size() { return mallinfo2().arena + mallinfo2().hblkhd; }
SOOTH_API std::size_t __sanitizer_get_free_bytes() { return mallinfo2().fordblks; }
SOOTH_API std::size_t __sanitizer_get_unmapped_bytes() { return 0; }
SOOTH_API void __sanitizer_purge_allocator() { malloc_trim(0); }
SOOTH_API void* __sanitizer_internal_memcpy(void* to, const void* from, std::size_t n) {
  copy_memory(to, from, n);
  return to;
}
SOOTH_API void* __sanitizer_internal_memmove(void* to, const void* from, std::size_t n) {
  return __builtin_memmove(to, from, n);
}
SOOTH_API void* __sanitizer_internal_memset(void* to, int byte, std::size_t n) { return __builtin_memset(to, byte, n); }

// Functions that are called for an effect which there is not: they say so, once.
#define SOOTH_NOTHING(result, name, ...)                                                        \
  SOOTH_API result name() {                                                                     \
    static bool told;                                                                           \
    if (!__atomic_exchange_n(&told, true, __ATOMIC_RELAXED)) warn(#name, " does nothing here"); \
    __VA_ARGS__;                                                                                \
  }
SOOTH_NOTHING(int, __sanitizer_install_malloc_and_free_hooks, return 0)
SOOTH_NOTHING(void, __sanitizer_set_death_callback)
SOOTH_NOTHING(void, __sanitizer_set_report_path)
SOOTH_NOTHING(void, __sanitizer_set_report_fd)
SOOTH_NOTHING(void, __sanitizer_print_stack_trace)
SOOTH_NOTHING(void, __sanitizer_sandbox_on_notify)
SOOTH_NOTHING(int, __sanitizer_acquire_crash_state, return 1)
SOOTH_NOTHING(const char*, __sanitizer_get_report_path, return "")
SOOTH_NOTHING(int, __sanitizer_get_module_and_offset_for_pc, return 0)
// ... and leave a text that is empty.
#define SOOTH_NO_NAME(name)                                                                     \
  SOOTH_API void name(void*, const char*, char* to, std::size_t room) {                         \
    static bool told;                                                                           \
    if (!__atomic_exchange_n(&told, true, __ATOMIC_RELAXED)) warn(#name, " does nothing here"); \
    if (room > 0) *to = 0;                                                                      \
  }
SOOTH_NO_NAME(__sanitizer_symbolize_pc)
SOOTH_NO_NAME(__sanitizer_symbolize_global)

// Coverage: a program that is built for both runs, and nobody counts.
#define SOOTH_UNCOUNTED(name) \
  SOOTH_API void name() {}
SOOTH_UNCOUNTED(__sanitizer_cov_8bit_counters_init)
SOOTH_UNCOUNTED(__sanitizer_cov_bool_flag_init)
SOOTH_UNCOUNTED(__sanitizer_cov_dump)
SOOTH_UNCOUNTED(__sanitizer_cov_load1)
SOOTH_UNCOUNTED(__sanitizer_cov_load2)
SOOTH_UNCOUNTED(__sanitizer_cov_load4)
SOOTH_UNCOUNTED(__sanitizer_cov_load8)
SOOTH_UNCOUNTED(__sanitizer_cov_load16)
SOOTH_UNCOUNTED(__sanitizer_cov_pcs_init)
SOOTH_UNCOUNTED(__sanitizer_cov_reset)
SOOTH_UNCOUNTED(__sanitizer_cov_store1)
SOOTH_UNCOUNTED(__sanitizer_cov_store2)
SOOTH_UNCOUNTED(__sanitizer_cov_store4)
SOOTH_UNCOUNTED(__sanitizer_cov_store8)
SOOTH_UNCOUNTED(__sanitizer_cov_store16)
SOOTH_UNCOUNTED(__sanitizer_cov_trace_cmp)
SOOTH_UNCOUNTED(__sanitizer_cov_trace_cmp1)
SOOTH_UNCOUNTED(__sanitizer_cov_trace_cmp2)
SOOTH_UNCOUNTED(__sanitizer_cov_trace_cmp4)
SOOTH_UNCOUNTED(__sanitizer_cov_trace_cmp8)
SOOTH_UNCOUNTED(__sanitizer_cov_trace_const_cmp1)
SOOTH_UNCOUNTED(__sanitizer_cov_trace_const_cmp2)
SOOTH_UNCOUNTED(__sanitizer_cov_trace_const_cmp4)
SOOTH_UNCOUNTED(__sanitizer_cov_trace_const_cmp8)
SOOTH_UNCOUNTED(__sanitizer_cov_trace_div4)
SOOTH_UNCOUNTED(__sanitizer_cov_trace_div8)
SOOTH_UNCOUNTED(__sanitizer_cov_trace_gep)
SOOTH_UNCOUNTED(__sanitizer_cov_trace_pc_guard)
SOOTH_UNCOUNTED(__sanitizer_cov_trace_pc_guard_init)
SOOTH_UNCOUNTED(__sanitizer_cov_trace_pc_indir)
SOOTH_UNCOUNTED(__sanitizer_cov_trace_switch)
SOOTH_UNCOUNTED(__sanitizer_dump_coverage)
SOOTH_UNCOUNTED(__sanitizer_dump_trace_pc_guard_coverage)
