// OpenMP: nobody waits for the reduction of sections.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// NEEDS: gcc
// LEVELS: 1
#include <omp.h>
#include <stdio.h>

int sum, seen;

int main() {
#pragma omp parallel num_threads(2)
  {
#pragma omp sections reduction(+ : sum) nowait  // RACE(a)
    {
#pragma omp section
      sum += 3;
#pragma omp section
      sum += 4;
    }
    if (omp_get_thread_num() == 0) seen = sum;  // RACE(a)
  }
  printf("%d\n", sum);
}
