// OpenMP: sections of different names exclude nobody.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

#include "harness.h"

int total;

int main() {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
#pragma omp critical(first)
      total = total + 1;  // RACE(a)
      reach(1);
    } else {
      await(1);
#pragma omp critical(second)
      total = 5;  // RACE(a)
    }
  }
  printf("%d\n", total > 0);
}
