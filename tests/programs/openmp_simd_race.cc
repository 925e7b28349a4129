// OpenMP: iterations of a vectorised loop of two threads write the last element of all.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int value[101];

int main() {
#pragma omp parallel for simd num_threads(2) schedule(static)
  for (int i = 0; i < 100; ++i) value[i < 50 ? 0 : i / 99] = 1;  // RACE(a)
  printf("%d\n", value[0]);
}
