// A pointer is published with a release store.
#include "harness.h"

int object;
int* published;

static void writer() {
  object = 1;
  __atomic_store_n(&published, &object, __ATOMIC_RELEASE);
}

static void reader() {
  int* seen;
  while ((seen = __atomic_load_n(&published, __ATOMIC_ACQUIRE)) == nullptr) sched_yield();
  *seen = 2;
}

int main() { run_threads(writer, reader); }
