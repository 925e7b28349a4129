// OpenMP: the ordered part of a loop.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 45
#include <omp.h>
#include <stdio.h>

int total;

int main() {
#pragma omp parallel for ordered num_threads(2) schedule(static, 1)
  for (int i = 0; i < 10; ++i) {
#pragma omp ordered
    total += i;
  }
  printf("%d\n", total);
}
