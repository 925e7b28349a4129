// OpenMP: threads of teams count by atomics.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// LEVELS: 1
// NEEDS: gcc>=12
// NEEDS: clang>=14
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

int total;

int main() {
#pragma omp teams num_teams(2) thread_limit(2)
  {
#pragma omp parallel num_threads(2)
    {
#pragma omp atomic
      total += 1;
    }
  }
  printf("%d\n", total > 0);
}
