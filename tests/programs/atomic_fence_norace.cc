// Relaxed accesses with a release fence before the store and an acquire fence after the load.
// TSAN: skip, it does not know fences
#include "harness.h"

int messages[2], received;
int flags[2];

static void sender() {
  messages[0] = 1;
  __atomic_thread_fence(__ATOMIC_RELEASE);
  __atomic_store_n(&flags[0], 1, __ATOMIC_RELAXED);
  messages[1] = 1;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  __atomic_store_n(&flags[1], 1, __ATOMIC_RELAXED);
}

static void receiver() {
  while (__atomic_load_n(&flags[0], __ATOMIC_RELAXED) == 0) {
    sched_yield();
  }
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  received = messages[0];
  while (__atomic_load_n(&flags[1], __ATOMIC_RELAXED) == 0) {
    sched_yield();
  }
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  received = messages[1];
}

int main() {
  run_threads(sender, receiver);
}
