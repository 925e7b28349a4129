// Accesses of different sizes to neighbouring bytes of one word.
#include "harness.h"

union Word {
  char bytes[8];
  short halves[4];
  int words[2];
};

Word first, second, third;

static void low() {
  first.words[0] = 1;
  second.words[0] = 1;
  third.bytes[5] = 1;
}

static void high() {
  first.bytes[4] = 2;
  second.halves[2] = 2;
  third.halves[3] = 2;
}

int main() {
  run_threads(low, high);
}
