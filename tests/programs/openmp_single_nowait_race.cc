// OpenMP: nobody waits for a single with nowait.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

#include "harness.h"

int total, table;

int main() {
#pragma omp parallel num_threads(2)
  {
#pragma omp master
    {
      table = 1;  // RACE(a)
      reach(1);
    }
    if (omp_get_thread_num() == 1) {
      await(1);
      total = table;  // RACE(a)
    }
  }
  printf("%d\n", total >= 0);
}
