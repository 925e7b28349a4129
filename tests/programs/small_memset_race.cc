// A small memset, which compilers write out, meets a write in another thread.
#include <string.h>

#include "harness.h"

struct alignas(64) Block {
  char bytes[24];
};
Block block;

static void clear() {
  memset(block.bytes, 0, sizeof block.bytes);  // RACE(a)
}
static void set() {
  block.bytes[5] = 1;  // RACE(a)
}

int main() { run_threads(clear, set); }
