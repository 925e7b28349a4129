// A ticket lock. The first thread writes in front of its critical section, the second behind its own. That another ticket would do as well
// is known in a deep recording only.
// DEEP
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
