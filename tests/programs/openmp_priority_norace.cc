// OpenMP: ... its dependence does.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

int value, copy;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task priority(1) depend(out : value)
    value = 1;
#pragma omp task priority(9) depend(in : value)
    copy = value;
  }
  printf("%d\n", copy);
}
