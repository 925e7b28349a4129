// OpenMP: a group inside of another waits for its own tasks only.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int value, copy;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskgroup
  {
#pragma omp task
    value = 1;  // RACE(a)
#pragma omp taskgroup
    {
#pragma omp task
      copy = 0;
    }
    copy = value;  // RACE(a)
  }
  printf("%d\n", copy >= 0);
}
