// OpenMP: two loops in one: an element of the next row is another thread's.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int value[4][8];

int main() {
#pragma omp parallel for collapse(2) num_threads(2) schedule(static)
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 8; ++j)
      value[i][j] = value[(i + 2) % 4][j] + 1;  // RACE(a)
  printf("%d\n", value[0][0] >= 0);
}
