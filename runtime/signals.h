// Handlers of the program run between hooks, never inside one.
//
// A signal that arrives while the thread executes this library (the program counter is in our text, or Thread::busy is
// set) waits: its handler runs at the end of the hook. Synchronous signals (SIGSEGV and its like) cannot wait and run
// at once.
#pragma once

#include "runtime/intercept.h"
#include "runtime/thread.h"
#include "trace/unsafe_calls.h"

namespace sooth::rt {

// Runs what waits. Called by attend() and by wrappers of functions that block.
void deliver_pending_signals(Thread* t);

// The program has a handler for a signal that somebody sends on purpose: a timer, a child that ends, another thread or
// process. Not those for faults, nor for what a person or the end of a session sends.
bool a_handler_may_run();

// A signal of this number was taken, without a handler: whoever sent it comes first.
void signal_received(Thread* t, uptr pc, int number);

// A handler must not call this function, by its number in unsafe_calls.h: it may have interrupted it.
void report_unsafe_call(Thread* t, uptr pc, u64 call);
SOOTH_INLINE void unsafe_in_handler(Thread* t, uptr pc, u64 call) {
  if (SOOTH_UNLIKELY(t->handlers != 0)) report_unsafe_call(t, pc, call);
}

// The same for functions that call others of them, which are not told of as well while this lives.
template <u64 kCall>
class UnsafeCall {
 public:
  explicit UnsafeCall(uptr pc) : t_(current()) {
    if (SOOTH_LIKELY(t_ == nullptr || t_->handlers == 0 || t_->in_unsafe_call)) {
      t_ = nullptr;
    } else {
      report_unsafe_call(t_, pc, kCall);
      t_->in_unsafe_call = true;
    }
  }
  ~UnsafeCall() {
    if (t_ != nullptr) t_->in_unsafe_call = false;
  }
  UnsafeCall(const UnsafeCall&) = delete;
  UnsafeCall& operator=(const UnsafeCall&) = delete;

 private:
  Thread* t_;
};
template <>
class UnsafeCall<0> {
 public:
  explicit UnsafeCall(uptr) {}
};
// At the begin of a wrapper.
#define SOOTH_UNSAFE(name) \
  [[maybe_unused]] const ::sooth::rt::UnsafeCall<::sooth::unsafe_call(#name)> unsafe_call_(SOOTH_CALLER)

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
