// A lock for readers and writers in one word: readers count, a writer is -1.
#include "harness.h"

int word, value, sums[2];

static int read(int& sum) {
  for (;;) {
    int readers = __atomic_load_n(&word, __ATOMIC_RELAXED);
    if (readers >= 0 &&
        __atomic_compare_exchange_n(&word, &readers, readers + 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
      break;
    }
    sched_yield();
  }
  sum += value;
  return __atomic_fetch_sub(&word, 1, __ATOMIC_RELEASE);
}

static void write() {
  for (int nobody = 0; !__atomic_compare_exchange_n(&word, &nobody, -1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
       nobody = 0) {
    sched_yield();
  }
  value = 1;
  __atomic_store_n(&word, 0, __ATOMIC_RELEASE);
}

static void first() {
  read(sums[0]);
  write();
}

static void second() {
  read(sums[1]);
  read(sums[1]);
}

int main() { run_threads(first, second); }
