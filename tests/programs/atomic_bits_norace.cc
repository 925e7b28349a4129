// Or, and, exclusive or, with release, hand over what was written.
#include "harness.h"

constexpr int kOrder = __ATOMIC_RELEASE;

int bits = 4;
Apart data[3];

static void writer() {
  data[0].value = 1;
  __atomic_fetch_or(&bits, 1, kOrder);
  data[1].value = 1;
  __atomic_fetch_and(&bits, ~4, kOrder);
  data[2].value = 1;
  __atomic_fetch_xor(&bits, 2, kOrder);
}

static void reader() {
  while ((__atomic_load_n(&bits, __ATOMIC_ACQUIRE) & 1) == 0) sched_yield();
  data[0].value = 2;
  while ((__atomic_load_n(&bits, __ATOMIC_ACQUIRE) & 4) != 0) sched_yield();
  data[1].value = 2;
  while ((__atomic_load_n(&bits, __ATOMIC_ACQUIRE) & 2) == 0) sched_yield();
  data[2].value = 2;
}

int main() { run_threads(writer, reader); }
