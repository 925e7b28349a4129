// Who takes the last reference away may write.
// DEEP
#include <atomic>

#include "locks.h"

std::atomic<int> count{2};
int shared[2], last;

static void drop() {
  if (count.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    last = shared[0] + shared[1];
    shared[0] = shared[1] = 0;
  }
}

static void* first(void*) {
  shared[0] = 1;
  drop();
  return nullptr;
}

static void* second(void*) {
  shared[1] = 2;
  drop();
  return nullptr;
}

int main() { run_threads(first, second); }
