// Two threads count, and none looks at the count: it orders nothing. That nobody looks is known in a deep recording only.
// DEEP
#include <atomic>

#include "locks.h"

std::atomic<int> count{0};
int shared;

static void* first(void*) {
  shared = 1;  // RACE
  count.fetch_add(1, std::memory_order_acq_rel);
  return nullptr;
}

static void* second(void*) {
  count.fetch_add(1, std::memory_order_acq_rel);
  shared = 2;  // RACE
  return nullptr;
}

int main() { run_threads(first, second); }
