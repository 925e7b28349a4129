// Whoever finds nobody at work does the work of all who come meanwhile, but nothing orders one after the other.
// LEVELS: 0
#include "harness.h"

int pending, served;

static void work() {
  for (int i = 0; i < 3; ++i) {
    if (__atomic_fetch_add(&pending, 1, __ATOMIC_RELAXED) != 0) continue;
    do {
      ++served;  // RACE(a)
    } while (__atomic_fetch_sub(&pending, 1, __ATOMIC_RELAXED) != 1);
  }
}

int main() { run_threads(work, work); }
