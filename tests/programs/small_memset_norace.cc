// Small memsets of neighbours in one block.
#include <string.h>

#include "harness.h"

struct alignas(64) Block {
  char bytes[48];
};
Block block;

static void first() { memset(block.bytes, 0, 24); }
static void second() { memset(block.bytes + 24, 1, 24); }

int main() { run_threads(first, second); }
