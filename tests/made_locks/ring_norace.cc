// A ring with one producer and one consumer, and indices that acquire and release.
#include <atomic>

#include "locks.h"

constexpr unsigned kSize = 2;
std::atomic<unsigned> head{0}, tail{0};
int slots[kSize], sum;

static void* first(void*) {
  for (unsigned i = 0; i < 6; ++i) {
    while (i - tail.load(std::memory_order_acquire) == kSize) {
      sched_yield();
    }
    slots[i % kSize] = 1;
    head.store(i + 1, std::memory_order_release);
  }
  return nullptr;
}

static void* second(void*) {
  for (unsigned i = 0; i < 6; ++i) {
    while (head.load(std::memory_order_acquire) == i) {
      sched_yield();
    }
    sum += slots[i % kSize];
    tail.store(i + 1, std::memory_order_release);
  }
  return nullptr;
}

int main() { run_threads(first, second); }
