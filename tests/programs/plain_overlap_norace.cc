// Accesses of different sizes to neighbouring bytes of one word.
// TSAN: some, it remembers few accesses to a word
#include "harness.h"

union Word {
  char bytes[8];
  short halves[4];
  int words[2];
  long whole;
} word;

static void low() {
  word.words[0] = 1;
  word.bytes[5] = 1;
}

static void high() {
  word.bytes[4] = 2;
  word.halves[3] = 2;
}

int main() {
  run_threads(low, high);
}
