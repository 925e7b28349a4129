// OpenMP: two tasks that say they read the same thing run at the same time.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int total, key;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task depend(in : key)
    total += 1;  // RACE(a)
#pragma omp task depend(in : key)
    total += 2;  // RACE(a)
  }
  printf("%d\n", total >= 0);
}
