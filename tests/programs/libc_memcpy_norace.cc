// memcpy, memmove and memset on ranges that touch but do not overlap.
// FLAGS: -fno-builtin
#include <string.h>

#include "harness.h"

char source[64], copied[64], moved[64], cleared[64];

static void caller() {
  memcpy(copied, source, 40);
  memmove(moved + 4, moved, 40);
  memset(cleared, 1, 40);
}

static void writer() {
  source[40] = 1;
  copied[40] = 1;
  moved[44] = 1;
  cleared[40] = 1;
}

int main() {
  run_threads(caller, writer);
}
