// OpenMP: ... its own copy of it.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

int total;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    int value = 1;
#pragma omp task firstprivate(value)
    total += value;
    value = 2;
#pragma omp taskwait
  }
  printf("%d\n", total);
}
