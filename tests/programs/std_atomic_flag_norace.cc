// A lock of an atomic flag.
#include <atomic>

#include "harness.h"

std::atomic_flag flag = ATOMIC_FLAG_INIT;
int value;

static void work() {
  while (flag.test_and_set(std::memory_order_acquire)) sched_yield();
  ++value;
  flag.clear(std::memory_order_release);
}

int main() { run_threads(work, work); }
