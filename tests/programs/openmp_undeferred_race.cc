// OpenMP: a task that may wait, behind one that may not.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int total;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task if (0)
    total = 1;
#pragma omp task
    total += 1;  // RACE(a)
    total += 1;  // RACE(a)
  }
  printf("%d\n", total >= 0);
}
