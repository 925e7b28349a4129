// Steps as in harness.h, of which nothing is recorded: no analysis learns that one thread came behind the other, so a
// deadlock that the steps keep from happening is predictable from every run.
#pragma once

#include "harness.h"

// Not atomic: clang records atomic operations everywhere.
inline volatile int quiet_steps_done = 0;

__attribute__((no_sanitize("thread"), noinline)) inline void quiet_reach(int step) {
  quiet_steps_done = step;
}

__attribute__((no_sanitize("thread"), noinline)) inline void quiet_await(int step) {
  while (quiet_steps_done < step) {
    sched_yield();
  }
}
