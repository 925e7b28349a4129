/* Tell Sooth about synchronisation that it cannot see: hand-written locks, lock-free structures in assembly, memory that
 * another process or device orders. C and C++. Programs that include this header run unchanged without Sooth: every function
 * is weak, and a call costs a test of its address. docs/annotations.md has examples. */
#ifndef SOOTH_ANNOTATE_H
#define SOOTH_ANNOTATE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SOOTH_WEAK __attribute__((weak))
#else
#error "sooth/annotate.h needs GCC or clang"
#endif

/* Everything before sooth_happens_before(m) comes before everything after a later sooth_happens_after(m). `m` is any
 * address that both sides agree on; it is not accessed. */
SOOTH_WEAK void sooth_annotate_happens_before(const volatile void* m);
SOOTH_WEAK void sooth_annotate_happens_after(const volatile void* m);

/* A lock that Sooth does not know. `acquired` right after it was taken, `released` right before it is given back.
 * `shared` is 1 for a reader, else 0. Unlike happens-before, a lock may be taken in another order in another run: races that
 * only the order in which this run took it hides are predicted. */
SOOTH_WEAK void sooth_annotate_lock_acquired(const volatile void* lock, int shared);
SOOTH_WEAK void sooth_annotate_lock_released(const volatile void* lock, int shared);

/* Memory that an allocator of the program hands out again: a new variable from here on; and given back: a write to all of it. */
SOOTH_WEAK void sooth_annotate_new_memory(const volatile void* memory, size_t size);
SOOTH_WEAK void sooth_annotate_free_memory(const volatile void* memory, size_t size);

/* What this thread reads (writes) is not recorded in between. Nests. */
SOOTH_WEAK void sooth_annotate_ignore_reads_begin(void);
SOOTH_WEAK void sooth_annotate_ignore_reads_end(void);
SOOTH_WEAK void sooth_annotate_ignore_writes_begin(void);
SOOTH_WEAK void sooth_annotate_ignore_writes_end(void);

/* What is done between the two is meant to be one step: nothing of other threads that has to do with it may come in between.
 * Nests; `end` in the same thread. */
SOOTH_WEAK void sooth_annotate_atomic_begin(void);
SOOTH_WEAK void sooth_annotate_atomic_end(void);

/* Names for reports. */
SOOTH_WEAK void sooth_annotate_name_thread(const char* name);
SOOTH_WEAK void sooth_annotate_name_lock(const volatile void* lock, const char* name);

/* 1 while the program is being recorded. */
SOOTH_WEAK int sooth_annotate_is_recording(void);

#define SOOTH_ANNOTATE(name, arguments)                         \
  do {                                                          \
    if (sooth_annotate_##name) sooth_annotate_##name arguments; \
  } while (0)

#define SOOTH_HAPPENS_BEFORE(m) SOOTH_ANNOTATE(happens_before, (m))
#define SOOTH_HAPPENS_AFTER(m) SOOTH_ANNOTATE(happens_after, (m))
#define SOOTH_LOCK_ACQUIRED(lock) SOOTH_ANNOTATE(lock_acquired, ((lock), 0))
#define SOOTH_LOCK_RELEASED(lock) SOOTH_ANNOTATE(lock_released, ((lock), 0))
#define SOOTH_READ_LOCK_ACQUIRED(lock) SOOTH_ANNOTATE(lock_acquired, ((lock), 1))
#define SOOTH_READ_LOCK_RELEASED(lock) SOOTH_ANNOTATE(lock_released, ((lock), 1))
#define SOOTH_NEW_MEMORY(memory, size) SOOTH_ANNOTATE(new_memory, ((memory), (size)))
#define SOOTH_FREE_MEMORY(memory, size) SOOTH_ANNOTATE(free_memory, ((memory), (size)))
#define SOOTH_IGNORE_READS_BEGIN() SOOTH_ANNOTATE(ignore_reads_begin, ())
#define SOOTH_IGNORE_READS_END() SOOTH_ANNOTATE(ignore_reads_end, ())
#define SOOTH_IGNORE_WRITES_BEGIN() SOOTH_ANNOTATE(ignore_writes_begin, ())
#define SOOTH_IGNORE_WRITES_END() SOOTH_ANNOTATE(ignore_writes_end, ())
#define SOOTH_ATOMIC_BEGIN() SOOTH_ANNOTATE(atomic_begin, ())
#define SOOTH_ATOMIC_END() SOOTH_ANNOTATE(atomic_end, ())
#define SOOTH_NAME_THREAD(name) SOOTH_ANNOTATE(name_thread, (name))
#define SOOTH_NAME_LOCK(lock, name) SOOTH_ANNOTATE(name_lock, ((lock), (name)))
#define SOOTH_IS_RECORDING() (sooth_annotate_is_recording ? sooth_annotate_is_recording() : 0)

#ifdef __cplusplus
}
#endif

#endif /* SOOTH_ANNOTATE_H */
