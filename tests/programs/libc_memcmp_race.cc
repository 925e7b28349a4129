// memcmp and memchr read what another thread writes.
// FLAGS: -fno-builtin
#include <string.h>

#include "harness.h"

char left[64], right[64], text[64];
long sink;

static void caller() {
  sink = memcmp(left, right, 32);            // RACE(a)
  sink += memchr(text, 'x', 32) != nullptr;  // RACE(b)
}

static void writer() {
  left[0] = 0;  // RACE(a)
  text[0] = 0;  // RACE(b)
}

int main() {
  run_threads(caller, writer);
}
