// Relaxed accesses with a fence on one side only.
// TSAN: skip, it does not know fences
#include "harness.h"

int messages[2], received;
int flags[2];

static void sender() {
  messages[0] = 1;  // RACE(a)
  __atomic_store_n(&flags[0], 1, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  messages[1] = 1;  // RACE(b)
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  __atomic_store_n(&flags[1], 1, __ATOMIC_RELAXED);
}

static void receiver() {
  while (__atomic_load_n(&flags[0], __ATOMIC_RELAXED) == 0) {
    sched_yield();
  }
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  received = messages[0];  // RACE(a)
  while (__atomic_load_n(&flags[1], __ATOMIC_RELAXED) == 0) {
    sched_yield();
  }
  received = messages[1];  // RACE(b)
}

int main() {
  run_threads(sender, receiver);
}
