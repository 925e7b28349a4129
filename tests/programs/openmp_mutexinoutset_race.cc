// OpenMP: members of an inout set exclude each other; a task without the dependence is beside them.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int total, key;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task depend(mutexinoutset : key)
    total += 1;  // RACE(a)
#pragma omp task
    total += 2;  // RACE(a)
  }
  printf("%d\n", total >= 0);
}
