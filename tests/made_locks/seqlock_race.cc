// A sequence lock whose data are no atomics. In a serial recording the reader comes when the writer is done, and the sequence orders the two.
// STEER
#include <atomic>

#include "locks.h"

std::atomic<unsigned> sequence{0};
int data;
int seen;

static void* first(void*) {
  sequence.store(1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  data = 1;  // RACE
  sequence.store(2, std::memory_order_release);
  return nullptr;
}

static void* second(void*) {
  unsigned begin;
  do {
    begin = sequence.load(std::memory_order_acquire);
    seen = data;  // RACE
    std::atomic_thread_fence(std::memory_order_acquire);
  } while (begin % 2 != 0 || sequence.load(std::memory_order_relaxed) != begin);
  return nullptr;
}

int main() { run_threads(first, second); }
