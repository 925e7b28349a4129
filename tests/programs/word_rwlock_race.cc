// A lock for readers and writers in one word, which writers give back without a release.
#include "harness.h"

int word, value, sum;

static int read() {
  for (;;) {
    int readers = __atomic_load_n(&word, __ATOMIC_RELAXED);
    if (readers >= 0 &&
        __atomic_compare_exchange_n(&word, &readers, readers + 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
      break;
    }
    sched_yield();
  }
  sum += value;  // RACE(a)
  return __atomic_fetch_sub(&word, 1, __ATOMIC_RELEASE);
}

static void write() {
  for (int nobody = 0; !__atomic_compare_exchange_n(&word, &nobody, -1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
       nobody = 0) {
    sched_yield();
  }
  value = 1;  // RACE(a)
  __atomic_store_n(&word, 0, __ATOMIC_RELAXED);
}

static void first() {
  write();
  reach(1);
}

static void second() {
  await(1);
  read();
}

int main() { run_threads(first, second); }
