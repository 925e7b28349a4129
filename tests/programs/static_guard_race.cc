// A static local is initialised once, but what is written to it later is not protected.
#include "harness.h"

int seed = 5;

struct Table {
  int entry;
  Table() : entry(seed) {}
};

static Table& table() {
  static Table instance;
  return instance;
}

static void first() {
  table().entry = 6;  // RACE(a)
}

static void second() {
  table().entry = 7;  // RACE(a)
}

int main() {
  run_threads(first, second);
  return table().entry >= 6 ? 0 : 1;  // or compilers leave out a variable that nobody reads
}
