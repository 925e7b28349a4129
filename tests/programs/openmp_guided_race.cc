// OpenMP: two iterations of a guided loop that different threads run: the second waits for the first.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// LEVELS: 1
#include <omp.h>
#include <stdio.h>

#include "harness.h"

int value[400];

int main() {
#pragma omp parallel for num_threads(2) schedule(guided, 1)
  for (int i = 0; i < 400; ++i) {
    if (i == 399) await(1);
    value[i] = value[i == 399 ? 0 : i] + 1;  // RACE(a)
    if (i == 0) reach(1), await(2);
    if (i == 399) reach(2);
  }
  printf("%d\n", value[399] > 0);
}
