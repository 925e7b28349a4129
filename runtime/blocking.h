// Around a call that may block outside our view.
#pragma once

#include <errno.h>

#include "runtime/clock.h"
#include "runtime/signals.h"
#include "runtime/turn.h"

namespace sooth::rt {

// In a serial recording others run meanwhile. Handlers that waited run first: the call might wait for what they do.
class Blocking {
 public:
  explicit Blocking(Thread* t, bool blocks = true) : t_(t), blocks_(blocks && turn::taken()) {
    if (SOOTH_UNLIKELY(t->pending_signals != 0)) deliver_pending_signals(t);
    if (blocks_) turn::leave(t);
  }
  ~Blocking() {
    if (blocks_) turn::enter(t_);
  }
  Blocking(const Blocking&) = delete;
  Blocking& operator=(const Blocking&) = delete;

 private:
  Thread* t_;
  bool blocks_;
};

// poll() and its kin: `call` waits for descriptors, in real time, and returns 0 when the limit (nanoseconds; kNever:
// none) is over. Virtual time follows then. Without descriptors (`any` is false) it is nothing but a sleep.
template <typename F>
int wait_for_descriptors(Thread* t, bool any, u64 limit, F call) {
  u64 end = (virtual_clock::is_on() ? turn::tell_time(t) : 0) + limit;
  bool is_virtual = virtual_clock::is_on() && limit < virtual_clock::kNever;
  if (is_virtual && !any) {
    if (turn::sleep(t, end)) return 0;
    errno = EINTR;
    return -1;
  }
  int result;
  {
    Blocking blocking(t, limit != 0);
    result = call();
  }
  if (is_virtual && result == 0) virtual_clock::advance_to(end);
  // Who asks again and again must not keep others from their turn.
  if (limit == 0 && result == 0) turn::yield(t);
  return result;
}

}  // namespace sooth::rt
