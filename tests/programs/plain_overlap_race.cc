// Accesses of different sizes that share one byte.
// TSAN: some, it remembers few accesses to a word
#include "harness.h"

union Word {
  char bytes[8];
  short halves[4];
  int words[2];
  long whole;
} word;

static void low() {
  word.words[0] = 1;  // RACE(a) RACE(b)
  word.bytes[5] = 1;  // RACE(c)
}

static void high() {
  word.bytes[3] = 2;   // RACE(a)
  word.halves[1] = 2;  // RACE(b)
  word.halves[2] = 2;  // RACE(c)
}

int main() {
  run_threads(low, high);
}
