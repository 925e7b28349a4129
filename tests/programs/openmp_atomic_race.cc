// OpenMP: one thread is atomic, the other is not.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// NEEDS: gcc
#include <omp.h>
#include <stdio.h>

#include "harness.h"

int total;

int main() {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
#pragma omp atomic  // RACE(a)
      total += 1;
      reach(1);
    } else {
      await(1);
      total = 5;  // RACE(a)
    }
  }
  printf("%d\n", total >= 0);
}
