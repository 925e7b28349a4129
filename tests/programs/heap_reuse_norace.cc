// A block is freed and handed out again to another thread: it is not the same variable.
#include <stdlib.h>

#include "harness.h"

static void first() {
  auto* block = static_cast<int*>(malloc(64));
  block[0] = 1;
  free(block);
  block = static_cast<int*>(calloc(4, 16));
  block[0] = 1;
  block = static_cast<int*>(realloc(block, 128));
  block[1] = 1;
  free(block);
  reach_one_more();
}

int main() {
  for (int i = 1; i <= 20; ++i) {
    pthread_detach(start(first));
    await(i);
  }
}
