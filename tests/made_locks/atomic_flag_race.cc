// A std::atomic_flag. The first thread writes in front of its critical section, the second behind its own.
// LOCK
#include <atomic>

#include "locks.h"

std::atomic_flag flag = ATOMIC_FLAG_INIT;
static void take() {
  while (flag.test_and_set(std::memory_order_acquire)) {
    sched_yield();
  }
}
static void give() { flag.clear(std::memory_order_release); }
int shared, a, b;

static void* first(void*) {
  shared = 1;  // RACE
  take();
  a = 1;
  give();
  return nullptr;
}

static void* second(void*) {
  take();
  b = 1;
  give();
  shared = 2;  // RACE
  return nullptr;
}

int main() { run_threads(first, second); }
