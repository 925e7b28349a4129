// OpenMP: a taskgroup does not wait for a task that was made before it.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int total, part, other;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task
    part = 1;  // RACE(a)
#pragma omp taskgroup
    {
#pragma omp task
      other = 1;
    }
    total = part + other;  // RACE(a)
  }
  printf("%d\n", total >= 0);
}
