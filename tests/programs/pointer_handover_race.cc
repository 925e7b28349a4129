// A pointer is published with a relaxed store: what it points to is not.
#include "harness.h"

int object;
int* published;

static void writer() {
  object = 1;  // RACE(a)
  __atomic_store_n(&published, &object, __ATOMIC_RELAXED);
}

static void reader() {
  int* seen;
  while ((seen = __atomic_load_n(&published, __ATOMIC_ACQUIRE)) == nullptr) sched_yield();
  *seen = 2;  // RACE(a)
}

int main() { run_threads(writer, reader); }
