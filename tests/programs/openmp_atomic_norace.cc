// OpenMP: both updates are atomic.
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
#pragma omp atomic
      value += 1;
      reach(1);
    } else {
      await(1);
#pragma omp atomic
      value += 1;
    }
  }
}
