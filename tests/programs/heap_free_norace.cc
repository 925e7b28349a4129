// Memory is freed after the other thread has used it.
// FLAGS: -Wno-use-after-free
#include <stdlib.h>

#include "harness.h"

int* block;

static void user() {
  block[3] = 1;
}

int main() {
  block = static_cast<int*>(malloc(16 * sizeof(int)));
  pthread_t thread = start(user);
  join(thread);
  free(block);
}
