// OpenMP: two tasks that take part in a reduction at the same time, and write another variable as well.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// LEVELS: 1
#include <omp.h>
#include <stdio.h>

#include "harness.h"

int sum, other;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp taskgroup task_reduction(+ : sum)
    {
      for (int i = 0; i < 2; ++i) {
#pragma omp task in_reduction(+ : sum)
        {
          reach_one_more();
          await(2);
          sum += 2;
          other = 1;  // RACE(a)
        }
      }
    }
  }
  printf("%d\n", sum);
}
