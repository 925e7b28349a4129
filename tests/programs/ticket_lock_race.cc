// A ticket lock that serves the next without a release.
#include "harness.h"

unsigned next_ticket, serving;
int value;

static void work() {
  unsigned mine = __atomic_fetch_add(&next_ticket, 1u, __ATOMIC_RELAXED);
  while (__atomic_load_n(&serving, __ATOMIC_ACQUIRE) != mine) sched_yield();
  ++value;  // RACE(a)
  __atomic_store_n(&serving, mine + 1, __ATOMIC_RELAXED);
}

int main() { run_threads(work, work); }
