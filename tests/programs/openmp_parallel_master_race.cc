// OpenMP: the master does not wait for its task.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// NEEDS: gcc
// LEVELS: 1
#include <omp.h>
#include <stdio.h>

int value, copy[2];

int main() {
#pragma omp parallel num_threads(2)
  {
#pragma omp master
    {
#pragma omp task
      value = 1;  // RACE(a)
      copy[0] = value;  // RACE(a)
    }
  }
  printf("%d\n", copy[0] >= 0);
}
