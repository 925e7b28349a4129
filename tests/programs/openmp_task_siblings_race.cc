// OpenMP: two tasks of one parent write the same variable.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int total;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task
    total = 1;  // RACE(a)
#pragma omp task
    total = 2;  // RACE(a)
  }
  printf("%d\n", total >= 0);
}
