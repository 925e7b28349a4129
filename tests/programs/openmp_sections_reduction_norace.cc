// OpenMP: a reduction of sections is over at their end.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// NEEDS: gcc
// LEVELS: 1
// OUTPUT: 7
#include <omp.h>
#include <stdio.h>

int sum, seen;

int main() {
#pragma omp parallel num_threads(2)
  {
#pragma omp sections reduction(+ : sum)
    {
#pragma omp section
      sum += 3;
#pragma omp section
      sum += 4;
    }
    if (omp_get_thread_num() == 0) seen = sum;
  }
  printf("%d\n", seen);
}
