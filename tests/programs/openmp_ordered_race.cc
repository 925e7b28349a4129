// OpenMP: what is outside of the ordered part of the loop.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int total;

int main() {
#pragma omp parallel for ordered num_threads(2) schedule(static, 1)
  for (int i = 0; i < 10; ++i) {
    total += i;  // RACE(a)
#pragma omp ordered
    {
    }
  }
  printf("%d\n", total > 0);
}
