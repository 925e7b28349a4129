// A detached thread says with a release store that it is done.
#include "harness.h"

int value, finished;

static void child() {
  value = 1;
  __atomic_store_n(&finished, 1, __ATOMIC_RELEASE);
}

int main() {
  pthread_detach(start(child));
  while (__atomic_load_n(&finished, __ATOMIC_ACQUIRE) == 0) {
    sched_yield();
  }
  value = 2;
}
