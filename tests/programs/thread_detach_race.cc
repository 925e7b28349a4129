// Nobody joins a detached thread: its last write is not ordered with what comes later.
#include "harness.h"

int value, finished;

static void child() {
  value = 1;  // RACE(a)
  __atomic_store_n(&finished, 1, __ATOMIC_RELAXED);
}

int main() {
  pthread_detach(start(child));
  while (__atomic_load_n(&finished, __ATOMIC_ACQUIRE) == 0) {
    sched_yield();
  }
  value = 2;  // RACE(a)
}
