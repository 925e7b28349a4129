// A static local is initialised once, by whoever comes first, and both threads read it.
#include "harness.h"

int seed = 5, sums[2];

struct Table {
  int entry;
  Table() : entry(seed) {}
};

static Table& table() {
  static Table instance;
  return instance;
}

static void first() {
  sums[0] = table().entry;
}

static void second() {
  sums[1] = table().entry;
}

int main() {
  run_threads(first, second);
}
