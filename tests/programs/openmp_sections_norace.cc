// OpenMP: ... each its own.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

int value[2], total;

int main() {
#pragma omp parallel num_threads(2)
  {
#pragma omp sections
    {
#pragma omp section
      value[0] = 1;
#pragma omp section
      value[1] = 1;
    }
    if (omp_get_thread_num() == 0) total = value[0] + value[1];
  }
  printf("%d\n", total == 2);
}
