// pthread_once: whoever made the initialisation, both threads may read it.
#include "harness.h"

pthread_once_t once = PTHREAD_ONCE_INIT;
int table, sums[2];

static void initialise() {
  table = 1;
}

static void first() {
  pthread_once(&once, initialise);
  sums[0] = table;
}

static void second() {
  pthread_once(&once, initialise);
  sums[1] = table;
}

int main() {
  run_threads(first, second);
}
