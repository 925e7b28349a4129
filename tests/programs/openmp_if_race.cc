// OpenMP: a region of two threads.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int total;

int main() {
#pragma omp parallel num_threads(2) if (total == 0)
  {
    *(volatile int*)&total = 1 + omp_get_thread_num();  // RACE(a)
  }
  printf("%d\n", total > 0);
}
