// OpenMP: sections with nowait: nobody waits for them.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

#include "harness.h"

int value, copy;

int main() {
#pragma omp parallel num_threads(2)
  {
#pragma omp sections nowait
    {
#pragma omp section
      {
        value = 1;  // RACE(a)
        reach(1 + omp_get_thread_num());
      }
    }
    await(1);
    if (__atomic_load_n(&steps_done, __ATOMIC_RELAXED) != 1 + omp_get_thread_num()) copy = value;  // RACE(a)
  }
  printf("%d\n", copy >= 0);
}
