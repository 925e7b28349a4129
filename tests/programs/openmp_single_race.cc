// OpenMP: `single nowait` has no barrier behind it.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>

#include "harness.h"

int value, copies[2];

int main() {
#pragma omp parallel num_threads(2)
  {
#pragma omp single nowait
    {
      value = 1;  // RACE(a)
      reach(1);
    }
    await(1);
    copies[omp_get_thread_num()] = value;  // RACE(a)
  }
}
