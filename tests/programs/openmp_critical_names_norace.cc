// OpenMP: ... and those of the same name do.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

#include "harness.h"

int total;

int main() {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
#pragma omp critical(first)
      total = total + 1;
      reach(1);
    } else {
      await(1);
#pragma omp critical(first)
      total = 5;
    }
  }
  printf("%d\n", total > 0);
}
