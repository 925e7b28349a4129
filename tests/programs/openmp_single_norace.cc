// OpenMP: behind `single` everybody waits.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>

#include "harness.h"

int value, copies[2];

int main() {
#pragma omp parallel num_threads(2)
  {
#pragma omp single
    {
      value = 1;
      reach(1);
    }
    await(1);
    copies[omp_get_thread_num()] = value;
  }
}
