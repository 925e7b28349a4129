// Memory is used after another thread has freed it.
#include <stdlib.h>

#include "harness.h"

int* block;
int used;

static void user() {
  await(1);
  block[3] = 1;  // RACE(a)
}

static void freer() {
  free(block);  // RACE(a)
  reach(1);
}

int main() {
  block = static_cast<int*>(malloc(1024 * sizeof(int)));
  run_threads(user, freer);
}
