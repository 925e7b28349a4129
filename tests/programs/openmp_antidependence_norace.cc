// OpenMP: ... what nobody writes.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

int value[101], copy[101];

int main() {
#pragma omp parallel for num_threads(2) schedule(static)
  for (int i = 0; i < 100; ++i) copy[i] = value[i + 1] + 1;
  printf("%d\n", copy[0]);
}
