// OpenMP: ... the outer one for both.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

int value, copy;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp taskgroup
    {
#pragma omp task
      value = 1;
#pragma omp taskgroup
      {
#pragma omp task
        copy = 0;
      }
    }
    copy = value;
  }
  printf("%d\n", copy);
}
