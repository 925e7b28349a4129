// OpenMP: a histogram of two threads.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// NEEDS: gcc
// LEVELS: 1
#include <omp.h>
#include <stdio.h>

int bins[4];

int main() {
#pragma omp parallel for num_threads(2) schedule(static)
  for (int i = 0; i < 100; ++i) bins[i % 4] += 1;  // RACE(a)
  printf("%d\n", bins[3] > 0);
}
