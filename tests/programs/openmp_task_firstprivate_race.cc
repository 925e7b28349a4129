// OpenMP: a task uses a variable of its maker, who goes on.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int total;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    int value = 1;
#pragma omp task shared(value)
    total += value;  // RACE(a)
    *(volatile int*)&value = 2;  // RACE(a)
#pragma omp taskwait
  }
  printf("%d\n", total > 0);
}
