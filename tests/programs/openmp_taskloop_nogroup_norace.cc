// OpenMP: a taskloop with nogroup, and taskwait.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 39
#include <omp.h>
#include <stdio.h>

int total, numbers[40];

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp taskloop num_tasks(4) nogroup
    for (int i = 0; i < 40; ++i) numbers[i] = i;
#pragma omp taskwait
    total = numbers[39];
  }
  printf("%d\n", total);
}
