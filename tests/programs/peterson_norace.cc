// Peterson's algorithm, sequentially consistent.
#include "harness.h"

constexpr int kOrder = __ATOMIC_SEQ_CST;

int wants[2], turn, value;

static void work(int self) {
  __atomic_store_n(&wants[self], 1, kOrder);
  __atomic_store_n(&turn, 1 - self, kOrder);
  while (__atomic_load_n(&wants[1 - self], kOrder) == 1 && __atomic_load_n(&turn, kOrder) == 1 - self) sched_yield();
  ++value;
  __atomic_store_n(&wants[self], 0, kOrder);
}

int main() {
  run_threads([] { work(0); }, [] { work(1); });
}
