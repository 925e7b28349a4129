// OpenMP: ... but for the barrier behind them.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

int value, copy;

int main() {
#pragma omp parallel num_threads(2)
  {
#pragma omp sections nowait
    {
#pragma omp section
      value = 1;
    }
#pragma omp barrier
    if (omp_get_thread_num() == 1) copy = value;
  }
  printf("%d\n", copy);
}
