// A std::atomic_flag. Both threads write inside.
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
  a = 1;
  take();
  shared = 1;
  give();
  return nullptr;
}

static void* second(void*) {
  take();
  shared = 2;
  give();
  b = 1;
  return nullptr;
}

int main() { run_threads(first, second); }
