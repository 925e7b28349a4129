// Accesses of different sizes that share one byte.
#include "harness.h"

union Word {
  char bytes[8];
  short halves[4];
  int words[2];
  long whole;
};

Word first, second, third;

static void low() {
  first.words[0] = 1;   // RACE(a)
  second.words[0] = 1;  // RACE(b)
  third.bytes[5] = 1;   // RACE(c)
}

static void high() {
  first.bytes[3] = 2;    // RACE(a)
  second.halves[1] = 2;  // RACE(b)
  third.whole = 2;       // RACE(c)
}

int main() {
  run_threads(low, high);
}
