// A thread writes the thread_local variable of another one through a pointer.
#include "harness.h"

thread_local int own;
int* address;

static void owner() {
  __atomic_store_n(&address, &own, __ATOMIC_RELEASE);
  own = 1;  // RACE(a)
  await(1);
}

static void visitor() {
  int* other;
  while ((other = __atomic_load_n(&address, __ATOMIC_ACQUIRE)) == nullptr) {
    sched_yield();
  }
  *other = 2;  // RACE(a)
  reach(1);
}

int main() {
  run_threads(owner, visitor);
}
