// OpenMP: one of two updates is not atomic.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// NEEDS: gcc
#include <omp.h>

#include "harness.h"

int value;

int main() {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
#pragma omp atomic  // RACE(a)
      value += 1;
      reach(1);
    } else {
      await(1);
      value += 1;  // RACE(a)
    }
  }
}
