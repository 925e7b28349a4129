// Two reads at the same time; the write is over when they start.
// OUTPUT: 3
#include <stdio.h>

#include "harness.h"

int value = 1;
int seen[2];

static void first_reader() {
  seen[0] = value;
}

static void second_reader() {
  seen[1] = value;
}

int main() {
  value = 1 + (value == 1);
  seen[0] = seen[1] = 0;
  run_threads(first_reader, second_reader);
  printf("%d\n", seen[0] + seen[1] - 1);
}
