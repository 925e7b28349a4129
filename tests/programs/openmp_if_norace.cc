// OpenMP: ... and of one, because of its if clause.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

int total;

int main() {
#pragma omp parallel num_threads(2) if (total != 0)
  {
    *(volatile int*)&total = 1 + omp_get_thread_num();
  }
  printf("%d\n", total);
}
