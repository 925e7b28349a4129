// A flag instead of pthread_once: the initialisation is read by a thread that did not make it.
#include "harness.h"

pthread_once_t once = PTHREAD_ONCE_INIT;
int table, sums[2];

static void initialise() {
  table = 1;  // RACE(a)
}

static void first() {
  initialise();
  reach(1);
  sums[0] = table;
}

static void second() {
  await(1);
  sums[1] = table;  // RACE(a)
}

int main() {
  run_threads(first, second);
}
