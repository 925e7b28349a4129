// Two bit-fields of one memory location: a write of one rewrites the other.
#include "harness.h"

struct Flags {
  unsigned first : 3;
  unsigned second : 5;
} flags;

static void set_first() {
  flags.first = 5;  // RACE(a)
}

static void set_second() {
  flags.second = 9;  // RACE(a)
}

int main() {
  run_threads(set_first, set_second);
}
