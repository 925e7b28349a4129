// OpenMP: tasks of a reduction, and another thread beside them.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

#include "harness.h"

int total;

int main() {
  int sum = 0;
#pragma omp parallel num_threads(2) reduction(task, + : sum)
  {
    if (omp_get_thread_num() == 0) {
#pragma omp task in_reduction(+ : sum)
      {
        sum += 1;
        total = 1;  // RACE(a)
        reach(1);
      }
#pragma omp taskwait
    } else {
      await(1);
      total = 2;  // RACE(a)
    }
  }
  printf("%d\n", sum);
}
