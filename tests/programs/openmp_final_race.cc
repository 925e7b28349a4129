// OpenMP: tasks beside each other.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int total;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp task final(total != 0)
  {
#pragma omp task
    total = 1;  // RACE(a)
    total = 2;  // RACE(a)
  }
  printf("%d\n", total > 0);
}
