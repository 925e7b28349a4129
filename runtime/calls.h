// Calls of code that is left out (--exclude): the events call begin and call end where a thread goes into it and comes
// out again, and what it touches in between. Code that is modelled otherwise (libgomp) makes no calls.
//
// A call is seen by the hooks of the outermost function that is left out; it is over when that function's frame is
// gone. Code without such hooks (it is not instrumented, but calls something that we interpose) is seen when it does
// something: the call begins there and is over at the thread's next event from elsewhere.
#pragma once

#include "runtime/recorder.h"
#include "runtime/thread.h"

namespace sooth::rt::calls {

// What is said about the memory that a call may touch. SOOTH_REACH.
enum class Reach : u32 {
  kNone,        // nothing, and there are no calls: the user vouches that they order nothing
  kEverything,  // it may be any
  kTouched,     // what the hooks see it touch; the tools make whole blocks and variables of it
};

// From SOOTH_REACH; before the modules are. Sets recorder.watches_calls.
void choose_reach();
// Makes the file `reaches`, if touched memory is wanted. Also in the child of a fork.
bool start();

SOOTH_INLINE bool is_inside(const Thread* t) { return t->call_frame != nullptr || (t->special & kInCall) != 0; }

// The frame on top was just pushed for a function with `pc` in it. Only with recorder.watches_calls, as the others.
__attribute__((noinline)) void entered(Thread* t, uptr pc);
// Frames were taken off.
__attribute__((noinline)) void left(Thread* t);
// Something happens at `pc`, which is left out. `size` 0: it is no access.
void left_out(Thread* t, uptr pc, uptr address, u64 size);
// Something happens at `pc` while kInCall is set.
void happened(Thread* t, uptr pc);

// The thread is about to end, or a fiber to be left: what is open is closed, or what it touches is not known any more.
void thread_ends(Thread* t);
void fiber_left(Thread* t);
// The child of a fork is where its parent was.
void resume_after_fork(Thread* t);

}  // namespace sooth::rt::calls
