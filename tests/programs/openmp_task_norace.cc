// OpenMP: taskwait waits for the task.
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
      value = 1;
      reach(1);
    }
#pragma omp taskwait
    copy = value;
  }
}
