// Watches the thread that has the turn. A call of a library that nobody wraps may block in the kernel, and what it
// waits for may be up to a thread that waits for the turn; so the turn is taken away from a holder that sleeps and does
// nothing while others wait.
#pragma once

#include "runtime/thread.h"

namespace sooth::rt::turn {

// What can be seen of the holder from outside. While it is the same, the holder has called no hook.
struct Sample {
  Thread* holder;  // nullptr: nobody has the turn, or whoever has it has not started yet
  u32 system_id;   // the kernel's number of it
  u64 turns;       // how often the turn has changed hands
  const u8* cursor;
  const Frame* top;
  u32 quantum;
  u64 events;        // operations, in a controlled run
  bool others_wait;  // somebody is ready, or would be if nobody had the turn

  bool operator==(const Sample&) const = default;
};

// Provided by turn.cc. sample() with others_wait false has also noted that the monitor goes to sleep on *idle_word().
Sample sample();
const u32* idle_word();
// Takes the turn away if nothing has changed since the sample and the holder sleeps in the kernel.
void take_away(const Sample& seen);

// Nobody has had the turn for long: a schedule may wait in vain for somebody to come back from outside.
void end_vain_wait(const Sample& seen);

// Provided by monitor.cc. The thread is one of the kernel only: libc does not count it, so a program whose last thread
// ends still ends.
void start_monitor();
// By /proc: in an interruptible sleep. Not while it is in the kernel for a page or the disk: then it may be in the
// middle of a hook.
bool sleeps_in_kernel(u32 system_id);
// By /proc: how many threads the process has, ours and those that libc starts for itself too. 0: unknown.
u32 kernel_threads();

}  // namespace sooth::rt::turn
