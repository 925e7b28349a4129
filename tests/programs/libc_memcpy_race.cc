// memcpy, memmove and memset touch every byte of their ranges, in the library.
// FLAGS: -fno-builtin
#include <string.h>

#include "harness.h"

char source[64], copied[64], moved[64], cleared[64];

static void caller() {
  memcpy(copied, source, 40);     // RACE(a) RACE(b)
  memmove(moved + 4, moved, 40);  // RACE(c) RACE(d)
  memset(cleared, 1, 40);         // RACE(e)
}

static void writer() {
  source[39] = 1;  // RACE(a)
  copied[39] = 1;  // RACE(b)
  moved[0] = 1;    // RACE(c)
  moved[43] = 1;   // RACE(d)
  cleared[0] = 1;  // RACE(e)
}

int main() {
  run_threads(caller, writer);
}
