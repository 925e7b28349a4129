// A ticket lock.
#include "harness.h"

unsigned next_ticket, serving;
int value;

static void work() {
  unsigned mine = __atomic_fetch_add(&next_ticket, 1u, __ATOMIC_RELAXED);
  while (__atomic_load_n(&serving, __ATOMIC_ACQUIRE) != mine) sched_yield();
  ++value;
  __atomic_store_n(&serving, mine + 1, __ATOMIC_RELEASE);
}

int main() { run_threads(work, work); }
