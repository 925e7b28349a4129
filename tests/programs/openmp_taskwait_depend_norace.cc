// OpenMP: taskwait with a dependence waits for the tasks that it names.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 1
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
    other = 1;
#pragma omp taskwait depend(in : part)
    total = part;
  }
  printf("%d\n", total);
}
