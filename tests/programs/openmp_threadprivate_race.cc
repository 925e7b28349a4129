// OpenMP: a thread looks at what another one has for itself.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

#include "harness.h"

static int own;
#pragma omp threadprivate(own)
int *place, total;

int main() {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
      place = &own;
#pragma omp barrier
      own = 1;  // RACE(a)
      reach(1);
    } else {
#pragma omp barrier
      await(1);
      total = *place;  // RACE(a)
    }
  }
  printf("%d\n", total >= 0);
}
