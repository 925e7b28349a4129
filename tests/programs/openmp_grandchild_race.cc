// OpenMP: taskwait waits for tasks, not for the tasks that these make.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int total, part;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task
    {
#pragma omp task
      part = 1;  // RACE(a)
    }
#pragma omp taskwait
    total = part;  // RACE(a)
  }
  printf("%d\n", total >= 0);
}
