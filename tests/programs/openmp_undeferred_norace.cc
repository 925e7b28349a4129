// OpenMP: tasks that are parts of the one that makes them.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 5
#include <omp.h>
#include <stdio.h>

int total;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task if (0)
    total = 1;
    total += 1;
#pragma omp task final(1)
    {
#pragma omp task
      total += 1;
      total += 1;
    }
#pragma omp taskwait
    total += 1;
  }
  printf("%d\n", total);
}
