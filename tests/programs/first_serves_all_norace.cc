// Whoever finds nobody at work does the work of all who come meanwhile.
#include "harness.h"

int pending, served;

static void work() {
  for (int i = 0; i < 3; ++i) {
    if (__atomic_fetch_add(&pending, 1, __ATOMIC_ACQ_REL) != 0) continue;
    do {
      ++served;
    } while (__atomic_fetch_sub(&pending, 1, __ATOMIC_ACQ_REL) != 1);
  }
}

int main() { run_threads(work, work); }
