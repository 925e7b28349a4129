// OpenMP: tasks of a group that may be cancelled write one variable in a critical section.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// NEEDS: gcc
// LEVELS: 1
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

int best, done;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp taskgroup
    {
      for (int i = 0; i < 4; ++i) {
#pragma omp task firstprivate(i)
        {
#pragma omp critical
          best = i;
#pragma omp cancel taskgroup if (i == 5)
        }
      }
    }
    done = best;
  }
  printf("%d\n", done >= 0);
}
