// OpenMP: a loop adds to a shared variable without a reduction.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int total;

int main() {
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < 10; ++i) *(volatile int*)&total += i;  // RACE(a)
  printf("%d\n", total > 0);
}
