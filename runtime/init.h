// Birth and death of the library in a process.
#pragma once

#include "runtime/thread.h"

namespace sooth::rt {

// Once, as early as possible: from __tsan_init, which instrumented modules call from their constructors.
void initialize();
// Whether this is a program without hooks that is to be recorded all the same; sets recorder.locks_only and under_engine. Before
// the program's own code runs.
bool is_plain_program();
// In the child of a fork: another recording, one thread. `t` is the thread that forked.
void after_fork_in_child(Thread* t);
// The process ends in an orderly way: other threads may go first, leaked threads are reported if wanted, the recording
// is marked as ended.
void before_exit(Thread* t, bool reports_leaks = true);
// Its part in hooks_atomic.cc: threads that are gone may have held locks of atomic operations.
void restart_atomics_after_fork();
void restart_semaphores_after_fork();
// Forked children get a recording of their own from here on.
void watch_forks();
// Takes a thread-specific key while there is one.
void watch_thread_ends();

}  // namespace sooth::rt
