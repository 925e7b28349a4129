// Around a call that may block outside our view.
#pragma once

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

}  // namespace sooth::rt
