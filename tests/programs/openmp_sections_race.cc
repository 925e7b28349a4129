// OpenMP: two sections write one variable.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

#include "harness.h"

int value[2], total;

int main() {
#pragma omp parallel sections num_threads(2)
  {
#pragma omp section
    {
      await(1);
      total = 1;  // RACE(a)
    }
#pragma omp section
    {
      total = 2;  // RACE(a)
      reach(1);
    }
  }
  printf("%d\n", total >= 0);
}
