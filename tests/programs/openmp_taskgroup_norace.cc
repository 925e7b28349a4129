// OpenMP: ... but for those made in it, also in a group inside.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 4
#include <omp.h>
#include <stdio.h>

int total, part, other, third;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp taskgroup
    {
#pragma omp task
      part = 1;
#pragma omp taskgroup
      {
#pragma omp task
        other = 1;
      }
      third = other;
#pragma omp task
      other += 1;
    }
    total = part + other + third;
  }
  printf("%d\n", total);
}
