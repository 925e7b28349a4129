// Fibers: logical threads that an operating system thread switches between.
#pragma once

#include "runtime/thread.h"

namespace sooth::rt {

struct Fiber;

Fiber* current_fiber(Thread* t);
Fiber* create_fiber(Thread* t, uptr pc);
void destroy_fiber(Thread* t, uptr pc, Fiber* fiber);
// `ordered`: what happened so far comes before what the fiber does next, as with ThreadSanitizer's default.
void switch_to_fiber(Thread* t, uptr pc, Fiber* fiber, bool ordered);
void name_fiber(Thread* t, Fiber* fiber, const char* name);

}  // namespace sooth::rt
