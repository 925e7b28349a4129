// A lock of a compare-exchange and a store. The first thread writes in front of its critical section, the second behind its own.
// LOCK
#include <atomic>

#include "locks.h"

std::atomic<int> word{0};
static void take() {
  for (int free = 0; !word.compare_exchange_weak(free, 1, std::memory_order_acquire, std::memory_order_relaxed);) {
    free = 0;
    sched_yield();
  }
}
static void give() { word.store(0, std::memory_order_release); }
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
