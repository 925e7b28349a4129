// A spin lock of an exchange and a store. Both threads write inside.
#include <atomic>

#include "locks.h"

std::atomic<int> word{0};
static void take() {
  while (word.exchange(1, std::memory_order_acquire) != 0) {
    sched_yield();
  }
}
static void give() { word.store(0, std::memory_order_release); }
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
