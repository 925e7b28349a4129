// How the process ends, when that is not by exit(): which thread a fault or an abort() hits, and who waits for what in a
// deadlock, with the stacks. A recording has it in its file `end` (trace/recording/end_file.h), a controlled run in its
// log.
#pragma once

#include "runtime/thread.h"
#include "schedule/protocol.h"

struct sigaction;

namespace sooth::rt::run_end {

// Once: signals that mean a crash are noted before they end the process as they would without us.
void watch_crashes();
// The action is ours, and the program has none.
bool is_watching(const struct sigaction& action);
// Code of the C++ run time says abort() in the name of somebody else.
bool is_cpp_runtime(uptr pc);

void note_assertion(const char* text, const char* file, unsigned line, const char* function);
// A deadlock is noted: first this, then each thread.
void note_deadlock(u32 first);
void note_blocked(const Thread* t, u32 id, sooth::control::BlockedOn on, u32 holder, uptr object);
// A thread that waits for nothing but the turn, or runs: the functions that it is in.
void note_running(const Thread* t, u32 id);

}  // namespace sooth::rt::run_end
