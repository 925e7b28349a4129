// Memory is used before another thread frees it, and a message orders the two.
#include <stdlib.h>

#include "harness.h"

int* block;
int used;

static void user() {
  block[3] = 1;
  __atomic_store_n(&used, 1, __ATOMIC_RELEASE);
}

static void freer() {
  while (__atomic_load_n(&used, __ATOMIC_ACQUIRE) == 0) {
    sched_yield();
  }
  free(block);
}

int main() {
  block = static_cast<int*>(malloc(1024 * sizeof(int)));
  run_threads(user, freer);
}
