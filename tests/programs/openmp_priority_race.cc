// OpenMP: the priority of a task orders nothing.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int value, copy;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task priority(9)
    value = 1;  // RACE(a)
#pragma omp task priority(1)
    copy = value;  // RACE(a)
  }
  printf("%d\n", copy >= 0);
}
