// OpenMP: taskwait with a dependence waits for no other task.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int total, part, other;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task depend(out : part)
    part = 1;
#pragma omp task depend(out : other)
    other = 1;  // RACE(a)
#pragma omp taskwait depend(in : part)
    total = part + other;  // RACE(a)
  }
  printf("%d\n", total >= 0);
}
