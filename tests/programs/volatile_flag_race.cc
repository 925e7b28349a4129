// A volatile flag is no synchronisation.
#include "harness.h"

volatile int ready;
int data;

static void writer() {
  data = 1;  // RACE(a)
  ready = 1;  // RACE(b)
}

static void reader() {
  while (ready == 0) sched_yield();  // RACE(b)
  data = 2;  // RACE(a)
}

int main() { run_threads(writer, reader); }
