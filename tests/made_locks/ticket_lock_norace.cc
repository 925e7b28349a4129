// A ticket lock. Both threads write inside.
#include <atomic>

#include "locks.h"

std::atomic<unsigned> next{0}, serving{0};
static void take() {
  const unsigned mine = next.fetch_add(1, std::memory_order_relaxed);
  while (serving.load(std::memory_order_acquire) != mine) {
    sched_yield();
  }
}
static void give() { serving.store(serving.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
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
