// An atomic flag is.
#include "harness.h"

int ready;
int data;

static void writer() {
  data = 1;
  __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
}

static void reader() {
  while (__atomic_load_n(&ready, __ATOMIC_ACQUIRE) == 0) sched_yield();
  data = 2;
}

int main() { run_threads(writer, reader); }
