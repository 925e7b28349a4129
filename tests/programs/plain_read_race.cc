// A read and a write at the same time.
// OUTPUT: 3
#include <stdio.h>

#include "harness.h"

int value = 1;
int seen[2];

static void first_reader() {
  seen[0] = value;  // RACE(a)
  reach(1);
}

static void second_reader() {
  await(1);
  value = 2;  // RACE(a)
  seen[1] = value;
}

int main() {
  run_threads(first_reader, second_reader);
  printf("%d\n", seen[0] + seen[1]);
}
