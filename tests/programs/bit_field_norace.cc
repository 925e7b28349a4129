// Two bit-fields with a zero-width one between them are two memory locations.
#include "harness.h"

struct Flags {
  unsigned first : 3;
  unsigned : 0;
  unsigned second : 5;
} flags;

static void set_first() {
  flags.first = 5;
}

static void set_second() {
  flags.second = 9;
}

int main() {
  run_threads(set_first, set_second);
}
