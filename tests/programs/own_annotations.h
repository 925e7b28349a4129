// sooth/annotate.h, which `sooth c++` finds by itself and a plain compiler here, and a lock that only annotations make known.
#pragma once

#if __has_include(<sooth/annotate.h>)
#include <sooth/annotate.h>
#else
#include "../../include/sooth/annotate.h"
#endif

#include "harness.h"

struct HandMadeLock {
  int taken = 0;

  void acquire() {
    while (__atomic_exchange_n(&taken, 1, __ATOMIC_RELAXED) != 0) {
      sched_yield();
    }
    SOOTH_LOCK_ACQUIRED(this);
  }
  void release() {
    SOOTH_LOCK_RELEASED(this);
    __atomic_store_n(&taken, 0, __ATOMIC_RELAXED);
  }
};

inline HandMadeLock lock;
