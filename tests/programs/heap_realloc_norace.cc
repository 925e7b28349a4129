// realloc of one block, while another thread writes the block next to it.
#include <stdlib.h>

#include "harness.h"

char* blocks[2];

static void writer() {
  blocks[1][5] = 1;
  reach(1);
}

static void grower() {
  await(1);
  free(realloc(blocks[0], 1 << 20));
}

int main() {
  blocks[0] = static_cast<char*>(malloc(32));
  blocks[1] = static_cast<char*>(malloc(32));
  run_threads(writer, grower);
}
