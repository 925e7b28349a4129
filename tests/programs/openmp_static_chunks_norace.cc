// OpenMP: chunks of eight iterations: each reads what its own chunk writes.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// NEEDS: gcc
// LEVELS: 1
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

int value[64];

int main() {
#pragma omp parallel for num_threads(2) schedule(static, 8)
  for (int i = 0; i < 63; ++i) value[i] = value[i / 8 * 8] + i;
  printf("%d\n", value[62] > 0);
}
