// Steps as in harness.h, of which nothing is recorded: no analysis learns that one thread came behind the other, so a
// deadlock that the steps keep from happening is predictable from every run.
#pragma once

#include "harness.h"

inline int quiet_steps_done = 0;

__attribute__((no_sanitize("thread"), noinline)) inline void quiet_reach(int step) {
  __atomic_store_n(&quiet_steps_done, step, __ATOMIC_RELAXED);
}

__attribute__((no_sanitize("thread"), noinline)) inline void quiet_await(int step) {
  while (__atomic_load_n(&quiet_steps_done, __ATOMIC_RELAXED) < step) {
    sched_yield();
  }
}
