// A ring for one writer and one reader publishes its index before the element is there.
#include <atomic>

#include "harness.h"

int ring[4];
std::atomic<unsigned> written{0};
int sum;

static void writer() {
  for (unsigned i = 0; i < 4; ++i) {
    written.store(i + 1, std::memory_order_release);
    ring[i] = 1;  // RACE(a)
  }
}
static void reader() {
  for (unsigned i = 0; i < 4; ++i) {
    while (written.load(std::memory_order_acquire) <= i) sched_yield();
    if (i == 3) sum = ring[3];  // RACE(a)
  }
}

int main() { run_threads(writer, reader); }
