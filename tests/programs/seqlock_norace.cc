// A sequence lock with atomic data.
#include "harness.h"

unsigned sequence;
int data;
volatile int copy;

static void writer() {
  __atomic_store_n(&sequence, 1u, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  __atomic_store_n(&data, 1, __ATOMIC_RELAXED);
  reach(1);
  await(2);
  __atomic_store_n(&sequence, 2u, __ATOMIC_RELEASE);
}

static void reader() {
  await(1);
  unsigned before, after;
  do {
    before = __atomic_load_n(&sequence, __ATOMIC_ACQUIRE);
    copy = __atomic_load_n(&data, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    after = __atomic_load_n(&sequence, __ATOMIC_RELAXED);
    reach(2);
  } while (before != after || before % 2 != 0);
}

int main() { run_threads(writer, reader); }
