// OpenMP: one of two threads forgets the critical section.
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
#pragma omp critical
      value = 1;  // RACE(a)
      reach(1);
    } else {
      await(1);
      value = 2;  // RACE(a)
    }
  }
}
