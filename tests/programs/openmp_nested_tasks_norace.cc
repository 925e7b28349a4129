// OpenMP: a taskwait waits for tasks that wait for theirs.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// NEEDS: gcc
// LEVELS: 1
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

int value, copy;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task
    {
#pragma omp task
      value = 1;
#pragma omp taskwait
    }
#pragma omp taskwait
    copy = value;
  }
  printf("%d\n", copy);
}
