// OpenMP: the inner one of two nested loops adds to one element.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// NEEDS: gcc
// LEVELS: 1
#include <omp.h>
#include <stdio.h>

int row[4];

// A function of its own, so that the compiler does not move the sum out of the loop.
__attribute__((noinline)) static void add(int i, int number) {
  row[i] += number;  // RACE(a)
}

int main() {
  omp_set_max_active_levels(2);
#pragma omp parallel for num_threads(2) schedule(static)
  for (int i = 0; i < 4; ++i) {
#pragma omp parallel for num_threads(2) schedule(static)
    for (int j = 0; j < 8; ++j) add(i, j);
  }
  printf("%d\n", row[3] >= 0);
}
