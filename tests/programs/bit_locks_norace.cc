// Two locks in one word, a bit each.
#include "harness.h"

unsigned word;
int ones, twos;

static void lock(unsigned bit) {
  while ((__atomic_fetch_or(&word, bit, __ATOMIC_ACQUIRE) & bit) != 0) sched_yield();
}

static void unlock(unsigned bit) { __atomic_fetch_and(&word, ~bit, __ATOMIC_RELEASE); }

static void work() {
  for (int i = 0; i < 3; ++i) {
    lock(1);
    ++ones;
    unlock(1);
    lock(2);
    ++twos;
    unlock(2);
  }
}

int main() { run_threads(work, work); }
