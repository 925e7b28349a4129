// Handlers of the program run between hooks, never inside one.
//
// A signal that arrives while the thread executes this library (the program counter is in our text, or Thread::busy is
// set) waits: its handler runs at the end of the hook. Synchronous signals (SIGSEGV and its like) cannot wait and run
// at once.
#pragma once

#include "runtime/thread.h"

namespace sooth::rt {

// Runs what waits. Called by attend() and by wrappers of functions that block.
void deliver_pending_signals(Thread* t);

// The program has a handler for a signal that somebody sends on purpose: a timer, a child that ends, another thread or
// process. Not those for faults, nor for what a person or the end of a session sends.
bool a_handler_may_run();

// A signal of this number was taken, without a handler: whoever sent it comes first.
void signal_received(Thread* t, uptr pc, int number);

// While it lives, handlers wait: for wrappers that hold a lock of ours or call into libc with something half done.
class Busy {
 public:
  explicit Busy(Thread* t) : t_(t) { ++t_->busy; }
  ~Busy() {
    if (--t_->busy == 0 && SOOTH_UNLIKELY(__atomic_load_n(&t_->pending_signals, __ATOMIC_RELAXED) != 0))
      deliver_pending_signals(t_);
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  Thread* t_;
};

// While it lives, the kernel keeps all signals back. What waited before has run.
class HandlersBlocked {
 public:
  explicit HandlersBlocked(Thread* t);
  ~HandlersBlocked();
  HandlersBlocked(const HandlersBlocked&) = delete;
  HandlersBlocked& operator=(const HandlersBlocked&) = delete;

 private:
  u64 old_ = 0;
};

}  // namespace sooth::rt
