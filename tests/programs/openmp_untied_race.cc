// OpenMP: tasks that may change their thread, and wait for nobody.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int total;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task untied
    {
#pragma omp taskyield
      total = 1;  // RACE(a)
    }
#pragma omp task untied
    {
#pragma omp taskyield
      total = 2;  // RACE(a)
    }
  }
  printf("%d\n", total > 0);
}
