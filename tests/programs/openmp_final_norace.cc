// OpenMP: ... and inside of a final task, where they are parts of it.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

int total;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp task final(total == 0)
  {
#pragma omp task
    total = 1;
    total += 1;
  }
  printf("%d\n", total - 1);
}
