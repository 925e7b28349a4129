// Programs that run under our tool of Valgrind: valgrind/engine.h.
#pragma once

#include "runtime/thread.h"

namespace sooth::rt::engine {

// Tells the tool where everything is. False: the process does not run under it.
bool start();
// The stack pointer is `sp` now: functions that were called from below have been left. No libc, no thread-local variables.
void left(Thread* t, uptr sp);

// An event of a wrapper that was called at `pc`: that call is not one of the program's functions.
SOOTH_INLINE void drop_call(Thread* t, uptr pc) {
  if (t->top > t->frames && t->top[-1].call == pc) left(t, t->top[-1].stack + 1);
}

}  // namespace sooth::rt::engine
