// The lock of an atomic flag is given back with a relaxed store.
#include <atomic>

#include "harness.h"

std::atomic_flag flag = ATOMIC_FLAG_INIT;
int value;

static void work() {
  while (flag.test_and_set(std::memory_order_acquire)) sched_yield();
  ++value;  // RACE(a)
  flag.clear(std::memory_order_relaxed);
}

int main() { run_threads(work, work); }
