// Memory is freed while another thread uses it.
// FLAGS: -Wno-use-after-free
#include <stdlib.h>

#include "harness.h"

int* block;

static void user() {
  block[3] = 1;  // RACE(a)
  reach(1);
}

int main() {
  block = static_cast<int*>(malloc(16 * sizeof(int)));
  pthread_t thread = start(user);
  await(1);
  free(block);  // RACE(a)
  join(thread);
}
