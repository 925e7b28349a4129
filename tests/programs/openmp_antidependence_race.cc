// OpenMP: an iteration reads what the next thread's first one writes.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int value[101], copy[101];

int main() {
#pragma omp parallel for num_threads(2) schedule(static)
  for (int i = 0; i < 100; ++i)
    value[i] = value[i + 1] + 1;  // RACE(a)
  printf("%d\n", value[0] >= 0);
}
