// OpenMP: nobody waits for the task before its result is used.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>

#include "harness.h"

int value, copy;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task
    {
      value = 1;  // RACE(a)
      reach(1);
    }
    await(1);
    copy = value;  // RACE(a)
  }
}
