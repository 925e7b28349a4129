// OpenMP: the parent waits for its task.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

int total, part;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task
    part = 1;
#pragma omp taskwait
    total = part;
  }
  printf("%d\n", total);
}
