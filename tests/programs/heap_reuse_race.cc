// The same block is used by two threads.
#include <stdlib.h>

#include "harness.h"

int* block;

static void first() {
  block[0] = 1;  // RACE(a)
  reach_one_more();
}

int main() {
  block = static_cast<int*>(calloc(1, 64));
  for (int i = 1; i <= 20; ++i) {
    pthread_detach(start(first));
    await(i);
  }
}
