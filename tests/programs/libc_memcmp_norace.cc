// memcmp and memchr beside what another thread writes.
// FLAGS: -fno-builtin
#include <string.h>

#include "harness.h"

char left[64], right[64], text[64];
long sink;

static void caller() {
  sink = memcmp(left, right, 32);
  sink += memchr(text, 'x', 32) != nullptr;
}

static void writer() {
  left[32] = 1;
  text[32] = 1;
}

int main() {
  run_threads(caller, writer);
}
