// A thread hands out the address of a local variable; two threads write it.
// TSAN: some, it remembers few accesses to a word
#include "harness.h"

int* shared;
int total;

static void owner() {
  int local = 0;
  __atomic_store_n(&shared, &local, __ATOMIC_RELEASE);
  local = 1;  // RACE(a)
  await(1);
  total = local;  // RACE(b)
}

static void visitor() {
  int* address;
  while ((address = __atomic_load_n(&shared, __ATOMIC_ACQUIRE)) == nullptr) {
    sched_yield();
  }
  *address = 2;  // RACE(a) RACE(b)
  reach(1);
}

int main() {
  run_threads(owner, visitor);
}
