// What programs say about themselves: sooth/annotate.h, sanitizer/tsan_interface.h, and the Annotate family of older
// tools.
#include "sooth/annotate.h"

#include "runtime/benign.h"
#include "runtime/deep.h"
#include "runtime/fibers.h"
#include "runtime/intercept.h"
#include "runtime/locks.h"
#include "runtime/options.h"
#include "runtime/stream_writer.h"

using namespace sooth;
using namespace sooth::rt;

namespace {

uptr number(const volatile void* p) { return reinterpret_cast<uptr>(p); }

void message(Op op, const volatile void* m, uptr pc) {
  if (Thread* t = current()) write_event(t, pc, Shape::of(op), number(m));
}

void begin_ignoring(u32 Thread::*depth, u32 bit) {
  Thread* t = current();
  if (t == nullptr) return;
  ++(t->*depth);
  t->special |= bit;
}

void end_ignoring(u32 Thread::*depth, u32 bit) {
  Thread* t = current();
  if (t == nullptr || t->*depth == 0) return;
  if (--(t->*depth) == 0) t->special &= ~bit;
}

void begin_ignoring_accesses() {
  begin_ignoring(&Thread::ignore_reads, kIgnoreReads);
  begin_ignoring(&Thread::ignore_writes, kIgnoreWrites);
}

void end_ignoring_accesses() {
  end_ignoring(&Thread::ignore_reads, kIgnoreReads);
  end_ignoring(&Thread::ignore_writes, kIgnoreWrites);
}

// Whoever follows the code of a deep recording needs the atomics, too.
void enter_lock() {
  begin_ignoring_accesses();
  if (!is_deep()) begin_ignoring(&Thread::ignore_sync, kIgnoreSync);
}

void leave_lock() {
  end_ignoring_accesses();
  if (!is_deep()) end_ignoring(&Thread::ignore_sync, kIgnoreSync);
}

void acquired(const volatile void* lock, bool shared, uptr pc, u8 how = 0) {
  Thread* t = current();
  if (t == nullptr) return;
  if (shared && holds_exclusively(t, number(lock)) && options.report_mutex_bugs)
    misuse(t, pc, Misuse::kReadLockBad, number(lock));
  lock_acquired(t, pc, number(lock), shared, how);
}

void releasing(const volatile void* lock, bool shared, uptr pc) {
  Thread* t = current();
  if (t == nullptr) return;
  if (shared && holds_exclusively(t, number(lock)) && options.report_mutex_bugs)
    misuse(t, pc, Misuse::kReadUnlockBad, number(lock));
  lock_releasing(t, pc, number(lock));
}

void block(Op op, const volatile void* memory, std::size_t size, uptr pc) {
  if (Thread* t = current(); t != nullptr && size != 0) write_event(t, pc, Shape::sized(op), number(memory), size);
}

// A block is in the trace as a call of the function that begins it: by that name the analysis knows it.
void atomic_block(Op op, uptr pc) {
  Thread* t = current();
  if (t == nullptr || (t->special & kControlled) != 0) return;
  u32 row = intern_function(reinterpret_cast<uptr>(&sooth_annotate_atomic_begin) + 1);
  if (row != ~0u) write_event(t, pc, Shape::of(op), row);
}

// Flags of __tsan_mutex_*.
constexpr unsigned kLinkerInit = 1 << 0, kNotStatic = 1 << 8;
constexpr unsigned kTryLock = 1 << 4, kTryLockFailed = 1 << 5, kReadLock = 1 << 3;

}  // namespace

// sooth/annotate.h.
#define SOOTH_API SOOTH_EXPORT
SOOTH_API void sooth_annotate_happens_before(const volatile void* m) { message(Op::kHappensBefore, m, SOOTH_CALLER); }
SOOTH_API void sooth_annotate_happens_after(const volatile void* m) { message(Op::kHappensAfter, m, SOOTH_CALLER); }
SOOTH_API void sooth_annotate_lock_acquired(const volatile void* lock, int shared) {
  acquired(lock, shared != 0, SOOTH_CALLER);
}
SOOTH_API void sooth_annotate_lock_released(const volatile void* lock, int shared) {
  releasing(lock, shared != 0, SOOTH_CALLER);
}
SOOTH_API void sooth_annotate_new_memory(const volatile void* memory, size_t size) {
  block(Op::kAlloc, memory, size, SOOTH_CALLER);
}
SOOTH_API void sooth_annotate_free_memory(const volatile void* memory, size_t size) {
  block(Op::kFree, memory, size, SOOTH_CALLER);
}
SOOTH_API void sooth_annotate_ignore_reads_begin() { begin_ignoring(&Thread::ignore_reads, kIgnoreReads); }
SOOTH_API void sooth_annotate_ignore_reads_end() { end_ignoring(&Thread::ignore_reads, kIgnoreReads); }
SOOTH_API void sooth_annotate_ignore_writes_begin() { begin_ignoring(&Thread::ignore_writes, kIgnoreWrites); }
SOOTH_API void sooth_annotate_ignore_writes_end() { end_ignoring(&Thread::ignore_writes, kIgnoreWrites); }
SOOTH_API void sooth_annotate_atomic_begin() { atomic_block(Op::kEnter, SOOTH_CALLER); }
SOOTH_API void sooth_annotate_atomic_end() { atomic_block(Op::kExit, SOOTH_CALLER); }
SOOTH_API void sooth_annotate_name_thread(const char* name) {
  if (Thread* t = current()) write_name(t, ObjectKind::kThread, t->id, name);
}
SOOTH_API void sooth_annotate_name_lock(const volatile void* lock, const char* name) {
  if (Thread* t = current()) write_name(t, ObjectKind::kLock, number(lock), name);
}
SOOTH_API int sooth_annotate_is_recording() { return current() != nullptr; }

// sanitizer/tsan_interface.h.
SOOTH_API void __tsan_acquire(void* m) { message(Op::kHappensAfter, m, SOOTH_CALLER); }
SOOTH_API void __tsan_release(void* m) { message(Op::kHappensBefore, m, SOOTH_CALLER); }
SOOTH_API void __tsan_mutex_create(void* lock, unsigned flags) {
  if (current() != nullptr) lock_announced(number(lock), (flags & kLinkerInit) != 0, (flags & kNotStatic) != 0);
}
SOOTH_API void __tsan_mutex_destroy(void* lock, unsigned flags) {
  Thread* t = current();
  if (t != nullptr && lock_can_die(number(lock), (flags & kLinkerInit) != 0, (flags & kNotStatic) != 0))
    lock_destroyed(t, SOOTH_CALLER, number(lock));
}
// Between pre and post what the lock itself does is not the program's: neither its accesses nor its atomics, which would
// fix the order in which this run took the lock.
SOOTH_API void __tsan_mutex_pre_lock(void*, unsigned) { enter_lock(); }
SOOTH_API void __tsan_mutex_post_lock(void* lock, unsigned flags, int) {
  leave_lock();
  bool shared = (flags & kReadLock) != 0;
  if ((flags & kTryLock) == 0 || (flags & kTryLockFailed) == 0)
    acquired(lock, shared, SOOTH_CALLER, (flags & kTryLock) != 0 ? kTry : 0);
  else if (Thread* t = current())
    lock_missed(t, SOOTH_CALLER, number(lock), shared, kTry);
}
SOOTH_API int __tsan_mutex_pre_unlock(void* lock, unsigned flags) {
  releasing(lock, (flags & kReadLock) != 0, SOOTH_CALLER);
  enter_lock();
  return 0;
}
SOOTH_API void __tsan_mutex_post_unlock(void*, unsigned) { leave_lock(); }
SOOTH_API void __tsan_mutex_pre_signal(void* m, unsigned) {
  message(Op::kNotify, m, SOOTH_CALLER);
  enter_lock();
}
SOOTH_API void __tsan_mutex_post_signal(void*, unsigned) { leave_lock(); }
SOOTH_API void __tsan_mutex_pre_divert(void*, unsigned) { leave_lock(); }
SOOTH_API void __tsan_mutex_post_divert(void*, unsigned) { enter_lock(); }

// Accesses to objects of other languages' libraries, by tag.
SOOTH_API void* __tsan_external_register_tag(const char* name) { return const_cast<char*>(name); }
SOOTH_API void __tsan_external_register_header(void*, const char*) {}
SOOTH_API void __tsan_external_assign_tag(void*, void*) {}
SOOTH_API void __tsan_external_read(void* p, void* pc, void*) {
  if (Thread* t = current()) write_range(t, reinterpret_cast<uptr>(pc) - 1, Op::kRead, number(p), 1);
}
SOOTH_API void __tsan_external_write(void* p, void* pc, void*) {
  if (Thread* t = current()) write_range(t, reinterpret_cast<uptr>(pc) - 1, Op::kWrite, number(p), 1);
}

SOOTH_API void* __tsan_get_current_fiber() {
  Thread* t = current();
  return t == nullptr ? nullptr : current_fiber(t);
}
SOOTH_API void* __tsan_create_fiber(unsigned) {
  Thread* t = current();
  return t == nullptr ? nullptr : create_fiber(t, SOOTH_CALLER);
}
SOOTH_API void __tsan_destroy_fiber(void* fiber) {
  if (Thread* t = current(); t != nullptr && fiber != nullptr)
    destroy_fiber(t, SOOTH_CALLER, static_cast<Fiber*>(fiber));
}
SOOTH_API void __tsan_switch_to_fiber(void* fiber, unsigned flags) {
  if (Thread* t = current(); t != nullptr && fiber != nullptr)
    switch_to_fiber(t, SOOTH_CALLER, static_cast<Fiber*>(fiber), (flags & 1) == 0);
}
SOOTH_API void __tsan_set_fiber_name(void* fiber, const char* name) {
  if (Thread* t = current(); t != nullptr && fiber != nullptr) name_fiber(t, static_cast<Fiber*>(fiber), name);
}

// Questions that a debugger or a program may ask ThreadSanitizer; there are no reports inside the program here.
SOOTH_API void __tsan_flush_memory() {}
SOOTH_API void __tsan_on_report(void*) {}
SOOTH_API void* __tsan_get_current_report() { return nullptr; }
SOOTH_API int __tsan_get_report_data(void*, const char**, int*, int*, int*, int*, int*, int*, int*, void**, u64) {
  return 0;
}

// The Annotate family: every name with the file and line of its use.
#define SOOTH_FILE_LINE char*, int
SOOTH_API void AnnotateHappensBefore(SOOTH_FILE_LINE, uptr m) {
  message(Op::kHappensBefore, reinterpret_cast<void*>(m), SOOTH_CALLER);
}
SOOTH_API void AnnotateHappensAfter(SOOTH_FILE_LINE, uptr m) {
  message(Op::kHappensAfter, reinterpret_cast<void*>(m), SOOTH_CALLER);
}
SOOTH_API void AnnotateCondVarSignal(SOOTH_FILE_LINE, uptr m) {
  message(Op::kHappensBefore, reinterpret_cast<void*>(m), SOOTH_CALLER);
}
SOOTH_API void AnnotateCondVarSignalAll(SOOTH_FILE_LINE, uptr m) {
  message(Op::kHappensBefore, reinterpret_cast<void*>(m), SOOTH_CALLER);
}
SOOTH_API void AnnotateCondVarWait(SOOTH_FILE_LINE, uptr m, uptr) {
  message(Op::kHappensAfter, reinterpret_cast<void*>(m), SOOTH_CALLER);
}
SOOTH_API void AnnotateMutexIsNotPHB(SOOTH_FILE_LINE, uptr) {}
SOOTH_API void AnnotateMutexIsUsedAsCondVar(SOOTH_FILE_LINE, uptr) {}
SOOTH_API void AnnotateRWLockCreate(SOOTH_FILE_LINE, uptr) {}
SOOTH_API void AnnotateRWLockCreateStatic(SOOTH_FILE_LINE, uptr lock) {
  if (current() != nullptr) lock_announced(lock, true, false);
}
SOOTH_API void AnnotateRWLockDestroy(SOOTH_FILE_LINE, uptr lock) {
  Thread* t = current();
  if (t != nullptr && lock_can_die(lock, false, false)) lock_destroyed(t, SOOTH_CALLER, lock);
}
SOOTH_API void AnnotateRWLockAcquired(SOOTH_FILE_LINE, uptr lock, uptr is_write) {
  acquired(reinterpret_cast<void*>(lock), is_write == 0, SOOTH_CALLER);
}
SOOTH_API void AnnotateRWLockReleased(SOOTH_FILE_LINE, uptr lock, uptr is_write) {
  releasing(reinterpret_cast<void*>(lock), is_write == 0, SOOTH_CALLER);
}
SOOTH_API void AnnotateTraceMemory(SOOTH_FILE_LINE, uptr) {}
SOOTH_API void AnnotateFlushState(SOOTH_FILE_LINE) {}
SOOTH_API void AnnotateNewMemory(SOOTH_FILE_LINE, uptr p, uptr size) {
  block(Op::kAlloc, reinterpret_cast<void*>(p), size, SOOTH_CALLER);
}
SOOTH_API void AnnotateNoOp(SOOTH_FILE_LINE, uptr) {}
SOOTH_API void AnnotateEnableRaceDetection(SOOTH_FILE_LINE, int enable) {
  if (enable != 0)
    end_ignoring_accesses();
  else
    begin_ignoring_accesses();
}
SOOTH_API void AnnotateFlushExpectedRaces(SOOTH_FILE_LINE) {}
SOOTH_API void AnnotatePCQCreate(SOOTH_FILE_LINE, uptr) {}
SOOTH_API void AnnotatePCQDestroy(SOOTH_FILE_LINE, uptr) {}
SOOTH_API void AnnotatePCQPut(SOOTH_FILE_LINE, uptr m) {
  message(Op::kHappensBefore, reinterpret_cast<void*>(m), SOOTH_CALLER);
}
SOOTH_API void AnnotatePCQGet(SOOTH_FILE_LINE, uptr m) {
  message(Op::kHappensAfter, reinterpret_cast<void*>(m), SOOTH_CALLER);
}
SOOTH_API void AnnotateExpectRace(SOOTH_FILE_LINE, uptr, char*) {}
// Accesses to memory whose races somebody called benign are left out for good: see benign.h.
SOOTH_API void AnnotateBenignRaceSized(SOOTH_FILE_LINE, uptr p, uptr size, char*) { ignore_memory(p, size); }
SOOTH_API void AnnotateBenignRace(SOOTH_FILE_LINE, uptr p, char*) { ignore_memory(p, 1); }
SOOTH_API void AnnotateIgnoreReadsBegin(SOOTH_FILE_LINE) { begin_ignoring(&Thread::ignore_reads, kIgnoreReads); }
SOOTH_API void AnnotateIgnoreReadsEnd(SOOTH_FILE_LINE) { end_ignoring(&Thread::ignore_reads, kIgnoreReads); }
SOOTH_API void AnnotateIgnoreWritesBegin(SOOTH_FILE_LINE) { begin_ignoring(&Thread::ignore_writes, kIgnoreWrites); }
SOOTH_API void AnnotateIgnoreWritesEnd(SOOTH_FILE_LINE) { end_ignoring(&Thread::ignore_writes, kIgnoreWrites); }
SOOTH_API void AnnotateIgnoreSyncBegin(SOOTH_FILE_LINE) { begin_ignoring(&Thread::ignore_sync, kIgnoreSync); }
SOOTH_API void AnnotateIgnoreSyncEnd(SOOTH_FILE_LINE) { end_ignoring(&Thread::ignore_sync, kIgnoreSync); }
SOOTH_API void AnnotatePublishMemoryRange(SOOTH_FILE_LINE, uptr, uptr) {}
SOOTH_API void AnnotateUnpublishMemoryRange(SOOTH_FILE_LINE, uptr, uptr) {}
SOOTH_API void AnnotateThreadName(SOOTH_FILE_LINE, char* name) {
  if (Thread* t = current()) write_name(t, ObjectKind::kThread, t->id, name);
}
SOOTH_API void WTFAnnotateHappensBefore(SOOTH_FILE_LINE, uptr m) {
  message(Op::kHappensBefore, reinterpret_cast<void*>(m), SOOTH_CALLER);
}
SOOTH_API void WTFAnnotateHappensAfter(SOOTH_FILE_LINE, uptr m) {
  message(Op::kHappensAfter, reinterpret_cast<void*>(m), SOOTH_CALLER);
}
SOOTH_API void WTFAnnotateBenignRaceSized(SOOTH_FILE_LINE, uptr p, uptr size, char*) { ignore_memory(p, size); }
SOOTH_API int RunningOnValgrind() { return 0; }
SOOTH_API double ValgrindSlowdown() { return 10; }
