// OpenMP: the inner one of two nested loops adds up by a reduction.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// NEEDS: gcc
// LEVELS: 1
// OUTPUT: 28
#include <omp.h>
#include <stdio.h>

int row[4];

int main() {
  omp_set_max_active_levels(2);
#pragma omp parallel for num_threads(2) schedule(static)
  for (int i = 0; i < 4; ++i) {
#pragma omp parallel for num_threads(2) schedule(static) reduction(+ : row[i])
    for (int j = 0; j < 8; ++j) row[i] += j;
  }
  printf("%d\n", row[3] );
}
