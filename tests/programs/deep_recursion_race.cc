// A race at the bottom of 20,000 calls.
// OUTPUT: 20000
#include <stdio.h>

#include "harness.h"

int value, depths[2];

__attribute__((noinline)) static int descend(int levels, int number) {
  if (levels == 0) {
    value = number;  // RACE(a)
    return 0;
  }
  int depth = descend(levels - 1, number) + 1;
  asm volatile("" : "+r"(depth));
  return depth;
}

static void first() {
  depths[0] = descend(20000, 1);
}

static void second() {
  depths[1] = descend(10, 2);
}

int main() {
  run_threads(first, second);
  printf("%d\n", depths[0]);
}
