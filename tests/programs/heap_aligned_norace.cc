// posix_memalign, aligned_alloc and memalign: freed by the thread that wrote.
// OUTPUT: aligned
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness.h"

char* blocks[3];

static void writer() {
  blocks[0][1] = 1;
  blocks[1][1] = 1;
  blocks[2][1] = 1;
  free(blocks[0]);
  free(blocks[1]);
  free(blocks[2]);
  reach(1);
}

int main() {
  void* address = nullptr;
  if (posix_memalign(&address, 256, 100) != 0) {
    return 1;
  }
  blocks[0] = static_cast<char*>(address);
  blocks[1] = static_cast<char*>(aligned_alloc(256, 256));
  blocks[2] = static_cast<char*>(memalign(256, 100));
  uintptr_t all = reinterpret_cast<uintptr_t>(blocks[0]) | reinterpret_cast<uintptr_t>(blocks[1]) |
                  reinterpret_cast<uintptr_t>(blocks[2]);
  puts(all % 256 == 0 ? "aligned" : "not aligned");
  pthread_t thread = start(writer);
  await(1);
  join(thread);
}
