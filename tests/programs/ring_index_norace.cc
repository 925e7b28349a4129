// A ring for one writer and one reader, with an index of each.
#include <atomic>

#include "harness.h"

int ring[2], sum;
std::atomic<unsigned> written{0}, taken{0};

static void writer() {
  for (unsigned i = 0; i < 6; ++i) {
    while (i - taken.load(std::memory_order_acquire) == 2) sched_yield();
    ring[i % 2] = 1;
    written.store(i + 1, std::memory_order_release);
  }
}
static void reader() {
  for (unsigned i = 0; i < 6; ++i) {
    while (written.load(std::memory_order_acquire) == i) sched_yield();
    sum += ring[i % 2];
    taken.store(i + 1, std::memory_order_release);
  }
}

int main() {
  run_threads(writer, reader);
  return sum == 6 ? 0 : 1;
}
