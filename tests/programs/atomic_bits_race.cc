// Or, and, exclusive or: without release nothing goes with them.
#include "harness.h"

constexpr int kOrder = __ATOMIC_RELAXED;

int bits = 4;
Apart data[3];

static void writer() {
  data[0].value = 1;  // RACE(a)
  __atomic_fetch_or(&bits, 1, kOrder);
  data[1].value = 1;  // RACE(b)
  __atomic_fetch_and(&bits, ~4, kOrder);
  data[2].value = 1;  // RACE(c)
  __atomic_fetch_xor(&bits, 2, kOrder);
}

static void reader() {
  while ((__atomic_load_n(&bits, __ATOMIC_ACQUIRE) & 1) == 0) sched_yield();
  data[0].value = 2;  // RACE(a)
  while ((__atomic_load_n(&bits, __ATOMIC_ACQUIRE) & 4) != 0) sched_yield();
  data[1].value = 2;  // RACE(b)
  while ((__atomic_load_n(&bits, __ATOMIC_ACQUIRE) & 2) == 0) sched_yield();
  data[2].value = 2;  // RACE(c)
}

int main() { run_threads(writer, reader); }
