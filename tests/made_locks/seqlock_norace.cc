// A sequence lock whose data are relaxed atomics.
#include <atomic>

#include "locks.h"

std::atomic<unsigned> sequence{0};
std::atomic<int> data[2];
int seen[2];

static void* first(void*) {
  for (unsigned i = 0; i < 4; i += 2) {
    sequence.store(i + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    data[0].store(1, std::memory_order_relaxed);
    data[1].store(1, std::memory_order_relaxed);
    sequence.store(i + 2, std::memory_order_release);
  }
  return nullptr;
}

static void* second(void*) {
  unsigned begin;
  do {
    begin = sequence.load(std::memory_order_acquire);
    seen[0] = data[0].load(std::memory_order_relaxed);
    seen[1] = data[1].load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
  } while (begin % 2 != 0 || sequence.load(std::memory_order_relaxed) != begin);
  return nullptr;
}

int main() { run_threads(first, second); }
