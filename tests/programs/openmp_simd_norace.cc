// OpenMP: ... their own.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

int value[101];

int main() {
#pragma omp parallel for simd num_threads(2) schedule(static)
  for (int i = 0; i < 100; ++i) value[i] = 1;
  printf("%d\n", value[0]);
}
