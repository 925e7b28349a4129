// A ring with one producer and one consumer. The producer changes an element that it has handed over already. In a serial recording the
// consumer comes when the next one has been handed over, too, and that orders the two.
// STEER
#include <atomic>

#include "locks.h"

constexpr unsigned kSize = 4;
std::atomic<unsigned> head{0}, tail{0};
int slots[kSize], sum;

static void* first(void*) {
  slots[0] = 1;
  head.store(1, std::memory_order_release);
  slots[0] = 2;  // RACE
  slots[1] = 1;
  head.store(2, std::memory_order_release);
  return nullptr;
}

static void* second(void*) {
  for (unsigned i = 0; i < 2; ++i) {
    while (head.load(std::memory_order_acquire) == i) {
      sched_yield();
    }
    sum += slots[i % kSize];  // RACE
    tail.store(i + 1, std::memory_order_release);
  }
  return nullptr;
}

int main() { run_threads(first, second); }
